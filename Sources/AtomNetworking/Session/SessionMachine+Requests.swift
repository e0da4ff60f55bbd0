extension SessionMachine {
    /// A request asks to be sent, for the first time or again.
    ///
    /// - Parameters:
    ///   - waiter: The request.
    ///   - means: How its service gets another credential.
    ///   - generation: The generation in which it was admitted before, if it
    ///     was.
    ///   - takeover: For the reconnection of a stream: the count of takeovers
    ///     when the stream began. It is sent for nobody else, and nobody signs
    ///     in for it.
    ///   - ticket: The ticket that it got then, unless it has been sent since:
    ///     it keeps its place before later requests.
    ///   - read: What the app's variable holds, and the version before it was
    ///     read; `nil` for a store.
    ///   - deadline: When the request's own time is up.
    mutating func asked(
        _ waiter: Waiter, by means: RefreshMeans, of generation: Int? = nil, takeover: Int? = nil, ticket: Int? = nil,
        read: (credential: TokenCredential, version: Int)? = nil,
        deadline: MonotonicInstant, now: Moment
    ) -> (Admission, [Action]) {
        var actions: [Action] = []
        if let read {
            guard read.version == version else { return (.readAgain, []) }
            actions = observed(read.credential, now: now)
        }
        guard isCurrent(generation, takeover) else { return (.refuse(.signedOut(delivery: .notSent)), actions) }
        if let (ticket, generation) = admitAtOnce(by: means, of: generation, ticket: ticket, at: now.instant) {
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
            if takeover != nil { return (.refuse(error), actions) }
            if means.acquires, !endedMeans.acquires {
                // Only renewal with the refresh token has ended.
                return refreshWanted(by: request, ticket: ticket, deadline: deadline, now: now, after: actions)
            }
            guard needsLoading else { return (.refuse(error), actions) }
            // Another process may have signed in.
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

    /// Admits a request that finds a good token, no earlier request that waits,
    /// and the same credential as the one before: nearly every request.
    ///
    /// It costs a fraction of `asked`, and needs no date. Inlined, because a
    /// call would copy the machine.
    ///
    /// - Returns: `nil` when nothing has been changed and `asked` has to decide.
    @inline(__always)
    mutating func admitAtOnce(
        by means: RefreshMeans, of generation: Int?, takeover: Int? = nil, ticket: Int?,
        read: (credential: TokenCredential, version: Int)? = nil, at instant: MonotonicInstant
    ) -> (ticket: Int, generation: Int)? {
        guard case .active = phase, held?.isGood(at: instant, by: means) == true, isNext(ticket) else { return nil }
        guard isCurrent(generation, takeover) else { return nil }
        if let read { guard read.version == version, store.isUnchanged(read.credential) else { return nil } }
        return (ticket ?? waiters.issueTicket(), self.generation)
    }

    /// Whether a request of this generation and this count of takeovers may be
    /// sent; `nil` for any.
    @inline(__always)
    private func isCurrent(_ generation: Int?, _ takeover: Int?) -> Bool {
        if let generation, generation != self.generation { return false }
        if let takeover, takeover != takeoverCount { return false }
        return true
    }

    /// Whether no request with an earlier ticket waits or is being released.
    @inline(__always)
    private func isNext(_ ticket: Int?) -> Bool {
        if waiters.isEmpty, !isReleasing { return true }
        guard let ticket, waiters.firstTicket.map({ ticket < $0 }) ?? true else { return false }
        return !isReleasing || releasedTicket.map { ticket <= $0 } ?? true
    }

    /// Has the store read, unless a load is running.
    mutating func startLoading() -> [Action] {
        guard runningLoad == nil else { return [] }
        lastLoadNumber += 1
        runningLoad = lastLoadNumber
        return [.load(number: lastLoadNumber)]
    }

    /// A request is about to be sent.
    ///
    /// The leeway doesn't matter here: a token that is still valid is sent,
    /// unless an earlier request waits. Inlined, because a call would copy the
    /// machine.
    @inline(__always)
    func signature(
        of generation: Int, takeover: Int? = nil, ticket: Int? = nil, at instant: MonotonicInstant
    ) -> Signature {
        guard isCurrent(generation, takeover) else { return .outdated }
        if let ticket, !waiters.isEmpty || isReleasing, !isNext(ticket) { return .none }
        switch phase {
        case .active, .refreshing:
            // Read in place: a copy of `held` costs more than the rest.
            return held?.isUsable(at: instant) == true ? signatureOfHeld : .none
        case .loading, .storing, .backingOff, .ended, .signedOut:
            return .none
        }
    }

    /// The signature with the access token that is held.
    @inline(__always)
    var signatureOfHeld: Signature {
        guard let value = held?.authorization else { return .none }
        return .authorization(value, version: tokenNumber)
    }

    /// The server's answer to a request signed with this access token is not a
    /// 401.
    mutating func accepted(version signed: Int) {
        guard signed == tokenNumber, held?.isProven == false else { return }
        held?.isProven = true
    }

    /// The server answered 401 to a first attempt signed with this access
    /// token.
    ///
    /// The request will ask again at once.
    mutating func rejected(version signed: Int, now: Moment) {
        guard signed == tokenNumber, held?.isRejected == false else { return }
        held?.isRejected = true
        countIfFruitless(at: now.instant)
    }

    /// A waiter was cancelled, or its time is up.
    mutating func left(ticket: Int) {
        _ = waiters.remove(ticket)
    }

    /// The next waiter is to be released; called until it returns none.
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

    /// The number of the access token that is held; -1, which no request is
    /// signed with, if there is none.
    var tokenNumber: Int { held?.number ?? -1 }

    func isGood(at instant: MonotonicInstant, by means: RefreshMeans) -> Bool {
        held?.isGood(at: instant, by: means) ?? false
    }
}
