import AtomNetworking
import AtomNetworkingTesting
import Foundation

@testable import AtomNetworkingSignIn

/// The key of RFC 9449's examples, whose private part nobody has: each signature is the same.
struct FixedKey: DPoPKey {
    var publicKey = FixedKey.point
    var sign: @Sendable (Data) throws -> Data = { _ in Data(repeating: 7, count: 64) }

    func signature(for message: Data) throws -> Data { try sign(message) }

    static let point = Data(
        [4]
            + ["l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs", "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"].flatMap {
                Base64URL.decode($0) ?? []
            })
}

/// The parts of a proof.
struct SentProof {
    let header: String
    let claims: String
    let signature: [UInt8]

    struct Claims: Decodable {
        let jti: String
        let htu: String
        let ath: String?
        let nonce: String?
    }

    /// - Throws: If the field isn't three parts in base64url.
    init(_ field: String?) throws {
        let parts = try (field ?? "").split(separator: ".", omittingEmptySubsequences: false).map { part in
            guard let bytes = Base64URL.decode(part), !bytes.isEmpty else { throw CocoaError(.coderReadCorrupt) }
            return bytes
        }
        guard parts.count == 3 else { throw CocoaError(.coderReadCorrupt) }
        (header, claims) = (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
        signature = parts[2]
    }

    func read() throws -> Claims { try JSONDecoder().decode(Claims.self, from: Data(claims.utf8)) }
}

extension DPoP {
    /// The proof for a request.
    func proof(for request: SignableRequest) throws -> SentProof {
        var request = request
        try sign(&request)
        return try SentProof(request.headerFields["DPoP"])
    }
}

extension SignableRequest {
    /// A request in the moment of sending, at 1562262616.75 s, the time of RFC 9449's first example.
    static func sent(
        _ url: String, method: HTTPMethod = .get, authorization: String? = nil, body: RequestBody? = nil
    ) async throws -> SignableRequest {
        struct Catcher: RequestSigner {
            let caught = Guarded<SignableRequest?>(nil)

            func sign(_ request: inout SignableRequest) throws { caught.withLock { [request] in $0 = request } }
        }
        var endpoint = try URLEndpoint(
            url, method: method, headerItems: authorization.map { [HeaderItem(name: "Authorization", value: $0)] },
            body: body)
        endpoint.requiresAuthorization = false
        let (catcher, wire) = (Catcher(), ScriptedTransport([.status(204)]))
        wire.clock.setDate(Date(timeIntervalSince1970: 1_562_262_616.75))
        var configuration = ServiceConfiguration()
        configuration.signers = [catcher]
        wire.install(in: &configuration)
        try await Atom(serviceConfiguration: configuration).enqueue(endpoint).resume()
        guard let request = catcher.caught.withLock({ $0 }) else { throw CocoaError(.featureUnsupported) }
        return request
    }
}

extension AtomResponse {
    init(_ status: Int, from url: String, nonce: String? = nil, challenge: String? = nil, body: String = "") {
        var fields = HeaderFields()
        if let nonce { fields.append(name: "dpop-nonce", value: nonce) }
        if let challenge { fields.append(name: "WWW-Authenticate", value: challenge) }
        self.init(data: Data(body.utf8), statusCode: status, headerFields: fields, url: URL(string: url))
    }
}
