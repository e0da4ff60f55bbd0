import Foundation

extension SessionMachine {
    /// The refresh brought a credential.
    ///
    /// - Parameter read: What the store holds now, if it was read: somebody
    ///   may have signed out meanwhile, and no request came to notice.
    mutating func refreshSucceeded(
        number: Int, _ credential: TokenCredential, lifetime: Double?, sentAt: MonotonicInstant,
        read: TokenCredential? = nil, now: Moment
    ) -> [Action] {
        guard running?.number == number else { return [] }
        let news = read.map { observed($0, now: now) } ?? []
        guard let ended = end(number) else { return news }
        guard !ended.isOutdated else {
            // The server has taken it all the same: it is never sent again.
            if let spent = ended.credential {
                replaced.insertSpent(spent, replacedBy: credential, inUse: held?.credential)
            }
            return news + outdatedRefreshEnded(now: now)
        }
        if let held { replaced.insert(held.credential, replacedBy: credential) }
        var brought = HeldCredential(refreshed: credential, lifetime: lifetime, sentAt: sentAt, policy: policy)
        // A refresh that takes so long again would bring nothing better, for ever.
        brought.ignoresLeeway = !brought.isGood(at: now.instant)
        install(brought)
        phase = .storing
        return news + [.store(credential, version: version)]
    }

    /// Whether the credential of this version is still the one to write.
    func mayStore(version stored: Int) -> Bool {
        isStoring && stored == firstVersion
    }

    /// The credential of this version is stored.
    mutating func stored(version stored: Int, now: Moment) -> [Action] {
        guard mayStore(version: stored) else { return [] }
        // Nothing is signed before this; what was read from the store before it is out of date.
        version += 1
        phase = .active
        return proceed(now: now)
    }

    /// The credential of this version can't be stored for now: the session
    /// goes on in memory.
    mutating func notStored(version: Int, _ failure: AuthenticationError, now: Moment) -> [Action] {
        guard mayStore(version: version) else { return [] }
        return announcing(.credentialNotStored(failure), with: stored(version: version, now: now))
    }

    /// What stood in the way of another credential.
    enum RefreshObstacle {
        /// The authorization server, or the way to it.
        case endpoint
        /// The token store, before anything was sent.
        case store
        /// The app's provider.
        case provider
    }

    /// The refresh did not succeed this time.
    ///
    /// - Parameters:
    ///   - retryAfter: What the server, or the app's provider, asked for.
    ///   - random: A number in 0..<1.
    mutating func refreshFailed(
        number: Int, cause: any Error, at obstacle: RefreshObstacle = .endpoint, retryAfter: Duration?,
        random: Double, now: Moment
    ) -> [Action] {
        guard let ended = end(number) else { return [] }
        guard !ended.isOutdated else { return outdatedRefreshEnded(now: now) }
        failures += 1
        let delay = max(retryAfter ?? policy.backOff(afterFailures: failures, random: random), .zero)
        let until = now.instant.advanced(by: delay)
        notBefore = until
        let retryAt = delay > .zero ? now.date.addingTimeInterval(delay.seconds) : nil
        let failure: AuthenticationError =
            switch obstacle {
            case .endpoint, .store: .refreshFailed(cause: cause, retryAt: retryAt, delivery: .notSent)
            case .provider: .credentialNotProvided(cause: cause, retryAt: retryAt, delivery: .notSent)
            }
        lastFailure = failure
        if held?.isUsable(at: now.instant) == true {
            held?.ignoresLeeway = true
            phase = .active
            return proceed(now: now) + [.announceFailure(failure)]
        }
        phase = .backingOff(until: until)
        return refuseAll(failure) + [.announceFailure(failure)]
    }

    /// The authorization server said that the refresh token is dead, or the
    /// app's provider that there is nothing more to be had.
    ///
    /// - Parameter read: What the store holds now, if it could be read.
    mutating func refreshRejected(
        number: Int, _ failure: AuthenticationError, read: TokenCredential?, now: Moment
    ) -> [Action] {
        guard let ended = end(number) else { return [] }
        guard !ended.isOutdated else { return outdatedRefreshEnded(now: now) }
        hasJustRead = read != nil
        defer { hasJustRead = false }
        var news: [Action] = []
        // A client's own session is not over because its store is empty.
        if let read, !(read.isEmpty && policy.isWithoutUser) {
            // Beside another access token, the same refresh token is no better than it was.
            let refused = policy.acquires ? nil : ended.credential.map { ($0.refreshToken, failure) }
            news = observed(read, refused: refused, now: now)
            guard held?.credential.hasTokens(of: ended.credential ?? .empty) ?? (ended.credential == nil) else {
                // Somebody else has renewed the session meanwhile.
                guard running == nil, case .refreshing = phase else { return news }
                phase = .active
                return news + proceed(now: now)
            }
        }
        if held?.isUsable(at: now.instant) == true {
            held?.ignoresLeeway = true
            held?.doom = failure
            phase = .active
            return news + proceed(now: now) + [.announceFailure(failure)]
        }
        phase = .ended(failure)
        return news + refuseAll(failure) + [.announceFailure(failure), .announce(.ended(failure))]
    }

    /// The time that `wake` named has come.
    mutating func wokeUp(now: Moment) -> [Action] {
        guard case .backingOff(let until) = phase else { return [] }
        guard now.instant >= until else { return waiters.isEmpty ? [] : [.wake(until)] }
        phase = .active
        return proceed(now: now)
    }

    /// The refresh is over and has changed nothing: it was outdated, or the
    /// store held something better.
    mutating func refreshAbandoned(number: Int, now: Moment) -> [Action] {
        guard end(number) != nil else { return [] }
        return outdatedRefreshEnded(now: now)
    }

    mutating func end(_ number: Int) -> RunningRefresh? {
        guard let ended = running, ended.number == number else { return nil }
        running = nil
        return ended
    }

    /// What an outdated refresh brought is dropped; who waited for its end
    /// goes on.
    private mutating func outdatedRefreshEnded(now: Moment) -> [Action] {
        guard case .refreshing = phase else { return [] }
        phase = .active
        return proceed(now: now)
    }

    /// Releases waiters, starts the refresh that they need, or refuses them.
    mutating func proceed(now: Moment) -> [Action] {
        guard case .active = phase else { return [] }
        var actions: [Action] = []
        while let waiter = waiters.first {
            if isGood(at: now.instant) {
                if !isReleasing {
                    isReleasing = true
                    actions.append(.release)
                }
                return actions
            }
            switch startRefresh(for: waiter, now: now) {
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
                actions.append(.refuse([waiter], error))
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

    /// Starts a refresh, or says what stands in the way, and sets the phase
    /// accordingly.
    private mutating func startRefresh(for waiter: Waiter, now: Moment) -> RefreshStart {
        countIfFruitless(at: now.instant)
        guard held != nil || policy.acquires else {
            phase = .signedOut
            return .endsSession(.missingCredential(delivery: .notSent), isNews: false)
        }
        if let doom = held?.doom { return endSession(doom) }
        guard policy.acquires || held?.credential.refreshToken.isEmpty == false else {
            return endSession(.missingCredential(delivery: .notSent))
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
        running = RunningRefresh(number: lastRefreshNumber, credential: held?.credential)
        phase = .refreshing
        return .started(.refresh(number: lastRefreshNumber, held?.credential, for: waiter))
    }

    /// There is nothing more to be had with what is held; a store may hold
    /// something else by now.
    private mutating func endSession(_ error: AuthenticationError) -> RefreshStart {
        guard isLoaded, !hasJustRead else {
            phase = .ended(error)
            isEndNews = false
            return .endsSession(error, isNews: true)
        }
        phase = .loading(unlessChanged: error)
        isEndNews = true
        return .readsStore(startLoading())
    }

    /// A request asks while nobody else waits, or while refreshes back off.
    mutating func refreshWanted(
        by waiter: Waiter, ticket: Int?, deadline: MonotonicInstant, now: Moment, after actions: [Action]
    ) -> (Admission, [Action]) {
        switch startRefresh(for: waiter, now: now) {
        case .started(let action):
            return (enqueue(waiter, ticket: ticket), actions + [action])
        case .awaitsOutdated:
            return (enqueue(waiter, ticket: ticket), actions)
        case .backsOff(let until):
            guard until < deadline else {
                return (.refuse(lastFailure ?? .waitedTooLong), actions)
            }
            return (enqueue(waiter, ticket: ticket), actions + [.wake(until)])
        case .readsStore(let load):
            return (enqueue(waiter, ticket: ticket), actions + load)
        case .endsSession(let error, let isNews):
            return (.refuse(error), actions + refuseAll(error) + (isNews ? [.announce(.ended(error))] : []))
        case .refusesRequest(let error):
            return (.refuse(error), actions)
        }
    }

    /// Notes that a refresh brought a token that was of no use to anybody.
    mutating func countIfFruitless(at instant: MonotonicInstant) {
        guard let held, held.isFromRefresh, !held.isProven, !held.isCountedAsFruitless,
            !held.isUsable(at: instant)
        else { return }
        self.held?.isCountedAsFruitless = true
        fruitless.append(instant)
    }

    mutating func refuseAll(_ error: AuthenticationError) -> [Action] {
        let all = waiters.members
        guard !all.isEmpty else { return [] }
        waiters.removeAll()
        return [.refuse(all, error)]
    }
}
