/// One session of bearer tokens: knows whether a refresh is needed or running,
/// and runs it.
///
/// Its state is a ``SessionMachine`` under a lock, so that a request with a good
/// token passes without suspending. The synchronous methods send events to the
/// machine from any thread. What suspends, a refresh for example, runs in tasks
/// of the session's own and reports back with more events. Under the lock
/// nothing is awaited, and neither the app nor a request is called.
///
/// All services that keep their tokens in the same object share one session. A
/// running refresh keeps it alive until the new tokens are stored.
actor SessionActor {
    /// The answer to a request that asks to be sent.
    enum Verdict {
        /// It is sent now.
        case go
        /// It waits: `released` or `refused` will be called, or was called
        /// already.
        case wait
    }

    nonisolated let guarded: GuardedMachine
    nonisolated let gate: SessionGate
    nonisolated let keeper: any SessionKeeper
    nonisolated let time: any TimeSource
    nonisolated let random: @Sendable () -> Double
    nonisolated let hub = SessionEventHub()
    nonisolated let notices = HeldNotices()

    /// The refresh that was started last.
    var refreshTask: Task<Void, Never>?
    /// The provider's call that was started last.
    var providerCall: Task<Result<TokenCredential, any Error>, Never>?

    init(
        keeper: any SessionKeeper, policy: RefreshPolicy, time: any TimeSource,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.keeper = keeper
        self.time = time
        self.random = random
        guarded = GuardedMachine(SessionMachine(policy: policy, needsLoading: keeper.needsLoading))
        gate = SessionGate(guarded, keeper: keeper, time: time)
    }

    deinit {
        guarded.invalidateAlarm()
    }
}

// MARK: - Events of requests

extension SessionActor {
    /// Asks the machine for a request that the gate has not let through.
    ///
    /// - Parameters:
    ///   - isAnew: As in ``SessionGate/admit(_:anew:)``.
    ///   - read: What the gate has read.
    nonisolated func ask(
        for waiter: any SessionWaiter, anew isAnew: Bool, read: (credential: TokenCredential, version: Int)?
    ) -> Verdict {
        var read = read
        while true {
            let now = moment
            let (admission, actions) = guarded.ask { machine in
                let place = waiter.sessionPlace
                let result = machine.asked(
                    waiter, by: waiter.refreshMeans, of: place?.generation, takeover: place?.takeoverCount,
                    ticket: isAnew ? nil : place?.ticket, read: read, deadline: waiter.totalDeadline, now: now)
                func keepPlace(_ ticket: Int, _ generation: Int, isWaiting: Bool) {
                    waiter.sessionPlace = SessionPlace(
                        ticket: ticket, generation: generation, takeoverCount: place?.takeoverCount,
                        isWaiting: isWaiting)
                }
                switch result.0 {
                case .go(let ticket, let generation): keepPlace(ticket, generation, isWaiting: false)
                case .wait(let ticket, let generation): keepPlace(ticket, generation, isWaiting: true)
                case .refuse where place == nil:
                    // It may wait for a network, and belongs to whoever is signed in now.
                    waiter.sessionPlace = SessionPlace(ticket: 0, generation: machine.generation, isWaiting: false)
                case .refuse, .readAgain: break
                }
                return result
            }
            if case .refuse(let error) = admission {
                // The request is told before the app is told that the session has ended.
                waiter.refused(error)
                perform(actions, for: waiter)
                return .wait
            }
            perform(actions, for: waiter)
            switch admission {
            case .go: return .go
            case .wait:
                refuseInProvider(waiter)
                return .wait
            case .refuse: return .wait
            case .readAgain: read = readCurrent()
            }
        }
    }

    /// Refuses a request of the provider itself, which would wait for the
    /// provider's own result.
    private nonisolated func refuseInProvider(_ waiter: any SessionWaiter) {
        guard isInProvider else { return }
        if left(waiter) { waiter.refused(.missingCredential(delivery: .notSent)) }
    }

    /// The server has answered a first attempt, signed with this version, with
    /// a 401.
    nonisolated func rejected(version: Int) {
        let now = moment
        guarded.with { $0.rejected(version: version, now: now) }
    }

    /// A waiter was cancelled, or its deadline has passed.
    ///
    /// - Returns: Whether it was still waiting.
    @discardableResult
    nonisolated func left(_ waiter: any SessionWaiter) -> Bool {
        guarded.with { machine in
            guard let place = waiter.sessionPlace, place.isWaiting else { return false }
            waiter.sessionPlace?.isWaiting = false
            machine.left(ticket: place.ticket)
            return true
        }
    }

    /// A request that this session has admitted pauses before it asks again, or
    /// its response is read as a stream.
    ///
    /// If the app signs in or out meanwhile, it is refused.
    ///
    /// - Returns: Whether that has not happened already.
    nonisolated func pauses(_ waiter: any SessionWaiter) -> Bool { guarded.pauses(waiter) }

    /// A request does not pause any more, or nobody reads its stream.
    nonisolated func pauseEnded(_ waiter: any SessionWaiter) { guarded.pauseEnded(waiter) }

    /// Whose session it is; the app's variable is read for this.
    nonisolated var holder: SessionHolder {
        observe()
        return guarded.with { $0.holder }
    }

    /// Whose token this is; `nil` if it isn't the current one.
    nonisolated func holder(ofToken authorization: String?) -> SessionHolder? {
        guard let authorization else { return nil }
        return guarded.with { $0.held?.authorization == authorization ? $0.holder : nil }
    }

    /// Whether a response may still be read that was requested for this holder.
    ///
    /// What another process has stored is most often the same person's, so it
    /// counts only when something is sent. The app's variable is read for this.
    nonisolated func isStill(of holder: SessionHolder) -> Bool {
        let current = self.holder
        return current == holder || keeper.needsLoading && current.generation == holder.generation
    }

    /// Whether this is called by the provider, while the session waits for it.
    nonisolated var isInProvider: Bool { SessionOperation.ofProvider?.isRunning(for: self) ?? false }

    nonisolated func readCurrent() -> (credential: TokenCredential, version: Int)? { gate.readCurrent() }

    nonisolated var moment: Moment { Moment(instant: time.now, date: time.date) }
}
