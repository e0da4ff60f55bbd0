extension SessionMachine {
    /// The store was read and held this.
    mutating func observed(_ read: TokenCredential, now: Moment) -> [Action] {
        guard let held else {
            guard !read.isEmpty, !replaced.contains(read) else { return [] }
            return adopt(read, now: now)
        }
        if replaced.contains(read) {
            guard !isStoring, !hasAnnouncedStaleStore else { return [] }
            hasAnnouncedStaleStore = true
            return [.announceStaleStore]
        }
        if read.accessToken == held.credential.accessToken, !read.isEmpty {
            return sameAccessToken(read, now: now)
        }
        if read.isEmpty {
            return forget(phase: .signedOut)
        }
        return adopt(read, now: now)
    }

    /// The app signed in: what waits or is on its way belongs to the session
    /// before.
    mutating func signedIn(_ credential: TokenCredential, now: Moment) -> [Action] {
        let refusals = refuseAll(.signedOut(delivery: .notSent))
        generation += 1
        fruitless = []
        if let held, held.credential.accessToken != credential.accessToken {
            replaced.insert(held.credential, replacedBy: credential)
        }
        replaced.remove(credential)
        if let held, case .refreshing = phase, let running, !running.isOutdated,
            held.credential.accessToken == credential.accessToken,
            running.credential.refreshToken == credential.refreshToken
        {
            // The session is at this credential already and its refresh token is being spent: what comes of it
            // is the only credential that will be worth anything.
            install(held.signedInAgain(credential, now: now, policy: policy), isSameToken: true)
            return refusals
        }
        let actions = adopt(credential, now: now)
        return refusals + actions
    }

    /// The app signed out.
    mutating func signedOut() -> [Action] {
        if let held { replaced.insert(held.credential) }
        return forget(phase: .signedOut)
    }

    /// The stored credential was read; `nil` says that there is none.
    mutating func loaded(_ credential: TokenCredential?, now: Moment) -> [Action] {
        guard case .loading = phase else { return [] }
        guard let credential, !credential.isEmpty else {
            phase = .signedOut
            return refuseAll(.missingCredential(delivery: .notSent))
        }
        return adopt(credential, now: now)
    }

    /// The stored credential could not be read; the next request tries again.
    mutating func loadingFailed(_ error: any Error) -> [Action] {
        guard case .loading = phase else { return [] }
        phase = .loading(isStarted: false)
        return refuseAll(.refreshFailed(cause: error, retryAt: nil, delivery: .notSent))
    }

    /// The store has another expiry or refresh token for the same access token.
    private mutating func sameAccessToken(_ read: TokenCredential, now: Moment) -> [Action] {
        guard var held, read != held.credential else { return [] }
        let isRenewed = read.refreshToken != held.credential.refreshToken
        version += 1
        held.readAgain(read, now: now, policy: policy)
        if isRenewed {
            held.doom = nil
            running?.isOutdated = true
        }
        self.held = held
        switch phase {
        case .ended where isRenewed || isGood(at: now.instant), .backingOff where isGood(at: now.instant):
            phase = .active
        default: break
        }
        return proceed(now: now)
    }

    /// Goes by a credential that somebody else has put there.
    private mutating func adopt(_ credential: TokenCredential, now: Moment) -> [Action] {
        running?.isOutdated = true
        // A token known to be dead stays dead, should the store go back to it.
        // What is being written may land after what has replaced it.
        if let held, isStoring || !held.isUsable(at: now.instant) {
            replaced.insert(held.credential, replacedBy: credential)
        }
        if let held, held.credential.accessToken == credential.accessToken {
            install(held.signedInAgain(credential, now: now, policy: policy), isSameToken: true)
        } else {
            install(HeldCredential(read: credential, now: now, policy: policy))
        }
        phase = .active
        return proceed(now: now)
    }

    /// - Parameter isSameToken: Whether the access token stays, so that a 401
    ///   for it is not a late one.
    mutating func install(_ credential: HeldCredential, isSameToken: Bool = false) {
        version += 1
        if !isSameToken { firstVersion = version }
        held = credential
        failures = 0
        notBefore = nil
        lastFailure = nil
        hasAnnouncedStaleStore = false
    }

    private mutating func forget(phase next: Phase) -> [Action] {
        generation += 1
        version += 1
        firstVersion = version
        fruitless = []
        running?.isOutdated = true
        // What is being written may land after the sign-out.
        if isStoring, let held { replaced.insert(held.credential) }
        held = nil
        failures = 0
        notBefore = nil
        lastFailure = nil
        phase = next
        return refuseAll(.signedOut(delivery: .notSent))
    }
}
