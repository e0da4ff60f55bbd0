/// The differences between a request of the app, a refresh and a revocation.
struct ExchangePolicy: Sendable, Equatable {
    /// Whether it waits for a slot of its origin.
    var takesSlot: Bool
    /// Whether it sends cookies, and stores those of the response.
    var usesCookies: Bool
    /// Whether it needs a connection that has not been used.
    var needsFreshConnection: Bool
    /// Whether a ``RetryPolicy`` applies.
    var retries: Bool
    /// Whether what comes after its deadline is taken, once it has been sent: then the caller hears that it is overdue.
    var outlivesDeadline = false
    /// How many redirects are followed; `nil` for none, without an error.
    var redirectLimit: Int?
    /// The largest body that is collected in memory, in bytes.
    var maximumBodySize: Int

    /// A request to revoke a token, sent once.
    ///
    /// Requests that never end may use all connections but its own.
    static let revocation = ExchangePolicy(
        takesSlot: false, usesCookies: false, needsFreshConnection: true, retries: false, redirectLimit: nil,
        maximumBodySize: TokenRequest.maximumAnswerSize)

    /// A request for a token, sent once: when a refresh is tried again is the session's decision.
    ///
    /// The answer holds the successor of a refresh token that may be spent, so it is never thrown away.
    static let token = {
        var policy = revocation
        policy.outlivesDeadline = true
        return policy
    }()
}
