import AtomNetworking

/// A sign-in on another device that has begun (RFC 8628 §3.2).
struct DeviceSignIn: Sendable {
    static let lifetime: Duration = .seconds(600)

    let clientID: String
    let scopes: [String]
    let expiresAt: MonotonicInstant
    /// What the person has decided.
    var isApproved: Bool?
    private(set) var interval: Duration = .seconds(5)
    private var nextPoll: MonotonicInstant?

    init(clientID: String, scopes: [String], at now: MonotonicInstant) {
        (self.clientID, self.scopes) = (clientID, scopes)
        expiresAt = now.advanced(by: Self.lifetime)
    }

    /// Returns when the person has approved (RFC 8628 §3.5).
    mutating func poll(at now: MonotonicInstant) throws(OAuthRefusal) {
        guard now < expiresAt else { throw OAuthRefusal("expired_token") }
        let isEarly = nextPoll.map { now < $0 } ?? false
        if isEarly { interval += .seconds(5) }
        nextPoll = now.advanced(by: interval)
        guard !isEarly else { throw OAuthRefusal("slow_down") }
        switch isApproved {
        case true?: return
        case false?: throw OAuthRefusal("access_denied")
        case nil: throw OAuthRefusal("authorization_pending")
        }
    }
}
