/// How the authorization server's tokens live and die.
public struct TokenPolicy: Sendable, Codable, Hashable {
    /// Seconds that an access token lives; fractions count.
    public var accessTokenLifetime: Double = 3600

    /// Seconds that a refresh token lives; `nil` is for ever.
    public var refreshTokenLifetime: Double?

    /// Seconds during which a refresh token that has been used may be used
    /// again, as after a lost answer, to get the same successor once more,
    /// until that has been used; 0 allows no repetition.
    public var gracePeriod: Double = 0

    /// Whether a refresh replaces the refresh token.
    ///
    /// If not, answers to a refresh leave it out, and the old one stays good
    /// (RFC 6749 §6).
    public var rotatesRefreshTokens = true

    /// Whether a refresh revokes the access tokens issued before it.
    public var refreshRevokesAccessTokens = false

    /// How an answer says when the access token expires.
    public var expiryStyle = ExpiryStyle.number

    /// Seconds by which the `Date` header and `expires_at` run ahead of the
    /// machine's clock; negative lets them lag.
    public var dateOffset: Double = 0

    /// A policy with every value at its default.
    public init() {}

    /// How an answer of the token endpoint says when the access token expires.
    public enum ExpiryStyle: String, Sendable, Codable, CaseIterable {
        /// `"expires_in": 3600`, as RFC 6749 §5.1 has it.
        case number
        /// `"expires_in": "3600"`, as some servers have it.
        case string
        /// `"expires_at": 1790000000`, Unix seconds.
        case unixTime
        /// Not at all.
        case omitted
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case accessTokenLifetime
        case refreshTokenLifetime
        case gracePeriod
        case rotatesRefreshTokens
        case refreshRevokesAccessTokens
        case expiryStyle
        case dateOffset
    }
}
