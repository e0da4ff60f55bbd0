/// The lifetimes and the rotation of tokens.
public struct TokenPolicy: Sendable, Codable, Hashable {
    /// The lifetime of an access token in seconds; fractions are allowed.
    public var accessTokenLifetime: Double = 3600

    /// The lifetime of a refresh token in seconds; `nil` for unlimited.
    public var refreshTokenLifetime: Double?

    /// The number of seconds in which a used refresh token is accepted again,
    /// for example after a lost response.
    ///
    /// It returns the same successor, until that has been used. 0 disables
    /// this.
    public var gracePeriod: Double = 0

    /// Whether a refresh replaces the refresh token.
    ///
    /// If not, the response to a refresh leaves it out, and the old one stays
    /// valid (RFC 6749 §6).
    public var rotatesRefreshTokens = true

    /// Whether a refresh revokes the access tokens issued before it.
    public var refreshRevokesAccessTokens = false

    /// The format of the expiry in a response.
    public var expiryStyle = ExpiryStyle.number

    /// The number of seconds by which the `Date` header and `expires_at` are
    /// ahead of the machine's clock; negative for behind.
    public var dateOffset: Double = 0

    /// A policy with default values.
    public init() {}

    /// The format of the expiry in a response of the token endpoint.
    public enum ExpiryStyle: String, Sendable, Codable, CaseIterable {
        /// `"expires_in": 3600`, as in RFC 6749 §5.1.
        case number
        /// `"expires_in": "3600"`, as in some servers.
        case string
        /// `"expires_at": 1790000000`, Unix seconds.
        case unixTime
        /// Without expiry.
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
