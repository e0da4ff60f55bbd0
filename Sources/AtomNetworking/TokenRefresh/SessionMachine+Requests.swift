extension SessionMachine {
    /// A request asks to be sent, for the first time or again.
    ///
    /// - Parameters:
    ///   - waiter: Who asks.
    ///   - generation: The generation in which it was admitted before, if it
    ///     was.
    ///   - ticket: The ticket that it got then, if it has not been sent since:
    ///     it goes before those who came later.
    ///   - read: What the store holds, if it was read, and the version before
    ///     it was read.
    ///   - deadline: When the request's own time is up.
    mutating func asked(
        _ waiter: Waiter, of generation: Int? = nil, ticket: Int? = nil,
        read: (credential: TokenCredential, version: Int)? = nil,
        deadline: MonotonicInstant, now: Moment
    ) -> (Admission, [Action]) {
        var actions: [Action] = []
        if let read {
            guard read.version == version else { return (.readAgain, []) }
            actions = observed(read.credential, now: now)
        }
        if let generation, generation != self.generation {
            return (.refuse(.signedOut(delivery: .notSent)), actions)
        }
        switch phase {
        case .loading:
            return (enqueue(waiter, ticket: ticket), actions + startLoading())
        case .active:
            if waiters.isEmpty, !isReleasing {
                if isGood(at: now.instant) { return (go(ticket), actions) }
                return refreshWanted(by: waiter, ticket: ticket, deadline: deadline, now: now, after: actions)
            }
            return (enqueue(waiter, ticket: ticket), actions)
        case .refreshing, .storing:
            return (enqueue(waiter, ticket: ticket), actions)
        case .backingOff:
            return refreshWanted(by: waiter, ticket: ticket, deadline: deadline, now: now, after: actions)
        case .ended(let error):
            guard isLoaded else { return (.refuse(error), actions) }
            // Somebody may have signed in again in another process.
            phase = .loading(unlessChanged: error)
            isEndNews = false
            return (enqueue(waiter, ticket: ticket), actions + startLoading())
        case .signedOut:
            if isLoaded {
                phase = .loading(unlessChanged: nil)
                return (enqueue(waiter, ticket: ticket), actions + startLoading())
            }
            guard policy.acquires else { return (.refuse(.missingCredential(delivery: .notSent)), actions) }
            return refreshWanted(by: waiter, ticket: ticket, deadline: deadline, now: now, after: actions)
        }
    }

    /// Reads the store, unless that is being done.
    mutating func startLoading() -> [Action] {
        guard runningLoad == nil else { return [] }
        lastLoadNumber += 1
        runningLoad = lastLoadNumber
        return [.load(number: lastLoadNumber)]
    }

    /// A request is about to start.
    ///
    /// The leeway doesn't matter any more: what is still good is sent.
    func signature(of generation: Int, at instant: MonotonicInstant) -> Signature {
        guard generation == self.generation else { return .outdated }
        switch phase {
        case .active, .refreshing, .storing:
            // In place: a copy of all that is held costs more than the answer.
            guard held?.isUsable(at: instant) == true, !isStoring, let value = held?.authorization else {
                return .none
            }
            return .authorization(value, version: version)
        case .loading, .backingOff, .ended, .signedOut:
            return .none
        }
    }

    /// The server answered something other than 401 to a request signed with
    /// this version.
    mutating func accepted(version signed: Int) {
        guard signed >= firstVersion, held?.isProven == false else { return }
        held?.isProven = true
    }

    /// The server answered 401 to a first attempt signed with this version.
    ///
    /// The request asks to be sent again right after.
    mutating func rejected(version signed: Int, now: Moment) {
        guard signed >= firstVersion, held?.isRejected == false else { return }
        held?.isRejected = true
        countIfFruitless(at: now.instant)
    }

    /// A waiter has gone: cancelled, or out of time.
    mutating func left(ticket: Int) {
        _ = waiters.remove(ticket)
    }

    /// Whoever releases asks for the next waiter to start.
    mutating func nextReleased(now: Moment) -> (Waiter?, [Action]) {
        guard isReleasing else { return (nil, []) }
        guard case .active = phase, isGood(at: now.instant) else {
            isReleasing = false
            return (nil, proceed(now: now))
        }
        guard let waiter = waiters.dequeue() else {
            isReleasing = false
            return (nil, [])
        }
        return (waiter, [])
    }

    mutating func enqueue(_ waiter: Waiter, ticket: Int?) -> Admission {
        let ticket = ticket ?? waiters.issueTicket()
        waiters.enqueue(waiter, ticket: ticket)
        return .wait(ticket: ticket, generation: generation)
    }

    private mutating func go(_ ticket: Int?) -> Admission {
        .go(ticket: ticket ?? waiters.issueTicket(), generation: generation)
    }

    var isStoring: Bool { if case .storing = phase { true } else { false } }

    func isGood(at instant: MonotonicInstant) -> Bool { held?.isGood(at: instant) ?? false }
}
