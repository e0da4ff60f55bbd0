import Foundation

extension SessionMachine {
    /// What a refresh does after a look at what is stored.
    enum RefreshStep: Equatable {
        /// Gets a credential in place of this one.
        case goOn(TokenCredential?)
        /// Nothing: it ends with `refreshAbandoned`.
        case stop
    }

    /// A refresh has the store for itself, and this is what it holds; `nil`
    /// says that it is empty.
    mutating func refreshFound(
        number: Int, _ stored: TokenCredential?, now: Moment
    ) -> (RefreshStep, [Action]) {
        guard let running, running.number == number, !running.isOutdated else { return (.stop, []) }
        let stored = stored ?? .empty
        if stored.isEmpty, running.means == .clientCredentials {
            // A client's own session isn't over because its store is empty.
            _ = store.note(stored)
            return (.goOn(held?.credential), [])
        }
        let actions = observed(stored, hasJustRead: true, now: now)
        guard self.running?.number == number, self.running?.isOutdated == false else {
            // Somebody else has renewed the session, or ended it.
            if self.running?.number == number { self.running = nil }
            return (.stop, actions + afterOutdatedRefresh(hasJustRead: true, now: now))
        }
        guard !isGood(at: now.instant, by: running.means) else {
            self.running = nil
            phase = .active
            return (.stop, actions + proceed(hasJustRead: true, now: now))
        }
        return (.goOn(held?.credential), actions)
    }

    /// The refresh brought a credential.
    ///
    /// - Parameter read: What the app's variable holds now: somebody may have
    ///   signed out meanwhile, and no request came to notice.
    mutating func refreshSucceeded(
        number: Int, _ credential: TokenCredential, lifetime: Double?, sentAt: MonotonicInstant,
        read: TokenCredential? = nil, now: Moment
    ) -> [Action] {
        guard running?.number == number else { return [] }
        let news = read.map { observed($0, now: now) } ?? []
        guard let ended = end(number) else { return news }
        if ended.means == .refreshToken, let old = ended.credential {
            spent.insert(old, replacedBy: credential, isWanted: !ended.isSignedOut)
        }
        var brought = HeldCredential(refreshed: credential, lifetime: lifetime, sentAt: sentAt, policy: policy)
        guard !ended.isOutdated || isSuccessorOfHeld(ended) else {
            // What a session that was signed out still brings home is nobody's.
            guard !ended.isSignedOut else { return news + [.revoke(credential)] + afterOutdatedRefresh(now: now) }
            lastTokenNumber += 1
            brought.number = lastTokenNumber
            known.insert(brought)
            return news + afterOutdatedRefresh(now: now)
        }
        // A refresh that takes so long again would bring nothing better, for ever.
        brought.ignoresLeeway = !brought.isGood(at: now.instant, by: ended.means)
        install(brought)
        store.willWrite(credential, isPending: !needsLoading)
        phase = .storing
        return news + [.store(credential, version: tokenNumber)]
    }

    /// Whether what an outdated refresh brought is what the session's refresh
    /// token has come to, since somebody has put that back meanwhile.
    private func isSuccessorOfHeld(_ ended: RunningRefresh) -> Bool {
        guard !ended.isSignedOut, let held = held?.credential, spent.contains(held) else { return false }
        return held.refreshToken == ended.credential?.refreshToken
    }

    /// The authorization server has replaced the refresh token, and what came
    /// with it is no access token that can be used.
    ///
    /// - Returns: What is to be written before the refresh ends; `nil` when
    ///   the session has gone on without it.
    mutating func refreshTokenReplaced(number: Int, by refreshToken: String, now: Moment) -> TokenCredential? {
        guard var ended = running, ended.number == number, ended.means == .refreshToken, let old = ended.credential,
            !refreshToken.isEmpty, refreshToken != old.refreshToken
        else { return nil }
        let kept = old.withRefreshToken(refreshToken)
        spent.insert(old, replacedBy: kept, isWanted: !ended.isSignedOut)
        guard !ended.isOutdated || isSuccessorOfHeld(ended) else { return nil }
        ended.credential = kept
        running = ended
        version += 1
        held?.readAgain(kept, now: now, policy: policy)
        store.willWrite(kept, isPending: !needsLoading)
        return kept
    }

    /// Whether the credential with this access token is still the one to write.
    func mayStore(version stored: Int) -> Bool {
        isStoring && stored == tokenNumber
    }

    /// The credential with this access token is stored.
    ///
    /// - Parameter read: What the app's variable holds now, which may keep it
    ///   to itself for a while; a store that says so has taken it.
    mutating func stored(version stored: Int, read: TokenCredential? = nil, now: Moment) -> [Action] {
        guard mayStore(version: stored), let held else { return [] }
        if needsLoading { store.wrote(held.credential) }
        return proceed(with: held, read: read, now: now)
    }

    /// The credential with this access token can't be stored for now: the
    /// session goes on in memory.
    mutating func notStored(version: Int, _ failure: AuthenticationError, now: Moment) -> [Action] {
        guard mayStore(version: version), let held else { return [] }
        return announcing(.credentialNotStored(failure), with: proceed(with: held, read: nil, now: now))
    }

    /// The session goes on with what is stored now.
    private mutating func proceed(with held: HeldCredential, read: TokenCredential?, now: Moment) -> [Action] {
        // Nothing is signed before this; what was read from the store before it is out of date.
        version += 1
        phase = .active
        let expiresAt = held.credential.expiresAt
        let news = read.map { observed($0, now: now) } ?? []
        return announcing(
            .refreshed(expiresAt: expiresAt == .distantFuture ? nil : expiresAt), with: news + proceed(now: now))
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
        guard !ended.isOutdated else { return afterOutdatedRefresh(now: now) }
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
        guard !ended.isOutdated else { return afterOutdatedRefresh(now: now) }
        let hasJustRead = read != nil
        var news: [Action] = []
        // A client's own session is not over because its store is empty.
        if let read, !(read.isEmpty && ended.means == .clientCredentials) {
            let before = held?.credential
            // Beside another access token, the same refresh token is no better than it was.
            let refused = ended.means == .refreshToken ? ended.credential.map { ($0.refreshToken, failure) } : nil
            news = observed(read, refused: refused, hasJustRead: true, now: now)
            guard held.map({ $0.credential.hasTokens(of: before ?? .empty) }) ?? (before == nil) else {
                // Somebody else has renewed the session meanwhile.
                return news + afterOutdatedRefresh(hasJustRead: true, now: now)
            }
        }
        if held?.isUsable(at: now.instant) == true {
            held?.ignoresLeeway = true
            held?.finalFailure = (failure, ended.means)
            phase = .active
            return news + proceed(hasJustRead: hasJustRead, now: now) + [.announceFailure(failure)]
        }
        phase = .ended(failure)
        endedMeans = ended.means
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
        return afterOutdatedRefresh(now: now)
    }

    mutating func end(_ number: Int) -> RunningRefresh? {
        guard let ended = running, ended.number == number else { return nil }
        running = nil
        return ended
    }

    /// What an outdated refresh brought is dropped; who waited for its end
    /// goes on.
    private mutating func afterOutdatedRefresh(hasJustRead: Bool = false, now: Moment) -> [Action] {
        guard running == nil, case .refreshing = phase else { return [] }
        phase = .active
        return proceed(hasJustRead: hasJustRead, now: now)
    }

    /// Releases waiters, starts the refresh that they need, or refuses them.
    ///
    /// - Parameter hasJustRead: Whether what is held is what the store holds
    ///   right now.
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

    /// Starts a refresh, or says what stands in the way, and sets the phase
    /// accordingly.
    private mutating func startRefresh(for request: Waiting, hasJustRead: Bool, now: Moment) -> RefreshStart {
        countIfFruitless(at: now.instant)
        if let failure = held?.finalFailure, failure.means == request.means {
            return endSession(failure.error, of: failure.means, hasJustRead: hasJustRead)
        }
        guard request.means.acquires || hasUsefulRefreshToken else {
            let missing = AuthenticationError.missingCredential(delivery: .notSent)
            // Another one who waits may have a way of its own.
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
        running = RunningRefresh(number: lastRefreshNumber, means: request.means, credential: held?.credential)
        phase = .refreshing
        return .started(.refresh(number: lastRefreshNumber, held?.credential, for: request.waiter))
    }

    /// Whether there is a refresh token that may be sent.
    private var hasUsefulRefreshToken: Bool {
        guard let credential = held?.credential else { return false }
        return !credential.refreshToken.isEmpty && !spent.contains(credential)
    }

    /// There is nothing more to be had with what is held; a store may hold
    /// something else by now.
    private mutating func endSession(
        _ error: AuthenticationError, of means: RenewalMeans, hasJustRead: Bool
    ) -> RefreshStart {
        endedMeans = means
        guard needsLoading, !hasJustRead else {
            phase = .ended(error)
            return .endsSession(error, isNews: true)
        }
        phase = .loading(end: PossibleEnd(error: error, isAnnounced: false))
        return .readsStore(startLoading())
    }

    /// A request asks while nobody else waits, or while refreshes back off.
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
                return (.refuse(lastFailure ?? .waitedTooLong), actions)
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

    /// Notes that a refresh brought a token that was of no use to anybody.
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
