/// The configuration of an ``AirlineServer``.
public struct ServerConfiguration: Sendable {
    /// The port to listen on; 0 chooses a free one.
    public var port: UInt16 = 0

    /// The clients that may request tokens.
    public var clients: [OAuthClient] = [.confidentialExample, .publicExample]

    /// Passwords by user name.
    public var users: [String: String] = ["ada": "lovelace", "grace": "hopper"]

    /// The lifetimes and the rotation of tokens.
    public var policy = TokenPolicy()

    /// The largest request body that is read; a larger one gets a 413.
    ///
    /// The server keeps what it has received until it stops.
    public var bodyLimit: Int64 = 100_000_000

    /// A configuration with default values.
    public init() {}
}

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

    /// The client's password; `nil` for a public client, which can't keep a
    /// secret.
    public let secret: String?

    /// `atom-example` with the secret `example-secret`.
    public static let confidentialExample = OAuthClient(id: "atom-example", secret: "example-secret")

    /// `atom-app`, which has no secret.
    public static let publicExample = OAuthClient(id: "atom-app", secret: nil)
}

/// What happens to downloads.
public struct TransferFaults: Sendable, Codable {
    /// The byte of the file at which the next download that reaches it is cut.
    public var cutDownloadAt: Int?

    /// How fast files are sent; `nil` for no limit.
    public var bytesPerSecond: Int?
}
