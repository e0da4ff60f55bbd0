import AtomNetworkingTesting

/// A client of the authorization server (RFC 6749 §2).
public struct RegisteredClient: Sendable, Hashable {
    /// The client's identifier.
    public let id: String

    /// The client's password; `nil` for a public client, which can't keep a secret.
    public let secret: String?

    /// `atom-example` with the secret `example-secret`.
    public static let confidentialExample = RegisteredClient(id: "atom-example", secret: "example-secret")

    /// `atom-app`, which has no secret, and signs users in on the server's page.
    public static let publicExample = RegisteredClient(id: "atom-app", secret: nil)

    /// The clients that may request tokens.
    static let all = [confidentialExample, publicExample]

    /// Whether a browser may be sent there: to the app, or to any port of this device (RFC 8252 §7.1, §7.3).
    func accepts(redirectURI: String) -> Bool {
        guard self == .publicExample else { return false }
        return redirectURI == "com.example.airline:/signed-in"
            || ["http://127.0.0.1:", "http://[::1]:"].contains { address in
                guard redirectURI.hasPrefix(address), redirectURI.hasSuffix("/callback") else { return false }
                let port = redirectURI.dropFirst(address.count).dropLast("/callback".count)
                return UInt16(port).map { $0 > 0 && String($0) == port } ?? false
            }
    }
}

extension RegisteredClient {
    /// Identifies and authenticates the client of a request (RFC 6749 §2.3.1).
    init(of request: LoopbackServer.Request) throws(OAuthRefusal) {
        // Both parts are form-encoded before they are joined.
        let basic = request.basicCredential.map { ($0.name.removingPercentEncoding, $0.secret.removingPercentEncoding) }
        let (id, secret) = basic ?? (request.form("client_id"), request.form("client_secret"))
        guard let client = Self.all.first(where: { $0.id == id && ($0.secret ?? "") == secret ?? "" })
        else { throw OAuthRefusal("invalid_client", "The client is unknown or its secret is wrong.") }
        self = client
    }
}
