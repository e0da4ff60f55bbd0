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
    /// How many redirects are followed; `nil` for none, without an error.
    var redirectLimit: Int?
    /// The largest body that is collected in memory, in bytes.
    var maximumBodySize: Int

    /// A request for a token, or to revoke one, sent once.
    ///
    /// When a refresh is tried again is the session's decision. Requests that never end may use all connections but
    /// its own.
    static let token = ExchangePolicy(
        takesSlot: false, usesCookies: false, needsFreshConnection: true, retries: false, redirectLimit: nil,
        maximumBodySize: TokenRequest.maximumAnswerSize)
}
