/// A call that waits for the session as a request does, and is sent by the app itself.
final class AuthorizationRequest: SessionWaiter, DeadlineBearer, @unchecked Sendable {
    // The deadline queue and the session use these, each under its own lock, as those of an `Exchange`.
    @exclusivity(unchecked) var deadlinePlace = DeadlinePlace()
    @exclusivity(unchecked) var ticket: SessionTicket?

    private let manager: RequestableQueueManager
    private let session: SessionActor
    private let deadline: MonotonicInstant
    private let outcome = FirstValue<Result<Pass, AtomError>>()

    /// - Parameter tenure: Whose it is, after a 401; `nil` for whoever is signed in.
    init(_ manager: RequestableQueueManager, _ session: SessionActor, of tenure: Tenure?, timeouts: RequestTimeouts) {
        self.manager = manager
        self.session = session
        deadline = manager.time.now.advanced(byNanoseconds: timeouts.totalNanoseconds)
        // An app's variable is another person's when the app says so; what is stored is most often the same one's.
        ticket = tenure.map { SessionTicket(tenure: $0, isBound: session.keeper.store == nil) }
    }

    /// Asks the session, or joins its queue, before it returns; called once.
    ///
    /// - Parameter isAnew: Whether it was answered by a 401.
    func ask(anew isAnew: Bool = false) {
        if let pass = session.gate.admit(self, anew: isAnew) { return settle(.success(pass)) }
        if session.ask(for: self, until: deadline, anew: isAnew) { return released() }
        // It may have been told by now, and must not stay in the queue.
        if outcome.isSettled {
            session.left(self)
            return
        }
        let now = manager.time.now
        if now < deadline { manager.deadlines.set(deadline, for: self, number: 1) } else { deadlinePassed(at: now) }
    }

    /// Waits for the pass; called once.
    func pass() async throws(AtomError) -> Pass {
        let result = await outcome.value(ifCancelled: .failure(.cancelled(.notSent)))
        session.left(self)
        manager.deadlines.remove(self, number: 2)
        return try result.get()
    }

    func released() {
        let pass = session.gate.pass(for: self)
        // Its token may have died since.
        if pass.authorization == nil { ask() } else { settle(.success(pass)) }
    }

    func refused(_ error: AuthenticationError) {
        session.notices.hold()
        settle(.failure(.authentication(error)))
        session.notices.release()
    }

    func deadlinePassed(at now: MonotonicInstant) {
        if session.left(self) { settle(.failure(manager.waitedTooLong(.notSent))) }
    }

    private func settle(_ result: Result<Pass, AtomError>) { outcome.settle(result) }

    var service: any RefreshService { manager }
    var refreshMeans: RefreshMeans { manager.refreshMeans }
}
