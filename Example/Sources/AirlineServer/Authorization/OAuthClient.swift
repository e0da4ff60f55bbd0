/// An application that is known to the authorization server (RFC 6749 §2).
public struct OAuthClient: Sendable, Hashable {
    /// The client's identifier.
    public let id: String

    /// The client's password; `nil` for a public client, which can't keep one.
    public let secret: String?

    /// A client with a secret is confidential, one without is public.
    public init(id: String, secret: String? = nil) {
        self.id = id
        self.secret = secret
    }

    /// `atom-example` with the secret `example-secret`.
    public static let confidentialExample = OAuthClient(id: "atom-example", secret: "example-secret")

    /// `atom-app`, which has no secret.
    public static let publicExample = OAuthClient(id: "atom-app")
}
