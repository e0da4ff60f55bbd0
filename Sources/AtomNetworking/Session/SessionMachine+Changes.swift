// What is read, signed in or out, and written.
extension SessionMachine {
    /// The place where the credential is kept was read, and held this.
    ///
    /// - Parameters:
    ///   - refused: The refresh token that is known to be dead, and what the server said.
    ///   - hasJustRead: Whether a store was read for this event; then the session can end without another look at it.
    mutating func observed(
        _ read: TokenCredential, refused: (refreshToken: String, AuthenticationError)? = nil,
        hasJustRead: Bool = false, now: Moment
    ) -> [Action] {
        switch store.note(read) {
        case .same: return []
        case .arrived:
            // What was read before this is out of date.
            version += 1
            return []
        case .old: return staleStore()
        case .news: break
        }
        guard !read.isEmpty, policy.canProve(read) else {
            return held == nil ? [] : forget() + [.announce(.signedOut)]
        }
        guard spent.contains(read) else {
            return use(read, refused: refused, hasJustRead: hasJustRead, now: now)
        }
        let stale = staleStore()
        guard let successor = spent.successor(of: read) else {
            // Its refresh token is useless; its access token may be good.
            let dead = (read.refreshToken, AuthenticationError.missingCredential(delivery: .notSent))
            return stale + use(read, refused: dead, hasJustRead: hasJustRead, now: now)
        }
        return stale + use(successor: successor, now: now)
    }

    /// Somebody has put back a credential whose refresh token was exchanged: the session uses the new one, and writes
    /// it before anything is signed with it.
    private mutating func use(successor: TokenCredential, now: Moment) -> [Action] {
        guard held?.credential.hasTokens(of: successor) != true else { return [] }
        leaveRefresh()
        phase = .storing(switched(to: successor, now: now))
        willWrite(successor)
        return [.announce(.credentialChanged), needsLoading ? .writeAgain : .set(successor, tokenNumber: tokenNumber)]
    }

    /// Whether a request that reads this would find somebody signed in.
    func isNews(_ read: TokenCredential) -> Bool {
        !read.isEmpty && policy.canProve(read) && store.judge(read) == .news
    }

    /// What the store holds, or would hold if every write had succeeded; a sign-in or sign-out writes for itself.
    func intended(over stored: TokenCredential?) -> TokenCredential? {
        guard hasToWriteAgain else { return stored }
        return store.intended(over: stored, isSpent: stored.map(spent.contains) ?? false)
    }

    /// The same, when a refresh gives its place to a sign-in or sign-out: what that has still to write.
    func wanted(over stored: TokenCredential?) -> TokenCredential? {
        guard case .first? = store.outstanding, let last = store.last else { return intended(over: stored) }
        return last.isEmpty ? nil : last
    }

    /// A refresh has left this in the store: a sign-in need not write it over what somebody has put there since.
    mutating func left(_ written: TokenCredential?, now: Moment) -> [Action] {
        guard case .first(let tenure)? = store.outstanding, let last = store.last, let written, !written.isEmpty,
            last.hasTokens(of: written)
        else { return [] }
        return wrote(last, in: tenure) + stored(tokenNumber: tokenNumber, now: now)
    }

    /// A credential is about to be written over the one that it replaces.
    ///
    /// - Parameter hasRead: Whether the store was read for it. Otherwise it takes the
    ///   place of what is outstanding, and replaces what that would have replaced.
    mutating func willWrite(_ credential: TokenCredential, hasRead: Bool = true) {
        store.willWrite(credential, isPending: !needsLoading)
        guard needsLoading else { return }
        let isOverOld = hasRead || store.outstanding == nil || store.outstanding == .overOld
        store.outstanding = isOverOld ? .overOld : .overAnything
    }

    /// What is about to be written replaces this, which may not have been read before.
    mutating func overwrites(_ found: TokenCredential?) {
        if needsLoading { store.overwrites(found ?? .empty) }
    }

    private mutating func staleStore() -> [Action] {
        guard !isStoring, store.outstanding == nil, !hasAnnouncedStaleStore else { return [] }
        hasAnnouncedStaleStore = true
        return [.announceStaleStore]
    }

    /// Announces an event after the waiters are told, and before what followed from it.
    func announcing(_ event: SessionEvent, with actions: [Action]) -> [Action] {
        let place = actions.firstIndex { if case .announce = $0 { true } else { false } } ?? actions.endIndex
        return actions[..<place] + [.announce(event)] + actions[place...]
    }

    // MARK: The app

    /// The app has signed in: all waiters and the running refresh belong to the old session.
    ///
    /// - Parameter read: What the app's variable held until now.
    /// - Returns: The credential that the session uses and that has to be
    ///   written: this one, or the one that a refresh has exchanged it for.
    mutating func signedIn(
        _ credential: TokenCredential, read: TokenCredential? = nil, now: Moment
    ) -> (TokenCredential, [Action]) {
        if let read { _ = store.note(read) }
        let credential = spent.successor(of: credential) ?? credential
        let refusals = refuseAll(.signedOut(delivery: .notSent))
        tenure.signInChanges(personLeaves: mayBeSomebodys(read))
        willReplace(by: credential)
        refusedRefreshToken = nil
        fruitless = []
        // If this credential is being refreshed, that goes on: its refresh token is being spent, and only the new
        // credential will be of use.
        var signedIn = HeldCredential(signedIn: credential, now: now, policy: policy)
        switch phase {
        case .storing(let held) where held.credential.hasTokens(of: credential):
            (signedIn.number, signedIn.isUnproven) = (held.number, held.isUnproven)
            self.held = kept(signedIn)
            return (credential, refusals + [.announce(.signedIn)])
        case .refreshing(let held?, _) where held.credential.hasTokens(of: credential):
            self.held = install(signedIn)
            return (credential, refusals + [.announce(.signedIn)])
        default: break
        }
        let adopted = adopt(credential, as: signedIn, now: now)
        return (credential, refusals + announcing(.signedIn, with: adopted))
    }

    /// The person of the session has signed in for more: it goes on with these tokens, as after a refresh.
    ///
    /// - Parameters:
    ///   - tenure: Whose the session was when that began.
    ///   - read: What is kept now; `nil` if it can't be read.
    /// - Returns: The number of the new access token, as after a refresh; `nil` if somebody has signed in or out since.
    mutating func continued(
        with credential: TokenCredential, of tenure: Tenure, read: TokenCredential?, now: Moment
    ) -> (tokenNumber: Int?, [Action]) {
        let news = read.map { observed($0, now: now) } ?? []
        guard held != nil, tenure.isSameSignIn(as: self.tenure), tenure.isSamePerson(as: self.tenure) else {
            return (nil, news)
        }
        refusedRefreshToken = nil
        fruitless = []
        leaveRefresh()
        phase = .storing(install(HeldCredential(signedIn: credential, now: now, policy: policy)))
        willWrite(credential)
        return (tokenNumber, needsLoading ? news : news + [.set(credential, tokenNumber: tokenNumber)])
    }

    /// Whether somebody may have been signed in before a sign-in.
    private func mayBeSomebodys(_ read: TokenCredential?) -> Bool {
        if held != nil { return true }
        if let read { return !read.isEmpty }
        if case .signedOut = phase { return false }
        return true
    }

    /// The app has signed out; its variable held this until now.
    mutating func signedOut(read: TokenCredential? = nil) -> (EndedSession, [Action]) {
        let ended = EndedSession(held: held?.credential, read: read, store: store)
        if let read { _ = store.note(read) }
        let actions = forget()
        willReplace(by: .empty)
        return (ended, actions + [.announce(.signedOut)])
    }

    /// The credential of a sign-in, or an empty one, is about to be written over whatever is kept.
    private mutating func willReplace(by credential: TokenCredential) {
        store.willWrite(credential, isPending: !needsLoading)
        if needsLoading { store.outstanding = .first(tenure) }
    }

    /// Whether the store should still get the credential of a sign-in, or be emptied by a sign-out if it is `nil`.
    ///
    /// It should not if the app has signed in or out since, or if a refresh of
    /// this credential, which was running during the sign-in, has replaced it.
    func mayWrite(signedIn credential: TokenCredential?, in tenure: Tenure) -> Bool {
        guard tenure.isSameSignIn(as: self.tenure) else { return false }
        guard let credential else { return held == nil }
        return store.isFirst(in: tenure) && held?.credential.hasTokens(of: credential) == true
    }

    /// The app's variable was set to this, or was not set after all.
    mutating func wasSet(_ credential: TokenCredential) {
        store.didSet(credential)
    }

    /// What the app's variable has to be set to again, because it was set to something older last; `nil` if it was not.
    mutating func nextToSet(after credential: TokenCredential) -> TokenCredential? {
        guard let last = store.last, !last.hasTokens(of: credential) else { return nil }
        store.willSetAgain()
        return last
    }

    // MARK: Writing to the store

    /// The write of a sign-in or sign-out has ended.
    ///
    /// - Parameters:
    ///   - found: What the store held before, if it could be read.
    ///   - failure: Why the store has not taken it; `nil` if it has.
    mutating func replaced(
        by credential: TokenCredential?, in tenure: Tenure, found: Result<TokenCredential?, any Error>,
        failure: AuthenticationError?, now: Moment
    ) -> [Action] {
        guard let failure else {
            let actions = wrote(credential ?? .empty, in: tenure)
            // It may be what a refresh has committed to: the sign-in has written that, too.
            return store.outstanding == nil ? actions + stored(tokenNumber: tokenNumber, now: now) : actions
        }
        guard mayWrite(signedIn: credential, in: tenure) else {
            notReplaced(in: tenure)
            return [.announce(.credentialNotStored(failure))]
        }
        store.outstanding = .overAnything
        if case .success(let found) = found {
            store.overwrites(found ?? .empty)
            store.outstanding = .overOld
        }
        guard !isStoring else { return notStored(tokenNumber: tokenNumber, failure, now: now) }
        _ = writeFailed(failure, at: now)
        return [.announce(.credentialNotStored(failure))]
    }

    /// The write of a sign-in or sign-out is not wanted any more.
    ///
    /// - Returns: What the store holds, if the sign-in that has overtaken it still writes over that.
    @discardableResult
    mutating func notReplaced(in tenure: Tenure, found: TokenCredential? = nil) -> TokenCredential? {
        store.forgetFirst(in: tenure)
        guard case .first? = store.outstanding, let last = store.last, !last.isEmpty,
            found?.hasTokens(of: last) == false
        else { return nil }
        return found
    }

    /// The store has taken a credential; the app is told if it had not before.
    mutating func wrote(_ credential: TokenCredential, in tenure: Tenure) -> [Action] {
        store.wrote(credential, in: tenure) ? [.announce(.credentialStored)] : []
    }

    /// The outstanding write has ended.
    ///
    /// - Parameters:
    ///   - result: What the store holds now: what it should, or something newer.
    ///   - intended: What was written, unless the store held something newer.
    ///   - tenure: In which the write began; a sign-in or sign-out since then writes its own.
    mutating func wroteAgain(
        _ result: Result<TokenCredential?, any Error>, of intended: TokenCredential? = nil, in tenure: Tenure,
        now: Moment
    ) -> [Action] {
        guard tenure.isSameSignIn(as: self.tenure), hasToWriteAgain, let last = store.last else { return [] }
        switch result {
        case .success(let stored) where (stored ?? .empty).hasTokens(of: last):
            return wrote(last, in: tenure) + self.stored(tokenNumber: tokenNumber, now: now)
        case .success(let stored?) where intended?.hasTokens(of: stored) == true && store.judge(stored) == .old:
            // Something newer has been committed meanwhile, and has a turn of its own.
            return []
        case .success(let stored):
            store.forgetOutstanding()
            let news = observed(stored ?? .empty, now: now)
            // The waiters go on, unless somebody else's credential has replaced this one.
            return news + self.stored(tokenNumber: tokenNumber, now: now)
        case .failure(let error):
            let failure = AuthenticationError.credentialNotStored(cause: error, delivery: .notSent)
            guard !isStoring else { return notStored(tokenNumber: tokenNumber, failure, now: now) }
            return writeFailed(failure, at: now)
        }
    }

    /// The outstanding write has failed: the app is told the first time, and when it is given up.
    mutating func writeFailed(_ failure: AuthenticationError, at now: Moment) -> [Action] {
        let isFirst = store.retryAt == nil
        let isTriedAgain = store.writeFailed(store.outstanding ?? .overOld, failure, at: now.instant)
        return isFirst || !isTriedAgain ? [.announce(.credentialNotStored(failure))] : []
    }

    /// Whether there is a write to be tried again; a sign-in or sign-out writes for itself.
    var hasToWriteAgain: Bool { store.outstanding == .overOld || store.outstanding == .overAnything }

    // MARK: Reading the store

    /// The store was read; `nil` if it is empty.
    mutating func loaded(number: Int, _ credential: TokenCredential?, now: Moment) -> [Action] {
        guard case .loading(number, let end) = phase else { return [] }
        return decide(end, by: credential, now: now)
    }

    /// Uses what the store holds, or ends the session if that is nothing new.
    private mutating func decide(_ end: SessionEnd?, by credential: TokenCredential?, now: Moment) -> [Action] {
        phase = .loading(number: nil, end: end)
        let stored = credential ?? .empty
        let isAnnounced = end?.isAnnounced ?? true
        let isEmptied = stored.isEmpty && held != nil && isAnnounced && store.judge(stored) == .news
        let news = isEmptied ? emptied() : observed(stored, hasJustRead: true, now: now)
        if case .loading = phase {
            if var end {
                end.isAnnounced = true
                phase = .ended(end)
                // Those whose service can get a credential without a refresh token go on.
                let refused = waiters.removeAll { end.means.acquires || !$0.means.acquires || $0.isBound }
                    .map { $0.element.waiter }
                return news + (refused.isEmpty ? [] : [.refuse(refused, end.error)])
                    + (isAnnounced ? [] : [.announce(.ended(end.error))]) + proceed(hasJustRead: true, now: now)
            }
            phase = .signedOut
        }
        guard case .signedOut = phase else { return news }
        guard waiters.members.contains(where: { $0.means.acquires }) else {
            return news + refuseAll(.missingCredential(delivery: .notSent))
        }
        return news + proceed(hasJustRead: true, now: now)
    }

    /// The store of an ended session was emptied: the requests that came after the end don't belong to that session.
    private mutating func emptied() -> [Action] {
        _ = store.note(.empty)
        let newcomers = waiters.removeAll { $0.isNew }
        let actions = forget()
        for (ticket, newcomer) in newcomers { waiters.enqueue(newcomer, ticket: ticket) }
        return actions + [.announce(.signedOut)]
    }

    /// The store was read because the app asked for the session's state in this tenure.
    mutating func lookedUp(_ credential: TokenCredential?, in tenure: Tenure, now: Moment) -> [Action] {
        guard tenure.isSameSignIn(as: self.tenure), needsLoading else { return [] }
        switch phase {
        // A load that is running would find nothing newer.
        case .loading(_, let end): return decide(end, by: credential, now: now)
        case .signedOut: return decide(nil, by: credential, now: now)
        case .ended(let end): return decide(end, by: credential, now: now)
        // Nobody is signed in as long as a provider returns nothing.
        case .backingOff(nil, _): return observed(credential ?? .empty, now: now)
        case .signedIn, .backingOff, .refreshing, .waiting, .storing: return []
        }
    }

    /// The store could not be read; the next request tries again.
    mutating func loadingFailed(number: Int, _ error: any Error) -> [Action] {
        guard case .loading(number, let end) = phase else { return [] }
        phase = .loading(number: nil, end: end)
        return refuseAll(.credentialNotReadable(cause: error, delivery: .notSent))
    }

    // MARK: Going by what was read

    /// Uses a credential that somebody else has stored.
    private mutating func use(
        _ read: TokenCredential, refused: (refreshToken: String, AuthenticationError)?, hasJustRead: Bool,
        now: Moment
    ) -> [Action] {
        guard let held else { return adopt(read, refused: refused, hasJustRead: hasJustRead, now: now) }
        guard held.credential != read else { return [] }
        if read.accessToken == held.credential.accessToken {
            return sameAccessToken(read, hasJustRead: hasJustRead, now: now)
        }
        let actions = adopt(read, refused: refused, hasJustRead: hasJustRead, now: now)
        return announcing(.credentialChanged, with: actions)
    }

    /// Somebody else has stored another expiry or refresh token for the same access token.
    private mutating func sameAccessToken(_ read: TokenCredential, hasJustRead: Bool, now: Moment) -> [Action] {
        guard var held else { return [] }
        let isRenewed = read.refreshToken != held.credential.refreshToken
        version += 1
        held.readAgain(read, now: now, policy: policy)
        if isRenewed {
            held.finalFailure = nil
            leaveRefresh()
        }
        let isGood = held.isGood(at: now.instant, by: .refreshToken)
        switch phase {
        case .ended where isRenewed || isGood, .loading where hasJustRead && (isRenewed || isGood),
            .backingOff where isGood:
            phase = .signedIn(held)
        default: self.held = held
        }
        return proceed(hasJustRead: hasJustRead, now: now)
    }

    /// Uses a credential in place of the one that is held.
    ///
    /// - Parameter signedIn: What is known about it if the app signs in with it: nothing of what was known before.
    private mutating func adopt(
        _ credential: TokenCredential, as signedIn: HeldCredential? = nil,
        refused: (refreshToken: String, AuthenticationError)? = nil, hasJustRead: Bool = false, now: Moment
    ) -> [Action] {
        leaveRefresh()
        // A refresh of it that was left behind is this person's after all.
        forEachLeftRefresh(of: credential.refreshToken) { $0.isSignedOut = false }
        var next =
            if let held, held.credential.accessToken == credential.accessToken {
                signedIn.map { install($0) } ?? kept(held.heldAgain(credential, now: now, policy: policy))
            } else {
                switched(to: credential, as: signedIn, now: now)
            }
        if let (refreshToken, failure) = refused, refreshToken == credential.refreshToken {
            next.ignoresLeeway = true
            next.finalFailure = FinalFailure(failure, of: .refreshToken)
        }
        phase = .signedIn(next)
        return proceed(hasJustRead: hasJustRead, now: now)
    }

    /// Another access token, with what is known about it.
    private mutating func switched(
        to credential: TokenCredential, as signedIn: HeldCredential? = nil, now: Moment
    ) -> HeldCredential {
        // What a store holds at first takes nobody's place: requests have waited for it.
        if lastTokenNumber > 0 || !needsLoading { tenure.tokenIsTakenOver() }
        if held != nil { tenure.personLeaves() }
        // What another process stores is most often the same person's.
        if !needsLoading { fruitless = [] }
        if let signedIn { return install(signedIn) }
        guard var again = known.find(credential.accessToken)?.heldAgain(credential, now: now, policy: policy) else {
            return install(HeldCredential(read: credential, now: now, policy: policy))
        }
        guard let held else {
            // Somebody has signed in with it, who says by that that it is good.
            again.isRejected = false
            return install(again)
        }
        // A token that is known to be dead stays dead, whoever puts it back.
        known.insert(held)
        return kept(again)
    }

    /// Changes the refreshes with a refresh token that the session doesn't wait for.
    private mutating func forEachLeftRefresh(of refreshToken: String, _ change: (inout SessionRefresh) -> Void) {
        func isOne(_ refresh: SessionRefresh) -> Bool {
            !refreshToken.isEmpty && refresh.credential?.refreshToken == refreshToken
        }
        if var refresh = leftBehind, isOne(refresh) {
            change(&refresh)
            leftBehind = refresh
        }
        for index in overdue.indices where isOne(overdue[index]) { change(&overdue[index]) }
    }

    /// An access token that was not held before.
    mutating func install(_ credential: HeldCredential) -> HeldCredential {
        if let held { known.insert(held) }
        lastTokenNumber += 1
        var credential = credential
        credential.number = lastTokenNumber
        return kept(credential)
    }

    /// A credential that takes the place of the one that is held, with all failures forgotten.
    private mutating func kept(_ credential: HeldCredential) -> HeldCredential {
        version += 1
        // A server that takes a refresh token once may be answering the one before.
        let isOverdue = overdue.contains { $0.credential?.refreshToken == credential.credential.refreshToken }
        if !isOverdue || setback?.overdueNumber == nil { setback = nil }
        hasAnnouncedStaleStore = false
        return credential
    }

    /// Nobody is signed in any more.
    private mutating func forget() -> [Action] {
        tenure.signInChanges(personLeaves: true)
        version += 1
        fruitless = []
        refusedRefreshToken = nil
        setback = nil
        if let held {
            known.insert(held)
            // What a refresh that was left behind brings would have been this person's again.
            for refreshToken in [held.credential.refreshToken] + spent.predecessors(of: held.credential) {
                forEachLeftRefresh(of: refreshToken) { $0.isSignedOut = true }
            }
            spent.forget(held.credential)
        }
        leaveRefresh(isSignedOut: true)
        phase = .signedOut
        return refuseAll(.signedOut(delivery: .notSent))
    }
}
