/// The lifetimes and the rotation of tokens.
public struct TokenPolicy: Sendable {
    /// The lifetime of an access token in seconds; fractions are allowed.
    public var accessTokenLifetime: Double = 3600

    /// The number of seconds in which a used refresh token is accepted again,
    /// for example after a lost response, until its successor has been used.
    public var gracePeriod: Double = 0

    /// How long each response of the token endpoint takes.
    public var delayMilliseconds = 0

    /// A policy with default values.
    public init() {}
}

/// A client of the authorization server (RFC 6749 §2).
public struct OAuthClient: Sendable, Hashable {
    /// The client's identifier.
    public let id: String

    /// The client's password; `nil` for a public client, which can't keep a secret.
    public let secret: String?

    /// `atom-example` with the secret `example-secret`.
    public static let confidentialExample = OAuthClient(id: "atom-example", secret: "example-secret")

    /// `atom-app`, which has no secret.
    public static let publicExample = OAuthClient(id: "atom-app", secret: nil)

    /// The clients that may request tokens.
    static let all = [confidentialExample, publicExample]
}

/// What happens to downloads.
public struct TransferFaults: Sendable, Codable {
    /// The byte of the file at which the next download that reaches it is cut.
    public var cutDownloadAt: Int?

    /// How fast files are sent; `nil` for no limit.
    public var bytesPerSecond: Int?
}
