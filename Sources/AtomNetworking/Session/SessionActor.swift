/// One session of bearer tokens: tracks whether a refresh is needed or
/// running, and runs it.
///
/// What is known lives in a ``SessionMachine`` under a lock, so that a request
/// with a good token passes without suspending. The synchronous methods feed
/// it events from any thread; the actor itself runs what suspends, the
/// refresh, and reports back with events of its own. Under the lock nothing is
/// awaited, no code of the app's runs and nobody is called back.
///
/// Everything that keeps its tokens in the same object shares one of these. A
/// running refresh keeps it alive until the new tokens are stored.
actor SessionActor {
    /// What becomes of a request.
    enum Verdict {
        /// It goes straight on.
        case go
        /// It waits: `released` or `refused` will be called, or have been.
        case wait
    }

    nonisolated let guarded: GuardedMachine
    nonisolated let keeper: any SessionKeeper
    nonisolated let time: any TimeSource
    nonisolated let random: @Sendable () -> Double
    nonisolated let hub = SessionEventHub()

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
    }

    deinit {
        guarded.invalidateAlarm()
    }
}

// MARK: - Events of requests

extension SessionActor {
    /// A request asks to be sent.
    ///
    /// - Parameter isAnew: Whether it has been sent, and answered by a 401 or a
    ///   redirect: it joins the queue anew. One that has only waited keeps its
    ///   place.
    nonisolated func admit(_ waiter: any SessionWaiter, anew isAnew: Bool) -> Verdict {
        let read = readCurrent()
        let now = time.now
        let goes = guarded.with { machine in
            let place = waiter.sessionPlace
            guard
                let (ticket, generation) = machine.goes(
                    by: waiter.renewalMeans, of: place?.generation, ticket: isAnew ? nil : place?.ticket,
                    read: read, at: now)
            else { return false }
            waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: false)
            return true
        }
        return goes ? .go : ask(for: waiter, anew: isAnew, read: read)
    }

    /// Asks the machine for a request that may have to wait.
    private nonisolated func ask(
        for waiter: any SessionWaiter, anew isAnew: Bool, read: (credential: TokenCredential, version: Int)?
    ) -> Verdict {
        var read = read
        while true {
            let now = moment
            let (admission, actions) = guarded.ask { machine in
                let place = waiter.sessionPlace
                let result = machine.asked(
                    waiter, by: waiter.renewalMeans, of: place?.generation, ticket: isAnew ? nil : place?.ticket,
                    read: read, deadline: waiter.totalDeadline, now: now)
                switch result.0 {
                case .go(let ticket, let generation):
                    waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: false)
                case .wait(let ticket, let generation):
                    waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: true)
                case .refuse, .readAgain: break
                }
                return result
            }
            if case .refuse(let error) = admission {
                // It hears before the app is told that its session has ended.
                waiter.refused(error)
                perform(actions, for: waiter)
                return .wait
            }
            perform(actions, for: waiter)
            switch admission {
            case .go: return .go
            case .wait, .refuse: return .wait
            case .readAgain: read = readCurrent()
            }
        }
    }

    /// What a request that is about to start is signed with.
    nonisolated func signature(for waiter: any SessionWaiter) -> SessionSignature {
        let now = time.now
        return guarded.with { machine in
            // Not with `??`: its closure would take a copy of the machine.
            guard let place = waiter.sessionPlace else { return machine.signature(of: machine.generation, at: now) }
            return machine.signature(of: place.generation, ticket: place.ticket, at: now)
        }
    }

    /// The server answered a request signed with this version.
    ///
    /// - Parameter isRejected: Whether it was a first attempt, answered 401.
    nonisolated func answered(version: Int, isRejected: Bool) {
        if isRejected {
            let now = moment
            guarded.with { $0.rejected(version: version, now: now) }
        } else {
            guarded.with { $0.accepted(version: version) }
        }
    }

    /// A waiter was cancelled, or its deadline passed.
    nonisolated func left(_ waiter: any SessionWaiter) {
        guarded.with { machine in
            guard let place = waiter.sessionPlace, place.isWaiting else { return }
            waiter.sessionPlace?.isWaiting = false
            machine.left(ticket: place.ticket)
        }
    }

    /// What the app's variable holds, and the version before it was read; `nil`
    /// for a store, which the session loads.
    nonisolated func readCurrent() -> (credential: TokenCredential, version: Int)? {
        guard !keeper.needsLoading else { return nil }
        let version = guarded.with { $0.version }
        return keeper.current.map { ($0, version) }
    }

    nonisolated var moment: Moment { Moment(instant: time.now, date: time.date) }
}
