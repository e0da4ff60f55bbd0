// What happens to the waiters: they are released, refused, or a refresh starts.
extension SessionMachine {
    /// Releases the waiters, starts the refresh that they need, or refuses them.
    ///
    /// - Parameter hasJustRead: Whether the store was read for this event.
    mutating func proceed(hasJustRead: Bool = false, now: Moment) -> [Action] {
        guard case .active = phase else { return [] }
        var actions: [Action] = []
        while let request = waiters.first {
            if isGood(at: now.instant, by: request.means) {
                if !isReleasing {
                    isReleasing = true
                    releasedTicket = nil
                    actions.append(.release)
                }
                return actions
            }
            switch startRefresh(for: request, hasJustRead: hasJustRead, now: now) {
            case .started(let action):
                return actions + [action]
            case .awaitsOutdated:
                return actions
            case .backsOff(let until):
                return actions + [.wake(until)]
            case .readsStore(let load):
                return actions + load
            case .endsSession(let error, let isNews):
                return actions + refuseAll(error) + (isNews ? [.announce(.ended(error))] : [])
            case .refusesRequest(let error):
                _ = waiters.dequeue()
                actions.append(.refuse([request.waiter], error))
            }
        }
        return actions
    }

    private enum RefreshStart {
        case started(Action)
        case awaitsOutdated
        case backsOff(until: MonotonicInstant)
        case readsStore([Action])
        case endsSession(AuthenticationError, isNews: Bool)
        case refusesRequest(AuthenticationError)
    }

    /// Starts a refresh, or says why it can't, and sets the phase accordingly.
    private mutating func startRefresh(for request: Waiting, hasJustRead: Bool, now: Moment) -> RefreshStart {
        countIfFruitless(at: now.instant)
        if let failure = held?.finalFailure, request.means.ends(with: failure.means) {
            // Another waiter may have other means.
            if waiters.members.contains(where: { !$0.means.ends(with: failure.means) }) {
                return .refusesRequest(failure.error)
            }
            return endSession(failure.error, of: failure.means, hasJustRead: hasJustRead)
        }
        guard request.means.acquires || hasUsefulRefreshToken else {
            let missing = AuthenticationError.missingCredential(delivery: .notSent)
            // Another waiter may not need a refresh token.
            if waiters.members.contains(where: { $0.means.acquires }) { return .refusesRequest(missing) }
            guard held == nil else { return endSession(missing, of: .refreshToken, hasJustRead: hasJustRead) }
            phase = .signedOut
            return .endsSession(missing, isNews: false)
        }
        if running != nil {
            phase = .refreshing
            return .awaitsOutdated
        }
        let window = policy.fruitlessWindow
        fruitless.removeAll { $0.advanced(by: window) <= now.instant }
        if fruitless.count >= policy.fruitlessLimit, let oldest = fruitless.first {
            let wait = now.instant.duration(to: oldest.advanced(by: window))
            return .refusesRequest(
                .tooManyRefreshes(retryAt: now.date.addingTimeInterval(wait.seconds), delivery: .notSent))
        }
        if let notBefore, now.instant < notBefore {
            phase = .backingOff(until: notBefore)
            return .backsOff(until: notBefore)
        }
        lastRefreshNumber += 1
        running = RunningRefresh(
            number: lastRefreshNumber, asked: request.means, means: usableMeans(of: request.means),
            credential: held?.credential)
        phase = .refreshing
        return .started(.refresh(number: lastRefreshNumber, held?.credential, for: request.waiter))
    }

    /// Which of the means a refresh uses now.
    func usableMeans(of means: RefreshMeans) -> RefreshMeans {
        guard means == .refreshTokenOrProvider else { return means }
        let isRefused = held.map { $0.credential.refreshToken == refusedRefreshToken } ?? false
        return hasUsefulRefreshToken && !isRefused ? .refreshToken : .provider
    }

    /// Whether there is a refresh token that may be sent.
    private var hasUsefulRefreshToken: Bool {
        guard let credential = held?.credential else { return false }
        return !credential.refreshToken.isEmpty && !spent.contains(credential)
    }

    /// The credential can't be renewed: the session ends, unless the store holds
    /// something else by now.
    private mutating func endSession(
        _ error: AuthenticationError, of means: RefreshMeans, hasJustRead: Bool
    ) -> RefreshStart {
        endedMeans = means
        guard needsLoading, !hasJustRead else {
            phase = .ended(error)
            return .endsSession(error, isNews: true)
        }
        phase = .loading(end: PossibleEnd(error: error, isAnnounced: false))
        return .readsStore(startLoading())
    }

    /// A request needs a refresh.
    mutating func refreshWanted(
        by request: Waiting, ticket: Int?, deadline: MonotonicInstant, now: Moment, after actions: [Action]
    ) -> (Admission, [Action]) {
        switch startRefresh(for: request, hasJustRead: false, now: now) {
        case .started(let action):
            return (enqueue(request, ticket: ticket), actions + [action])
        case .awaitsOutdated:
            return (enqueue(request, ticket: ticket), actions)
        case .backsOff(let until):
            guard until < deadline else {
                return (.refuse(lastFailure ?? .waitedTooLong(delivery: .notSent)), actions)
            }
            return (enqueue(request, ticket: ticket), actions + [.wake(until)])
        case .readsStore(let load):
            return (enqueue(request, ticket: ticket), actions + load)
        case .endsSession(let error, let isNews):
            return (.refuse(error), actions + refuseAll(error) + (isNews ? [.announce(.ended(error))] : []))
        case .refusesRequest(let error):
            return (.refuse(error), actions)
        }
    }

    /// Records that a refresh was fruitless: no request was accepted with its
    /// token.
    mutating func countIfFruitless(at instant: MonotonicInstant) {
        guard let held, held.isFromRefresh, !held.isProven, !held.isCountedAsFruitless,
            !held.isUsable(at: instant)
        else { return }
        self.held?.isCountedAsFruitless = true
        fruitless.append(instant)
    }

    mutating func refuseAll(_ error: AuthenticationError) -> [Action] {
        let all = waiters.members.map { $0.waiter }
        guard !all.isEmpty else { return [] }
        waiters.removeAll()
        return [.refuse(all, error)]
    }
}
