extension SessionMachine {
    /// The store was read and held this.
    ///
    /// - Parameter refused: The refresh token that is known to be dead, and
    ///   what the server said.
    mutating func observed(
        _ read: TokenCredential, refused: (refreshToken: String, AuthenticationError)? = nil, now: Moment
    ) -> [Action] {
        // What is read before every request, most of the time.
        if held?.isExactly(read) == true { return [] }
        guard let held else {
            guard !read.isEmpty, !replaced.contains(read) else { return [] }
            return adopt(read, refused: refused, now: now)
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
            return forget() + [.announce(.signedOut)]
        }
        return announcing(.credentialChanged, with: adopt(read, refused: refused, now: now))
    }

    /// The actions that followed from an event, and its announcement: after
    /// who waited has been told, before what has come of it since.
    func announcing(_ event: SessionEvent, with actions: [Action]) -> [Action] {
        let place = actions.firstIndex { if case .announce = $0 { true } else { false } } ?? actions.endIndex
        return actions[..<place] + [.announce(event)] + actions[place...]
    }

    /// The app signed in: what waits or is on its way belongs to the session
    /// before.
    ///
    /// - Parameter old: What the store held until now, if that is known.
    mutating func signedIn(
        _ credential: TokenCredential, replacing old: TokenCredential? = nil, now: Moment
    ) -> [Action] {
        let refusals = refuseAll(.signedOut(delivery: .notSent))
        generation += 1
        fruitless = []
        runningLoad = nil
        if let old, !old.isEmpty { replaced.insert(old, replacedBy: credential) }
        if let held, held.credential.accessToken != credential.accessToken {
            replaced.insert(held.credential, replacedBy: credential)
        }
        replaced.remove(credential)
        if let held, case .refreshing = phase, let running, !running.isOutdated,
            held.credential.accessToken == credential.accessToken,
            running.credential?.refreshToken == credential.refreshToken
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
    ///
    /// - Parameter old: What the store held until now, if that is known.
    mutating func signedOut(replacing old: TokenCredential? = nil) -> [Action] {
        if let old, !old.isEmpty { replaced.insert(old) }
        if let held { replaced.insert(held.credential) }
        return forget()
    }

    /// Whether what the app said by signing in or, if it is `nil`, out is still
    /// what the store should hold.
    ///
    /// The app may have signed in or out since; and a refresh of this very
    /// credential, on its way when the app signed in with it, has used it up.
    func mayWrite(signedIn credential: TokenCredential?, in generation: Int) -> Bool {
        generation == self.generation && credential.map { !replaced.contains($0) } ?? true
    }

    /// The store was read; `nil` says that it is empty.
    mutating func loaded(number: Int, _ credential: TokenCredential?, now: Moment) -> [Action] {
        guard runningLoad == number else { return [] }
        runningLoad = nil
        guard case .loading(let reason) = phase else { return [] }
        hasJustRead = true
        defer { hasJustRead = false }
        phase = reason.map { .ended($0) } ?? .signedOut
        let actions = observed(credential ?? .empty, now: now)
        switch phase {
        case .ended(let error):
            defer { isEndNews = false }
            return actions + refuseAll(error) + (isEndNews ? [.announce(.ended(error))] : [])
        case .signedOut:
            guard policy.acquires else { return actions + refuseAll(.missingCredential(delivery: .notSent)) }
            phase = .active
            return actions + proceed(now: now)
        default:
            return actions
        }
    }

    /// The store was read for somebody who wants to know who is signed in.
    ///
    /// - Parameter generation: The one in which that was asked.
    mutating func lookedUp(_ credential: TokenCredential?, in generation: Int, now: Moment) -> [Action] {
        guard generation == self.generation, isLoaded else { return [] }
        switch phase {
        case .loading: break
        case .signedOut: phase = .loading(unlessChanged: nil)
        case .ended(let error):
            phase = .loading(unlessChanged: error)
            isEndNews = false
        case .active, .refreshing, .storing, .backingOff: return []
        }
        let number = runningLoad ?? 0
        runningLoad = number
        return loaded(number: number, credential, now: now)
    }

    /// The store could not be read; the next request tries again.
    mutating func loadingFailed(number: Int, _ error: any Error) -> [Action] {
        guard runningLoad == number else { return [] }
        runningLoad = nil
        guard case .loading = phase else { return [] }
        return refuseAll(.credentialNotReadable(cause: error, delivery: .notSent))
    }

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
        hasJustRead = true
        defer { hasJustRead = false }
        let stored = stored ?? .empty
        if replaced.contains(stored) || stored.isEmpty && (held == nil || policy.isWithoutUser) {
            return (.goOn(held?.credential), [])
        }
        guard let held, held.credential.hasTokens(of: stored) else {
            // Somebody else has renewed the session, or ended it.
            self.running = nil
            phase = .active
            return (.stop, observed(stored, now: now))
        }
        let actions = observed(stored, now: now)
        guard !isGood(at: now.instant) else {
            self.running = nil
            phase = .active
            return (.stop, actions + proceed(now: now))
        }
        return (.goOn(self.held?.credential), actions)
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
    private mutating func adopt(
        _ credential: TokenCredential, refused: (refreshToken: String, AuthenticationError)? = nil, now: Moment
    ) -> [Action] {
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
        if let (refreshToken, failure) = refused, refreshToken == credential.refreshToken {
            held?.ignoresLeeway = true
            held?.doom = failure
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

    private mutating func forget() -> [Action] {
        generation += 1
        version += 1
        firstVersion = version
        fruitless = []
        runningLoad = nil
        running?.isOutdated = true
        // What is being written may land after the sign-out.
        if isStoring, let held { replaced.insert(held.credential) }
        held = nil
        failures = 0
        notBefore = nil
        lastFailure = nil
        phase = .signedOut
        return refuseAll(.signedOut(delivery: .notSent))
    }
}
