extension SessionMachine {
    /// A request asks to be sent, for the first time or again.
    ///
    /// - Parameters:
    ///   - waiter: Who asks.
    ///   - means: How it would have another credential got.
    ///   - generation: The generation in which it was admitted before, if it
    ///     was.
    ///   - ticket: The ticket that it got then, if it has not been sent since:
    ///     it goes before those who came later.
    ///   - read: What the store holds, if it was read, and the version before
    ///     it was read.
    ///   - deadline: When the request's own time is up.
    mutating func asked(
        _ waiter: Waiter, by means: RenewalMeans, of generation: Int? = nil, ticket: Int? = nil,
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
        if let (ticket, generation) = goes(by: means, of: generation, ticket: ticket, at: now.instant) {
            return (.go(ticket: ticket, generation: generation), actions)
        }
        let request = Waiting(waiter: waiter, means: means, isNew: generation == nil)
        switch phase {
        case .loading:
            return (enqueue(request, ticket: ticket), actions + startLoading())
        case .active:
            if waiters.isEmpty, !isReleasing {
                return refreshWanted(by: request, ticket: ticket, deadline: deadline, now: now, after: actions)
            }
            return (enqueue(request, ticket: ticket), actions)
        case .refreshing, .storing:
            return (enqueue(request, ticket: ticket), actions)
        case .backingOff:
            return refreshWanted(by: request, ticket: ticket, deadline: deadline, now: now, after: actions)
        case .ended(let error):
            if means.acquires, !endedMeans.acquires {
                // What has ended is what can be had by a refresh token.
                return refreshWanted(by: request, ticket: ticket, deadline: deadline, now: now, after: actions)
            }
            guard needsLoading else { return (.refuse(error), actions) }
            // Somebody may have signed in again in another process.
            phase = .loading(end: PossibleEnd(error: error, isAnnounced: true))
            return (enqueue(request, ticket: ticket), actions + startLoading())
        case .signedOut:
            if needsLoading {
                phase = .loading(end: nil)
                return (enqueue(request, ticket: ticket), actions + startLoading())
            }
            guard means.acquires else { return (.refuse(.missingCredential(delivery: .notSent)), actions) }
            return refreshWanted(by: request, ticket: ticket, deadline: deadline, now: now, after: actions)
        }
    }

    /// A request asks to be sent, and finds a good token and nobody who came
    /// earlier, as nearly every request does.
    ///
    /// It costs a fraction of what `asked` costs, and needs no date. Inlined,
    /// because the call would copy the machine.
    ///
    /// - Returns: With what it goes straight on; `nil` when nothing has
    ///   happened yet and `asked` decides.
    @inline(__always)
    mutating func goes(
        by means: RenewalMeans, of generation: Int?, ticket: Int?,
        read: (credential: TokenCredential, version: Int)? = nil, at instant: MonotonicInstant
    ) -> (ticket: Int, generation: Int)? {
        guard case .active = phase, held?.isGood(at: instant, by: means) == true, isNext(ticket) else { return nil }
        if let generation, generation != self.generation { return nil }
        if let read { guard read.version == version, store.isUnchanged(read.credential) else { return nil } }
        return (ticket ?? waiters.issueTicket(), self.generation)
    }

    /// Whether nobody who came earlier than the ticket waits or is just being
    /// released.
    @inline(__always)
    private func isNext(_ ticket: Int?) -> Bool {
        if waiters.isEmpty, !isReleasing { return true }
        guard let ticket, waiters.firstTicket.map({ ticket < $0 }) ?? true else { return false }
        return !isReleasing || releasedTicket.map { ticket <= $0 } ?? true
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
    /// The leeway doesn't matter any more: what is still good is sent, unless
    /// somebody who came earlier waits. Inlined, because the call would copy
    /// the machine.
    @inline(__always)
    func signature(of generation: Int, ticket: Int? = nil, at instant: MonotonicInstant) -> Signature {
        guard generation == self.generation else { return .outdated }
        if let ticket, !waiters.isEmpty || isReleasing, !isNext(ticket) { return .none }
        switch phase {
        case .active, .refreshing:
            // In place: a copy of all that is held costs more than the answer.
            guard held?.isUsable(at: instant) == true, let value = held?.authorization else { return .none }
            return .authorization(value, version: tokenNumber)
        case .loading, .storing, .backingOff, .ended, .signedOut:
            return .none
        }
    }

    /// The server answered something other than 401 to a request signed with
    /// this access token.
    mutating func accepted(version signed: Int) {
        guard signed == tokenNumber, held?.isProven == false else { return }
        held?.isProven = true
    }

    /// The server answered 401 to a first attempt signed with this access
    /// token.
    ///
    /// The request asks to be sent again right after.
    mutating func rejected(version signed: Int, now: Moment) {
        guard signed == tokenNumber, held?.isRejected == false else { return }
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
        guard case .active = phase, let next = waiters.first, isGood(at: now.instant, by: next.means) else {
            isReleasing = false
            releasedTicket = nil
            return (nil, proceed(now: now))
        }
        releasedTicket = waiters.firstTicket
        _ = waiters.dequeue()
        return (next.waiter, [])
    }

    mutating func enqueue(_ request: Waiting, ticket: Int?) -> Admission {
        let ticket = ticket ?? waiters.issueTicket()
        waiters.enqueue(request, ticket: ticket)
        return .wait(ticket: ticket, generation: generation)
    }

    var isStoring: Bool { if case .storing = phase { true } else { false } }

    /// The number of the access token that is held; one that nothing was
    /// signed with when there is none.
    var tokenNumber: Int { held?.number ?? -1 }

    func isGood(at instant: MonotonicInstant, by means: RenewalMeans) -> Bool {
        held?.isGood(at: instant, by: means) ?? false
    }
}
