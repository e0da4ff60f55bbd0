/// Hears that whoever was signed in has signed out, or that somebody has signed in: a member of the session, as a
/// stream is while it is open.
final class SignOutWatch: SessionWaiter, @unchecked Sendable {
    // Only the session uses it, under its lock.
    var ticket: SessionTicket?

    let manager: RequestableQueueManager
    private let gate: SessionGate
    private let personHasGone = Guarded<(@Sendable (Tenure) -> Void)?>(nil)

    init(_ gate: SessionGate, of manager: RequestableQueueManager) {
        self.gate = gate
        self.manager = manager
    }

    var refreshMeans: RefreshMeans { manager.refreshMeans }
    var service: any RefreshService { manager }

    /// - Parameter personHasGone: Called outside of all locks, with the tenure of now.
    func begin(_ personHasGone: @escaping @Sendable (Tenure) -> Void) {
        self.personHasGone.withLock { $0 = personHasGone }
        enter()
    }

    func end() {
        personHasGone.withLock { $0 = nil }
        gate.leaves(self)
    }

    private func enter() {
        gate.watches(self)
        // It may have ended before.
        if personHasGone.withLock({ $0 == nil }) { gate.leaves(self) }
    }

    func released() {}

    func refused(_ error: AuthenticationError) {
        let tenure = gate.tenure
        personHasGone.withLock { $0 }?(tenure)
        enter()
    }
}
