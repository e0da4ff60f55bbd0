import AtomNetworking
import Foundation

/// What a proof says of its request (RFC 9449 §4.2); members without a value are left out.
struct DPoPProof: Encodable {
    let jti: String
    let htm: String
    let htu: String
    let iat: Int64
    let ath: String?
    let nonce: String?

    init(of request: SignableRequest, identifier: String, nonce: String?) {
        jti = identifier
        htm = request.method
        // As the request line and `Host` have it: not every server normalizes what it compares (§4.3).
        htu = "\(request.target.scheme.rawValue)://\(request.host)\(request.target.path)"
        iat = Int64(exactly: request.date.timeIntervalSince1970.rounded(.down)) ?? 0
        ath = Self.token(in: request.headerFields["Authorization"]).map { Base64URL.encode(SHA256.digest($0)) }
        self.nonce = nonce
    }

    /// What is signed: header and claims (RFC 7515 §5.1).
    func message(_ key: JSONWebKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(key.json)}"#
        return Base64URL.encode(header.utf8) + "." + Base64URL.encode(try encoder.encode(self))
    }

    /// 128 random bits; the RFC asks for 96.
    @Sendable static func randomIdentifier() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// The bytes of an access token, whose scheme is in any case (RFC 9449 §7.1, RFC 9110 §11.1).
    private static func token(in authorization: String?) -> [UInt8]? {
        guard let authorization, let blank = authorization.firstIndex(of: " "),
            authorization[..<blank].lowercased() == "dpop"
        else { return nil }
        return Array(authorization[blank...].utf8.drop { $0 == UInt8(ascii: " ") })
    }
}
