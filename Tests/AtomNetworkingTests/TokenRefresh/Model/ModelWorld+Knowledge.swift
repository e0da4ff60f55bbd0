@testable import AtomNetworking

// What the session knows, by rules of the model's own.
extension ModelWorld {
    /// The store was read: what differs from what was read or written there last
    /// is news.
    mutating func learn(_ read: ModelCredential) {
        if read == seen {
            // The store holds what was written by now.
            beneath = []
            return
        }
        // Not written yet, or being written.
        guard !beneath.contains(read), !pending.contains(read) else { return }
        seen = read
        beneath = []
        guard !read.isEmpty else {
            if current != nil { forget() }
            return
        }
        guard let successor = refreshTokens[read.refresh].successor else { return goBy(read) }
        // Its successor replaces it, and is written before anything is signed with it.
        guard current?.hasTokens(of: successor) != true else { return }
        tokens[successor.access].isWritten = false
        tokens[successor.access].isGranted = true
        willWrite(successor)
        goBy(successor)
    }

    /// The store was read for the waiters.
    ///
    /// If the session had ended before they came, they don't belong to it.
    mutating func learnAfterTheEnd(_ read: ModelCredential) {
        var hasEnded = false
        if case .loading(_, let end?) = sut.machine.phase { hasEnded = end.isAnnounced }
        let before = generation
        learnFromStore(read)
        guard hasEnded, generation != before else { return }
        for index in requests.indices where requests[index].isWaiting && requests[index].isNew {
            requests[index].ownGeneration = generation
        }
    }

    /// The successor of a credential: a refresh token that a refresh of ours has
    /// exchanged is never sent again.
    func successor(of credential: ModelCredential) -> ModelCredential {
        refreshTokens[credential.refresh].successor ?? credential
    }

    /// The session uses what somebody has put into the store.
    private mutating func goBy(_ read: ModelCredential) {
        guard read != current else { return }
        let isSameAccess = read.access == current?.access
        if !isSameAccess || read.refresh != current?.refresh { outdateRefresh() }
        if current == nil {
            // Whoever comes when nobody is signed in says that the token is good.
            tokens[read.access].isRejected = false
            tokens[read.access].signIns += 1
        }
        current = read
        see(read, life: read.expiresAt - now, from: now)
        guard !isSameAccess else { return }
        belongsTo(read)
        if !settings.hasStore { fruitless = [] }
        let pause = pause(for: read)
        refreshTokens[read.refresh].isKnownRefused = false
        isAcquisitionRefused = false
        forgetFailures()
        if let pause { (failures, notBefore, pausesFor) = pause }
    }

    /// How long the next refresh of this credential waits for the answer to an overdue one.
    func pause(for credential: ModelCredential) -> (Int, Int, Int?)? {
        guard let pausesFor, overdue.contains(where: { $0.credential.refresh == credential.refresh }) else {
            return nil
        }
        return (failures, notBefore, pausesFor)
    }

    /// A refresh of this credential is the person's who uses it, even if somebody has signed out meanwhile.
    mutating func belongsTo(_ credential: ModelCredential) {
        guard credential.refresh != 0 else { return }
        for index in inFlight.indices where inFlight[index].credential.refresh == credential.refresh {
            inFlight[index].isSignedOut = false
        }
        for index in overdue.indices where overdue[index].credential.refresh == credential.refresh {
            overdue[index].isSignedOut = false
        }
    }

    mutating func outdateRefresh() {
        for index in inFlight.indices { inFlight[index].isOutdated = true }
    }

    /// Nobody is signed in any more.
    mutating func forget() {
        func isOfCurrent(_ refresh: Int) -> Bool {
            guard refresh != 0, let current else { return false }
            return refresh == current.refresh || refreshTokens[refresh].successor?.refresh == current.refresh
        }
        for index in inFlight.indices
        where !inFlight[index].isOutdated || isOfCurrent(inFlight[index].credential.refresh) {
            inFlight[index].isSignedOut = true
        }
        for index in overdue.indices where isOfCurrent(overdue[index].credential.refresh) {
            overdue[index].isSignedOut = true
        }
        for index in refreshTokens.indices where refreshTokens[index].successor == current {
            refreshTokens[index].successor = nil
        }
        current = nil
        isAcquisitionRefused = false
        newGeneration()
    }

    /// A refresh has exchanged a refresh token.
    mutating func spend(_ old: ModelCredential, for new: ModelCredential, isWanted: Bool) {
        guard old.refresh != 0, old.refresh != new.refresh else { return }
        for index in refreshTokens.indices where refreshTokens[index].successor?.refresh == old.refresh {
            refreshTokens[index].successor = isWanted ? new : nil
        }
        refreshTokens[old.refresh].isSpent = true
        refreshTokens[old.refresh].successor = isWanted ? new : nil
    }

    /// Whether an outdated refresh brings the successor of the session's refresh
    /// token, because somebody has put that token back meanwhile.
    func isSuccessorOfCurrent(_ refresh: Refresh) -> Bool {
        guard refresh.credential.refresh != 0, !refresh.isSignedOut, let current else { return false }
        return settings.rotates
            ? current.refresh == refresh.credential.refresh
            : refresh.isOverdue && current.hasTokens(of: refresh.credential)
    }

    /// The session is about to write.
    mutating func willWrite(_ credential: ModelCredential) {
        if !settings.hasStore { pending.append(credential) }
        if let seen { beneath.append(seen) }
        seen = credential
        beneath.removeAll { $0 == credential }
    }

    /// The app's variable was set, or was not after all.
    mutating func wasSet(_ credential: ModelCredential) {
        guard let index = pending.firstIndex(of: credential) else { return }
        pending.remove(at: index)
        if credential != seen { beneath.append(credential) }
        sut.wasSet(credential.real)
    }

    /// The store has taken it.
    mutating func hasWritten(_ credential: ModelCredential) {
        if credential == seen { beneath = [] }
    }

    /// The expiry is computed when a pair of access token and expiry is first seen.
    ///
    /// - Parameters:
    ///   - isIssued: Whether it has just been issued: it is tried though its life is over.
    ///   - isGranted: Whether a refresh has brought it.
    mutating func see(
        _ credential: ModelCredential, life: Int, from start: Int, isIssued: Bool = false, isGranted: Bool = false
    ) {
        guard isIssued || tokens[credential.access].expiresAtAsRead != credential.expiresAt else { return }
        tokens[credential.access].expiresAtAsRead = credential.expiresAt
        tokens[credential.access].expiry = start + max(life, 0)
        tokens[credential.access].due = start + max(life, 0) - min(30, max(life, 0) / 4)
        guard isIssued, now >= tokens[credential.access].expiry else { return }
        let isForEver = isGranted && life <= 0 || credential.refresh == 0
        let end = isForEver ? Int.max : now + 10
        (tokens[credential.access].expiry, tokens[credential.access].due) = (end, end)
    }

    /// How long a request waits for a refresh while its token is valid: half of its time, or of the token's.
    func patienceEnd(of request: ModelRequest) -> Int? {
        guard request.isWaiting, let current, !isDead, !sut.machine.isStoring, sut.machine.runningLoad == nil else {
            return nil
        }
        let end = min(request.deadline, tokens[current.access].expiry)
        return request.waitsSince + (max(end - request.waitsSince, 0) + 1) / 2
    }

    var isPatienceOver: Bool {
        !inFlight.isEmpty && requests.contains { patienceEnd(of: $0).map { now >= $0 } ?? false }
    }

    mutating func newGeneration() {
        generation += 1
        fruitless = []
        forgetFailures()
        outdateRefresh()
    }

    mutating func countIfFruitless(_ access: Int) {
        guard tokens[access].isGranted, !tokens[access].isAccepted, !tokens[access].isCounted else { return }
        tokens[access].isCounted = true
        fruitless.append(now)
    }

    private mutating func forgetFailures() {
        hasFailedEarly = false
        failures = 0
        notBefore = Int.min
        pausesFor = nil
    }

    var isDead: Bool { current.map { $0.access == 0 || tokens[$0.access].isDead(at: now) } ?? true }

    var isGood: Bool {
        guard let current, !isDead else { return false }
        // A token that can't be refreshed is used until it expires.
        let isRenewable = hasUsefulRefreshToken || settings.renewal != .refreshToken
        return hasFailedEarly || !isRenewable || now < tokens[current.access].due
    }

    /// Whether the token is in the store, or doesn't have to be put there.
    func isStored(_ access: Int) -> Bool { !tokens[access].isGranted || tokens[access].isWritten }

    var hasUsefulRefreshToken: Bool {
        current.map { $0.refresh != 0 && !refreshTokens[$0.refresh].isSpent } ?? false
    }

    /// When a refresh may start after fruitless ones.
    var fruitlessPauseEnd: Int { fruitlessInWindow < 2 ? .min : (fruitless.last ?? 0) + 30 / settings.fruitlessLimit }

    var fruitlessInWindow: Int { fruitless.count { $0 + 30 > now } }
}
