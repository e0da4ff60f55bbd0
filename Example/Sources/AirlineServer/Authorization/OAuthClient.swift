/// A client of the authorization server (RFC 6749 §2).
public struct OAuthClient: Sendable, Hashable {
    /// The client's identifier.
    public let id: String

    /// The client's password; `nil` for a public client, which can't keep a
    /// secret.
    public let secret: String?

    /// Creates a client: a confidential one with a secret, a public one
    /// without.
    public init(id: String, secret: String? = nil) {
        self.id = id
        self.secret = secret
    }

    /// `atom-example` with the secret `example-secret`.
    public static let confidentialExample = OAuthClient(id: "atom-example", secret: "example-secret")

    /// `atom-app`, which has no secret.
    public static let publicExample = OAuthClient(id: "atom-app")
}
