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
        while true {
            let read = readCurrent()
            let now = moment
            let (admission, actions) = guarded.ask { machine in
                let result = machine.asked(
                    waiter, by: waiter.renewalMeans, of: waiter.sessionPlace?.generation,
                    ticket: isAnew ? nil : waiter.sessionPlace?.ticket,
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
            if !actions.actions.isEmpty { perform(actions, for: waiter) }
            switch admission {
            case .go: return .go
            case .wait, .refuse: return .wait
            case .readAgain: continue
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
