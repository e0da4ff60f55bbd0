import Foundation

extension SessionMachine {
    /// What a refresh does after the store was read.
    enum RefreshStep: Equatable {
        /// It gets a credential in place of this one.
        case goOn(TokenCredential?)
        /// It ends with `refreshAbandoned`.
        case stop
    }

    /// A refresh has read the store, and this is what it holds; `nil` if it is empty.
    mutating func refreshFound(
        number: Int, _ stored: TokenCredential?, now: Moment
    ) -> (RefreshStep, [Action]) {
        guard case .refreshing(_, let refresh) = phase, refresh.number == number else { return (.stop, []) }
        let stored = stored ?? .empty
        if stored.isEmpty, refresh.means == .clientCredentials {
            // This does not end a client's own session.
            _ = store.note(stored)
            return (.goOn(held?.credential), [])
        }
        let actions = observed(stored, hasJustRead: true, now: now)
        guard case .refreshing(let held, var refresh) = phase else {
            // Another process has renewed the session, or ended it.
            leftBehind = nil
            return (.stop, actions + cameHome(hasJustRead: true, now: now))
        }
        guard !isGood(at: now.instant, by: refresh.asked) else {
            phase = .waiting(held)
            return (.stop, actions + cameHome(hasJustRead: true, now: now))
        }
        refresh.means = usableMeans(of: refresh.asked)
        phase = .refreshing(held, refresh)
        return (.goOn(held?.credential), actions)
    }

    /// A refresh that has not come home yet, and whether it was left behind.
    func running(_ number: Int) -> (refresh: SessionRefresh, isOutdated: Bool)? {
        if case .refreshing(_, let refresh) = phase, refresh.number == number { return (refresh, false) }
        if let leftBehind, leftBehind.number == number { return (leftBehind, true) }
        return overdue.first { $0.number == number }.map { ($0, true) }
    }

    private mutating func update(_ refresh: SessionRefresh) {
        if case .refreshing(let held, let current) = phase, current.number == refresh.number {
            phase = .refreshing(held, refresh)
        } else if leftBehind?.number == refresh.number {
            leftBehind = refresh
        } else if let index = overdue.firstIndex(where: { $0.number == refresh.number }) {
            overdue[index] = refresh
        }
    }

    /// The running refresh doesn't matter any more, but has still to come home.
    mutating func leaveRefresh(isSignedOut: Bool = false) {
        guard case .refreshing(let held, var refresh) = phase else { return }
        refresh.isSignedOut = isSignedOut
        leftBehind = refresh
        phase = .waiting(held)
    }

    /// A refresh has come home.
    private mutating func end(_ number: Int) -> (SessionRefresh, isOutdated: Bool)? {
        guard let (ended, isOutdated) = running(number) else { return nil }
        if !isOutdated {
            phase = .waiting(held)
        } else if ended.isOverdue {
            overdue.removeAll { $0.number == number }
            if setback?.overdueNumber == number { setback?.overdueNumber = nil }
        } else {
            leftBehind = nil
        }
        return (ended, isOutdated)
    }

    /// A refresh has come home: the requests that waited for that go on.
    private mutating func cameHome(hasJustRead: Bool = false, now: Moment) -> [Action] {
        guard leftBehind == nil, case .waiting(let held) = phase else { return [] }
        phase = held.map { .signedIn($0) } ?? .signedOut
        return proceed(hasJustRead: hasJustRead, now: now)
    }

    /// A refresh has got a credential.
    ///
    /// - Parameter read: What the app's variable holds now: the app may have
    ///   signed out meanwhile, and no request may have noticed.
    /// - Returns: The number of the new access token, if the session uses it and it has to be written; a store's writer
    ///   tells of it by `stored` or `notStored`.
    mutating func refreshSucceeded(
        number: Int, _ credential: TokenCredential, lifetime: Double?, sentAt: MonotonicInstant,
        read: TokenCredential? = nil, now: Moment
    ) -> (tokenNumber: Int?, [Action]) {
        guard running(number) != nil else { return (nil, []) }
        let news = read.map { observed($0, now: now) } ?? []
        guard let (ended, isOutdated) = end(number) else { return (nil, news) }
        if ended.means == .provider { refusedRefreshToken = nil }
        // A later refresh may have exchanged it, too, and been heard first.
        if ended.means == .refreshToken, let old = ended.credential, !ended.isOverdue || !spent.contains(old) {
            spent.insert(old, replacedBy: credential, isWanted: !ended.isSignedOut)
        }
        var brought = HeldCredential(
            refreshed: credential, lifetime: lifetime, sentAt: sentAt, now: now.instant, policy: policy)
        guard !isOutdated || isSuccessorOfHeld(ended) else {
            // The session was signed out meanwhile: the credential belongs to nobody.
            guard !ended.isSignedOut else { return (nil, news + [.revoke(credential)] + cameHome(now: now)) }
            lastTokenNumber += 1
            brought.number = lastTokenNumber
            known.insert(brought)
            return (nil, news + cameHome(now: now))
        }
        // Another refresh that takes as long would get nothing better, for ever.
        brought.ignoresLeeway = !brought.isGood(at: now.instant, by: ended.asked)
        // The one that followed an overdue refresh has sent the same refresh token.
        leaveRefresh()
        phase = .storing(install(brought))
        setback = nil
        willWrite(credential, hasRead: !isOutdated)
        return (tokenNumber, needsLoading ? news : news + [.set(credential, tokenNumber: tokenNumber)])
    }

    /// Whether the session uses the refresh token that an outdated refresh has just exchanged, because somebody has put
    /// it back meanwhile, or because the answer was overdue.
    private func isSuccessorOfHeld(_ ended: SessionRefresh) -> Bool {
        if ended.isOverdue, !ended.isSignedOut, (held?.credential ?? .empty).hasTokens(of: ended.credential ?? .empty) {
            return ended.credential != nil || ended.means == .clientCredentials
        }
        return isSuccessorExpected(from: ended) && held.map { spent.contains($0.credential) } == true
    }

    /// Whether the session uses the refresh token that a refresh spends.
    func isSuccessorExpected(from refresh: SessionRefresh) -> Bool {
        guard !refresh.isSignedOut, let held = held?.credential, !held.refreshToken.isEmpty else { return false }
        return held.refreshToken == refresh.credential?.refreshToken
    }

    /// The app's provider has returned a credential, which is to be stored.
    mutating func refreshProvided(number: Int) {
        guard var refresh = running(number)?.refresh else { return }
        refresh.isProvided = true
        update(refresh)
    }

    /// The authorization server has replaced the refresh token, but its access token can't be used.
    ///
    /// - Returns: What has to be written before the refresh ends; `nil` if the
    ///   session no longer uses the old refresh token.
    mutating func refreshTokenReplaced(number: Int, by refreshToken: String, now: Moment) -> TokenCredential? {
        guard case (var ended, let isOutdated)? = running(number), ended.means == .refreshToken,
            let old = ended.credential,
            !refreshToken.isEmpty, refreshToken != old.refreshToken
        else { return nil }
        // Somebody may have put the old refresh token back beside another access token.
        let newest = isOutdated && isSuccessorExpected(from: ended) ? held?.credential : nil
        let kept = (newest ?? old).withRefreshToken(refreshToken)
        spent.insert(old, replacedBy: kept, isWanted: !ended.isSignedOut)
        guard !isOutdated || isSuccessorOfHeld(ended) else { return nil }
        ended.credential = kept
        update(ended)
        version += 1
        let policy = policy
        held?.readAgain(kept, now: now, policy: policy)
        willWrite(kept, hasRead: !isOutdated)
        return kept
    }

    /// The credential with the new refresh token has been written, or not.
    mutating func keptRefreshToken(_ kept: TokenCredential, _ failure: AuthenticationError?, now: Moment) -> [Action] {
        // Otherwise the app has signed in or out meanwhile, or somebody has stored something newer.
        guard needsLoading, store.last == kept, hasToWriteAgain else { return [] }
        return failure.map { writeFailed($0, at: now) } ?? wrote(kept, in: tenure)
    }

    /// Whether the credential with this access token still has to be written.
    func mayStore(tokenNumber stored: Int) -> Bool {
        if case .storing(let held) = phase { held.number == stored } else { false }
    }

    /// The credential with this access token has been written.
    ///
    /// - Parameter read: What the app's variable holds now: it may return the
    ///   old value for a while. `nil` for a store, which holds what was written.
    mutating func stored(tokenNumber stored: Int, read: TokenCredential? = nil, now: Moment) -> [Action] {
        guard mayStore(tokenNumber: stored), let held else { return [] }
        let actions = needsLoading && store.outstanding != nil ? wrote(held.credential, in: tenure) : []
        return actions + proceed(with: held, read: read, now: now)
    }

    /// The credential with this access token could not be written: the session goes on in memory.
    mutating func notStored(tokenNumber: Int, _ failure: AuthenticationError, now: Moment) -> [Action] {
        guard mayStore(tokenNumber: tokenNumber), let held else { return [] }
        // A sign-in or sign-out meanwhile writes its own.
        if hasToWriteAgain { _ = writeFailed(failure, at: now) }
        return announcing(.credentialNotStored(failure), with: proceed(with: held, read: nil, now: now))
    }

    /// The session goes on with the new credential.
    private mutating func proceed(with held: HeldCredential, read: TokenCredential?, now: Moment) -> [Action] {
        // Nothing was signed with it before, and what was read before is out of date.
        version += 1
        phase = .signedIn(held)
        let expiresAt = held.credential.expiresAt
        let news = read.map { observed($0, now: now) } ?? []
        return announcing(
            .refreshed(expiresAt: expiresAt == .distantFuture ? nil : expiresAt), with: news + proceed(now: now))
    }

    /// A refresh has failed; another one may succeed.
    ///
    /// - Parameters:
    ///   - isOfProvider: Whether the app's provider failed, and not the authorization server or the store.
    ///   - isOverdue: Whether its time is over, and its answer may still come.
    ///   - retryAfter: What the server, or the app's provider, asked for.
    ///   - random: A number in 0..<1.
    mutating func refreshFailed(
        number: Int, cause: any Error, ofProvider isOfProvider: Bool = false, isOverdue: Bool = false,
        retryAfter: Duration?, random: Double, now: Moment
    ) -> [Action] {
        guard case (var ended, let isOutdated)? = end(number) else { return [] }
        if isOverdue {
            ended.isOverdue = true
            overdue.append(ended)
        }
        guard !isOutdated else { return cameHome(now: now) }
        let isRefused = held?.finalFailure?.means == .refreshToken && held?.isUsable(at: now.instant) != true
        if isRefused, ended.asked == .refreshTokenOrProvider, ended.means == .refreshToken {
            // The access token was rejected, or has expired, since its refresh token was refused.
            return cameHome(now: now)
        }
        let count = (setback?.count ?? 0) + 1
        // Without a refresh token nothing can be spent twice.
        let delay =
            isOverdue && ended.means == .refreshToken
            ? policy.overdueWait : max(retryAfter ?? policy.backOff(afterFailures: count, random: random), .zero)
        let until = now.instant.advanced(by: delay)
        let retryAt = delay > .zero ? now.date.addingTimeInterval(delay.seconds) : nil
        let failure: AuthenticationError =
            isOfProvider
            ? .credentialNotProvided(cause: cause, retryAt: retryAt, delivery: .notSent)
            : .refreshFailed(cause: cause, retryAt: retryAt, delivery: .notSent)
        setback = SessionSetback(
            count: count, notBefore: until, failure: failure, overdueNumber: isOverdue ? number : nil)
        if held?.isUsable(at: now.instant) == true {
            held?.ignoresLeeway = true
            return cameHome(now: now) + [.announceFailure(failure)]
        }
        phase = .backingOff(held, until: until)
        return refuseAll(failure) + [.announceFailure(failure)]
    }

    /// What follows when the refresh token was refused.
    enum Refusal {
        /// `refreshRejected`: there is nothing else.
        case ends
        /// The refresh goes on with the app's provider.
        case asksProvider
        /// `refreshFailed`: the access token is still good, and a person who uses it must not be asked to sign in.
        case waitsForExpiry
    }

    /// The authorization server has refused the refresh token for good.
    mutating func refreshTokenRefused(number: Int, _ failure: AuthenticationError, now: Moment) -> Refusal {
        guard case .refreshing(_, var refresh) = phase, refresh.number == number else { return .ends }
        refusedRefreshToken = refresh.credential?.refreshToken
        guard refresh.asked == .refreshTokenOrProvider else { return .ends }
        held?.finalFailure = FinalFailure(failure, of: .refreshToken)
        if held?.isUsable(at: now.instant) == true { return .waitsForExpiry }
        refresh.means = .provider
        update(refresh)
        return .asksProvider
    }

    /// The authorization server has refused the refresh token for good, or the
    /// app's provider can't get a credential any more.
    ///
    /// - Parameter read: What is kept now, if it could be read.
    mutating func refreshRejected(
        number: Int, _ failure: AuthenticationError, read: TokenCredential?, now: Moment
    ) -> [Action] {
        guard let (ended, isOutdated) = end(number) else { return [] }
        guard !isOutdated else { return cameHome(now: now) }
        let hasJustRead = read != nil
        var news: [Action] = []
        // An empty store does not end a client's own session.
        if let read, !(read.isEmpty && ended.means == .clientCredentials) {
            let before = held?.credential
            // The refresh token stays refused if it comes with another access token.
            let refused = ended.means == .refreshToken ? ended.credential.map { ($0.refreshToken, failure) } : nil
            news = observed(read, refused: refused, hasJustRead: true, now: now)
            guard held.map({ $0.credential.hasTokens(of: before ?? .empty) }) ?? (before == nil) else {
                // Another process has renewed the session meanwhile.
                return news + cameHome(hasJustRead: true, now: now)
            }
        }
        if ended.means == .refreshToken, held?.credential.refreshToken != ended.credential?.refreshToken {
            // An overdue answer has replaced the refresh token meanwhile.
            return news + cameHome(hasJustRead: hasJustRead, now: now)
        }
        if held?.isUsable(at: now.instant) == true {
            held?.ignoresLeeway = true
            held?.finalFailure = FinalFailure(failure, of: ended.means)
            return news + cameHome(hasJustRead: hasJustRead, now: now) + [.announceFailure(failure)]
        }
        phase = .ended(SessionEnd(held: held, error: failure, means: ended.means))
        return news + refuseAll(failure) + [.announceFailure(failure), .announce(.ended(failure))]
    }

    /// The instant of `wake` has come.
    mutating func wokeUp(now: Moment) -> [Action] {
        switch phase {
        case .refreshing, .waiting: patienceEnd = patienceEnd(of: waiters.members)
        default: break
        }
        guard let wakeTime else { return [] }
        guard now.instant >= wakeTime else { return waiters.isEmpty ? [] : [.wake(wakeTime)] }
        patienceEnd = nil
        switch phase {
        case .backingOff(let held, _):
            phase = .waiting(held)
            return cameHome(now: now)
        case .refreshing(var held?, var refresh) where held.isUsable(at: now.instant):
            held.ignoresLeeway = true
            refresh.isSilent = true
            phase = .refreshing(held, refresh)
            return proceed(now: now)
        case .waiting(var held?) where held.isUsable(at: now.instant):
            held.ignoresLeeway = true
            phase = .signedIn(held)
            return proceed(now: now)
        default: return []
        }
    }

    /// A refresh has ended without a result: it was outdated, or the store held a better credential.
    ///
    /// - Parameter retryAfter: What the server has asked for, too late to be waited for.
    mutating func refreshAbandoned(number: Int, retryAfter: Duration? = nil, now: Moment) -> [Action] {
        let isWaitedFor = setback?.overdueNumber == number
        guard end(number) != nil else { return [] }
        if isWaitedFor {
            // Nothing comes of it any more.
            let notBefore = now.instant.advanced(by: max(retryAfter ?? .zero, .zero))
            setback?.notBefore = notBefore
            if case .backingOff(let held, _) = phase {
                phase = .backingOff(held, until: notBefore)
                return wokeUp(now: now)
            }
        }
        return cameHome(now: now)
    }
}
