/// The server's counts since its start or since the counters were reset.
///
/// The client's own counts may differ.
public struct Counters: Sendable, Codable, Hashable {
    /// All requests.
    public internal(set) var requests = 0
    /// The maximum number of concurrent requests.
    public internal(set) var peakConcurrentRequests = 0

    /// All calls of the token endpoint.
    public internal(set) var tokenRequests = 0
    /// The maximum number of concurrent calls of the token endpoint.
    public internal(set) var peakConcurrentTokenRequests = 0
    /// Sessions started with the password or the client credentials grant.
    public internal(set) var signIns = 0
    /// Refresh tokens accepted for the first time.
    public internal(set) var refreshes = 0
    /// Refresh tokens accepted again within the grace period.
    public internal(set) var repeatedRefreshes = 0
    /// Access tokens issued.
    public internal(set) var tokensIssued = 0
    /// Used refresh tokens that were sent again too late; each revoked its
    /// family.
    public internal(set) var reuseDetected = 0
    /// Families revoked, for any reason.
    public internal(set) var familiesRevoked = 0
    /// Calls of the token endpoint answered with an OAuth error.
    public internal(set) var tokenRequestsRefused = 0
    /// Calls of the token endpoint answered with 503.
    public internal(set) var tokenRequestsUnavailable = 0
    /// Calls of the token endpoint that were processed, and whose responses
    /// were lost on purpose.
    public internal(set) var answersLost = 0
    /// Calls of the token endpoint that carried a bearer token unnecessarily.
    public internal(set) var bearerTokensAtTokenEndpoint = 0

    /// Requests for a protected resource with a valid token.
    public internal(set) var apiRequestsAccepted = 0
    /// Requests for a protected resource without a token.
    public internal(set) var apiRequestsUnsigned = 0
    /// Requests for a protected resource whose token had expired.
    public internal(set) var apiRequestsWithExpiredToken = 0
    /// Requests for a protected resource whose token had been revoked.
    public internal(set) var apiRequestsWithRevokedToken = 0
    /// Requests for a protected resource whose token was never issued here.
    public internal(set) var apiRequestsWithUnknownToken = 0
    /// Requests with an expired or a revoked token.
    public internal(set) var apiRequestsWithDeadToken = 0
    /// Requests with an invalid token that had already got a 401.
    public internal(set) var apiRequestsWithRejectedToken = 0
    /// Requests with a token, valid or not, that a refresh had replaced.
    public internal(set) var apiRequestsWithSupersededToken = 0

    /// All counters at zero.
    public init() {}
}
