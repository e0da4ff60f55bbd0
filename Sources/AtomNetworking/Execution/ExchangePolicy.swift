/// What differs between a request of the app's, a refresh and a revocation.
struct ExchangePolicy: Sendable, Equatable {
    /// Whether it waits for a slot of its origin.
    var takesSlot: Bool
    /// Whether it carries cookies and keeps those that an answer sets.
    var usesCookies: Bool
    /// Whether it must not go over a connection that has been used.
    var needsFreshConnection: Bool
    /// What happens when the server redirects.
    var redirects: RedirectPolicy
    /// The largest body that is collected in memory, in bytes.
    var maximumBodySize: Int

    /// A request for a token: past every queue, to the token endpoint and
    /// nowhere else.
    static let token = ExchangePolicy(
        takesSlot: false, usesCookies: false, needsFreshConnection: true, redirects: .doNotFollow,
        maximumBodySize: TokenRequest.maximumAnswerSize)

    /// A request to revoke a token. It needs a connection of its own for one
    /// reason: requests that never end may hold all others.
    static let revocation = token
}
