/// The lifetimes and the rotation of tokens.
public struct TokenPolicy: Sendable {
    /// The lifetime of an access token in seconds; fractions are allowed.
    public var accessTokenLifetime: Double = 3600

    /// The number of seconds in which a used refresh token is accepted again,
    /// for example after a lost response, until its successor has been used.
    public var gracePeriod: Double = 0

    /// How long each response of the token endpoint takes.
    public var delayMilliseconds = 0

    /// How many seconds a device has to wait between two questions for its tokens (RFC 8628 §3.2).
    public var deviceInterval = 5

    /// A policy with default values.
    public init() {}
}

/// What happens to downloads.
public struct TransferFaults: Sendable, Codable {
    /// The byte of the file at which the next download that reaches it is cut.
    public var cutDownloadAt: Int?

    /// How fast files are sent; `nil` for no limit.
    public var bytesPerSecond: Int?
}
