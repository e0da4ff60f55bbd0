@testable import AtomNetworking

// What the store should hold, and what must never happen to it.
extension ModelWorld {
    // MARK: Failed writes

    /// What the store holds, or would if every write had succeeded.
    func intended(_ stored: ModelCredential) -> ModelCredential {
        let isSpent = stored.inStore.map(sut.machine.spent.contains) ?? false
        return sut.machine.store.intended(over: stored.inStore, isSpent: isSpent).map { ModelCredential($0) }
            ?? ModelCredential()
    }

    /// What an exchange writes if nothing else comes of it.
    func unchanged(_ stored: ModelCredential) -> ModelCredential {
        sut.machine.intended(over: stored.inStore).map { ModelCredential($0) } ?? ModelCredential()
    }

    /// The store was read: what the session will write over is no news.
    mutating func learnFromStore(_ stored: ModelCredential) {
        if intended(stored) == stored { learn(stored) }
    }

    mutating func writingFailed(_ credential: ModelCredential, over old: ModelCredential) {
        missed = (credential, old)
        // What was there counts as overwritten, also if a sign-in has read it for the first time.
        if old != seen, !beneath.contains(old) { beneath.append(old) }
    }

    // MARK: The guarantees

    /// G1 among all processes that share the store: a refresh token is sent only
    /// by the process that holds the store, and only if it is the stored one, or
    /// should be, or if the store is behind.
    func checkStoreHolds(_ credential: ModelCredential) throws(Violation) {
        guard settings.hasStore, credential.refresh != 0, store.refresh != credential.refresh else { return }
        guard intended(store).refresh == credential.refresh || refreshTokens[store.refresh].isSpent else {
            throw Violation("a refresh token is sent that isn't the stored one (G1)")
        }
    }

    /// G7, G9: a failed write replaces nothing newer, and a late result is not
    /// written.
    func checkWrite(_ operation: ModelOperation) throws(Violation) {
        guard !tokens[operation.result.access].isDropped else {
            throw Violation("what an outdated refresh brought is written (G9)")
        }
        if operation.isGranted, !operation.isSaid { try checkNothingIsLost(to: operation.result) }
        guard !operation.isGranted, let missed, operation.result == missed.credential else { return }
        if case .write(let credential, _) = operation.kind, credential == operation.result { return }
        // What this process has overwritten itself is older, too.
        guard missed.over == operation.stored || beneath.contains(operation.stored) else {
            throw Violation("what could not be written is written over something newer (G7)")
        }
    }

    /// G0: a sign-out revokes what it has ended, and nothing else.
    func checkRevocation(of operation: ModelOperation, in tenure: Tenure, hasFailed: Bool) throws(Violation) {
        guard let (ended, account) = endings[tenure] else { return }
        let found = operation.stored.inStore
        var replaced = hasFailed || operation.isSaid || sut.bug == .signOutRevokesWhatItFinds ? found : nil
        if hasFailed, !sut.mayWrite(signedIn: nil, in: tenure) { replaced = nil }
        var machine = sut.machine
        // What a sign-in still overwrites is nobody's any more.
        if replaced == nil { replaced = machine.notReplaced(in: tenure, found: found) }
        let isLost = operation.isSaid || hasFailed || sut.machine.store.hasToWrite(again: false)
        for credential in ended.credentials(replacing: replaced).map({ ModelCredential($0) }) where !credential.isEmpty
        {
            guard operation.isSaid || isLost && credential != current || self.account(of: credential) == account else {
                throw Violation("a sign-out revokes what somebody else has signed in with (G0)")
            }
        }
    }

    /// G0: the result of a refresh is not written over somebody else's live
    /// refresh token, and a spent refresh token not over a live one.
    func checkNothingIsLost(to new: ModelCredential) throws(Violation) {
        let old = store
        guard old.refresh != 0, refreshTokens[old.refresh].isValid, new.refresh != old.refresh else { return }
        // A credential that was put back can't be told from one that the variable still returns.
        guard !beneath.contains(old) else { return }
        guard !new.isEmpty, account(of: new) == account(of: old) else {
            throw Violation("somebody's live refresh token is overwritten by another's (G0)")
        }
        guard refreshTokens[new.refresh].isValid else {
            throw Violation("a live refresh token is overwritten by a dead one (G0)")
        }
    }

    /// G1, G7, G9: what holds in every state.
    func checkStore() throws(Violation) {
        guard settings.hasStore else { return }
        guard inFlight.count <= 1, operations.count(where: { $0.isExclusive }) <= 1 else {
            throw Violation("two refreshes are on their way (G1)")
        }
        guard operations.isEmpty, let lastWord, store != lastWord else { return }
        guard intended(store) == lastWord, sut.machine.store.retryAt != nil else {
            throw Violation("the store doesn't hold what it should, and nobody will write it (G7, G9)")
        }
    }
}
