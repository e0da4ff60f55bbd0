import AtomNetworking

/// What a server knows of the proofs that it gets (RFC 9449 §4.3).
struct ProofLedger: Sendable {
    enum Problem: Error {
        case invalid(String)
        /// The proof must have this nonce (§8, §9).
        case needsNonce(String)
    }

    private struct Header: Decodable {
        struct Key: Decodable { let kty: String, crv: String, x: String, y: String, d: String? }
        let typ: String, alg: String
        let jwk: Key
    }

    private struct Claims: Decodable {
        let jti: String, htm: String, htu: String
        let iat: Double
        let nonce: String?, ath: String?
    }

    /// What each proof must have; `nil` for nothing.
    var nonce: String?
    private var seen: Set<String> = []

    init(nonce: String? = nil) {
        self.nonce = nonce
    }

    /// Checks the proof of a request, all but its signature.
    ///
    /// - Parameter token: The access token that comes with it.
    /// - Returns: The thumbprint of its key (RFC 7638 §3).
    mutating func check(_ request: RecordedRequest, token: String? = nil) throws(Problem) -> String {
        let fields = request.headerFields.values(for: "DPoP")
        guard fields.count == 1 else { throw .invalid("\(fields.count) proofs") }
        guard let (header, claims) = JSONWebToken.parts(fields[0], Header.self, Claims.self) else {
            throw .invalid("the proof is no token")
        }
        let key = header.jwk
        guard header.typ == "dpop+jwt", header.alg == "ES256", key.kty == "EC", key.crv == "P-256", key.d == nil else {
            throw .invalid("typ, alg or jwk")
        }
        // Without query and fragment (§4.2).
        let address = request.target.absoluteString.prefix { $0 != "?" }
        guard claims.htm == request.method, claims.htu == address else { throw .invalid("htm or htu") }
        guard claims.ath == token.map(JSONWebToken.digest) else { throw .invalid("ath") }
        if let nonce, claims.nonce != nonce { throw .needsNonce(nonce) }
        guard seen.insert(claims.jti).inserted else { throw .invalid("jti comes again") }
        return JSONWebToken.digest(#"{"crv":"P-256","kty":"EC","x":"\#(key.x)","y":"\#(key.y)"}"#)
    }
}
