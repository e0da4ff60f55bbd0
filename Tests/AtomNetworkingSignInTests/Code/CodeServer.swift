import AtomNetworking
import AtomNetworkingTesting
import Foundation

@testable import AtomNetworkingSignIn

/// An authorization server that issues codes, and takes each once, with the verifier of its request (RFC 7636 §4.6).
final class CodeServer: Sendable {
    /// What a code was issued for.
    private struct Grant {
        let challenge: String
        let redirectURI: String
        let nonce: String?
    }

    static let issuer = "https://auth.example.com"
    static let redirectURI = "com.example.app:/callback"

    let wire = ScriptedTransport()
    private let grants = Guarded<[String: Grant]>([:])
    private let changeOfClaims = Guarded<@Sendable (inout [String: Any]) -> Void>({ _ in })

    init() {
        wire.on(.post, "/token", host: "auth.example.com") { [weak self] in self?.token(for: $0) ?? .status(500) }
    }

    /// Changes what the ID tokens say.
    func changeClaims(_ change: @escaping @Sendable (inout [String: Any]) -> Void) {
        changeOfClaims.withLock { $0 = change }
    }

    func client(
        secret: String? = nil, scopes: [String] = ["openid", "email"],
        _ change: (inout AuthorizationServer) -> Void = { _ in }
    ) throws -> OAuthClient {
        var server = try AuthorizationServer(
            issuer: Self.issuer, authorizationEndpoint: Self.issuer + "/authorize",
            tokenEndpoint: Self.issuer + "/token")
        change(&server)
        var client = OAuthClient(server: server, id: "app", secret: secret, scopes: scopes)
        wire.install(in: &client.configuration)
        return client
    }

    /// The person signs in on the page: the callback.
    func approve(_ request: AuthorizationCodeRequest) throws -> URL {
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        let sent = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        let code = "aCode-\(UUID().uuidString)"
        grants.withLock {
            $0[code] = Grant(
                challenge: sent["code_challenge"] ?? "", redirectURI: sent["redirect_uri"] ?? "", nonce: sent["nonce"])
        }
        return try Self.callback(["code": code, "state": sent["state"] ?? ""], to: request.redirectURI)
    }

    static func callback(_ items: [QueryItem], to redirectURI: String = redirectURI) throws -> URL {
        guard let url = URL(string: redirectURI + "?" + PercentEncoding.query(items)) else { throw URLError(.badURL) }
        return url
    }

    private func token(for request: RecordedRequest) -> ScriptedResponse {
        let grant = request.form("code").flatMap { code in grants.withLock { $0.removeValue(forKey: code) } }
        let digest = SHA256.digest(Array((request.form("code_verifier") ?? "").utf8))
        guard let grant, request.form("grant_type") == "authorization_code",
            grant.challenge == Base64URL.encode(digest), grant.redirectURI == request.form("redirect_uri")
        else {
            // As a careless server does, it repeats what it was sent.
            let text = "wrong: \(request.form("code") ?? "") \(request.form("code_verifier") ?? "")"
            return .json(text: #"{"error": "invalid_grant", "error_description": "\#(text)"}"#, status: 400)
        }
        var members: [String: Any] = [
            "access_token": "an-access-token", "token_type": "bearer", "expires_in": 3_600,
            "refresh_token": "a-refresh-token",
        ]
        members["id_token"] = idToken(nonce: grant.nonce)
        return .data((try? JSONSerialization.data(withJSONObject: members)) ?? Data())
    }

    private func idToken(nonce: String?) -> String {
        let now = wire.clock.date.timeIntervalSince1970
        var claims: [String: Any] = [
            "iss": Self.issuer, "sub": "ann", "aud": "app", "exp": now + 300, "iat": now, "email": "ann@example.com",
        ]
        claims["nonce"] = nonce
        changeOfClaims.withLock { $0 }(&claims)
        return Self.idToken(claims)
    }

    /// A token without a signature.
    static func idToken(_ claims: [String: Any]) -> String {
        let json = (try? JSONSerialization.data(withJSONObject: claims)) ?? Data()
        return "\(Base64URL.encode(#"{"alg":"none"}"#.utf8)).\(Base64URL.encode(json))."
    }
}

/// Those of the secrets that an error shows anywhere.
func secretsShown(by error: any Error, of secrets: [String]) -> [String] {
    var dumped = ""
    dump(error, to: &dumped)
    var shown = [
        "\(error)", String(reflecting: error), error.localizedDescription, dumped, "\((error as NSError).userInfo)",
    ]
    if let error = (error as? AtomError)?.signInError { shown += ["\(error)", error.localizedDescription] }
    return secrets.filter { secret in shown.contains { $0.contains(secret) } }
}
