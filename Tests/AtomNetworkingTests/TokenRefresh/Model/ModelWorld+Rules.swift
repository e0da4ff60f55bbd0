@testable import AtomNetworking

// What the session knows, by rules of the model's own.
extension ModelWorld {
    /// Somebody read the store and told the session.
    mutating func learn(_ read: ModelCredential) {
        guard !read.isEmpty else {
            if let old = current {
                // What is being written may land after the sign-out.
                if isBeingWritten(old) { retire(old) }
                current = nil
                isAcquisitionRefused = false
                newGeneration()
            }
            return
        }
        guard !tokens[read.access].isGone, !refreshTokens[read.refresh].isGone else { return }
        guard let known = current, known.access == read.access else {
            if let current, tokens[current.access].isDead(at: now) || isBeingWritten(current) {
                retire(current, by: read)
            }
            for index in inFlight.indices { inFlight[index].isOutdated = true }
            current = read
            isAcquisitionRefused = false
            forgetFailures()
            tokens[read.access].isSeen = false
            see(read, life: read.expiresAt - now, from: now)
            return
        }
        guard read != known else { return }
        if read.refresh != known.refresh {
            for index in inFlight.indices { inFlight[index].isOutdated = true }
        }
        if read.expiresAt != known.expiresAt {
            tokens[read.access].isSeen = false
            see(read, life: read.expiresAt - now, from: now)
        }
        current = read
    }

    private func isBeingWritten(_ credential: ModelCredential) -> Bool {
        writes.contains { $0.credential == credential }
    }

    /// Expiry is fixed when a token is first seen.
    mutating func see(_ credential: ModelCredential, life: Int, from start: Int) {
        guard !tokens[credential.access].isSeen else { return }
        tokens[credential.access].isSeen = true
        tokens[credential.access].expiry = start + max(life, 0)
        tokens[credential.access].due = start + max(life, 0) - min(30, max(life, 0) / 4)
    }

    /// The session does away with it, and never goes back.
    mutating func retire(_ old: ModelCredential?, by new: ModelCredential? = nil) {
        guard let old else { return }
        tokens[old.access].isGone = true
        if old.refresh != 0, old.refresh != new?.refresh { refreshTokens[old.refresh].isGone = true }
    }

    mutating func newGeneration() {
        generation += 1
        fruitless = []
        forgetFailures()
        for index in inFlight.indices { inFlight[index].isOutdated = true }
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
    }

    var isDead: Bool { current.map { $0.access == 0 || tokens[$0.access].isDead(at: now) } ?? true }

    var isGood: Bool {
        guard let current, !isDead else { return false }
        // What can't be refreshed is used to its end.
        let isRenewable = current.refresh != 0 || settings.renewal != .refreshToken
        return hasFailedEarly || !isRenewable || now < tokens[current.access].due
    }

    private var fruitlessInWindow: Int { fruitless.count { $0 + 30 > now } }
}

// The guarantees.
extension ModelWorld {
    /// G2, G3, G7, G9.
    func checkStart(_ index: Int, _ access: Int) throws(Violation) {
        let request = requests[index]
        guard let current, access == current.access else {
            throw Violation("request \(index) starts with a token that isn't the session's (G2)")
        }
        guard !tokens[access].isDead(at: now) else { throw Violation("request \(index) starts with a dead token (G2)") }
        guard request.ownGeneration == generation else {
            throw Violation("request \(index) is signed for another generation (G9)")
        }
        guard !tokens[access].isGranted || tokens[access].isWritten else {
            throw Violation("request \(index) starts before its token is stored (G7)")
        }
        for other in requests where other.joined < request.joined {
            if other.isWaiting || other.state == .inSlotQueue {
                throw Violation("request \(index) overtakes another (G3)")
            }
        }
    }

    /// G1, G6, G8, G10: whether a refresh begins.
    mutating func checkRefresh() throws(Violation) {
        guard inFlight.isEmpty else { throw Violation("a second refresh is sent (G1)") }
        guard !isGood else { throw Violation("a refresh is sent though the token is good (G6, G8)") }
        guard now >= notBefore else { throw Violation("a refresh is sent before its time (G8)") }
        if isDead, let current { countIfFruitless(current.access) }
        guard fruitlessInWindow < settings.fruitlessLimit else {
            throw Violation("one more fruitless refresh than the window allows (G10)")
        }
    }

    /// G1, G8, G9: what is sent.
    func checkSending(_ credential: ModelCredential) throws(Violation) {
        let held = current ?? ModelCredential()
        guard current != nil || settings.renewal != .refreshToken, held.access == credential.access,
            held.refresh == credential.refresh
        else {
            throw Violation("a refresh is sent for another credential than the session's (G9)")
        }
        guard !refreshTokens[credential.refresh].isKnownSpent else {
            throw Violation("a refresh token is spent twice (G1)")
        }
        guard !refreshTokens[credential.refresh].isKnownRefused, !isAcquisitionRefused else {
            throw Violation("an ended session sends a refresh (G8)")
        }
        try checkStoreHolds(credential)
    }

    /// G3, G8: who goes straight on.
    func checkGo(_ index: Int) throws(Violation) {
        guard isGood else { throw Violation("request \(index) goes on without a good token (G2)") }
        guard !isReleasing, !requests.contains(where: \.isWaiting) else {
            throw Violation("request \(index) overtakes those who wait (G3)")
        }
    }

    /// G8, G9, G10: who is told what.
    func checkRefusal(of index: Int, _ error: AuthenticationError, isNewcomer: Bool) throws(Violation) {
        // Nothing is over before the store has been looked at.
        let isHasty = settings.hasStore && !isLookingAtStore
        let isExpected =
            switch error {
            case .missingCredential:
                settings.renewal == .refreshToken && (current == nil || current?.refresh == 0 && isDead) && !isHasty
            case .refreshRejected:
                isDead && (refreshTokens[current?.refresh ?? 0].isKnownRefused || isAcquisitionRefused) && !isHasty
            case .refreshFailed:
                isDead && failures > 0
                    && (!isNewcomer || now < notBefore && notBefore >= requests[index].deadline)
            case .credentialNotProvided:
                isDead
                    && (isAcquisitionRefused && !isHasty
                        || failures > 0
                            && (!isNewcomer || now < notBefore && notBefore >= requests[index].deadline))
            case .credentialNotReadable: isUnreadable
            case .tooManyRefreshes: isDead && fruitlessInWindow >= settings.fruitlessLimit
            case .signedOut: requests[index].ownGeneration.map { $0 != generation } ?? false
            case .waitedTooLong, .credentialNotStored, .refreshInterrupted, .noSession: false
            }
        guard isExpected else { throw Violation("request \(index) is told \(error) without a reason (G5, G8)") }
    }

    /// G8: all or nobody.
    func checkFailure(_ wasEarly: Bool, _ actions: [ModelledMachine.Action]) throws(Violation) {
        let refusals = actions.count { if case .refuse = $0 { true } else { false } }
        if wasEarly {
            guard refusals == 0 else { throw Violation("a failed early refresh refuses waiters (G8)") }
            return
        }
        guard !requests.contains(where: \.isWaiting) else {
            throw Violation("a waiter doesn't hear of the failure that it waited for (G8)")
        }
    }

    /// G1, G3, G5, G9: what holds in every state.
    func check() throws(Violation) {
        let queue = sut.machine.waiters.members
        let waiting = requests.indices.filter { requests[$0].isWaiting }
        guard queue.sorted() == waiting else {
            throw Violation("the queue holds \(queue), waiting are \(waiting) (G5)")
        }
        for (one, next) in zip(queue, queue.dropFirst()) where requests[one].joined > requests[next].joined {
            throw Violation("the queue is out of order (G3)")
        }
        guard sut.machine.isRefreshOnItsWay == !inFlight.isEmpty else {
            throw Violation("the session has lost sight of its refresh (G1)")
        }
        for index in waiting where requests[index].ownGeneration != generation {
            throw Violation("request \(index) waits for another generation (G9)")
        }
        try checkStore()
        guard
            waiting.isEmpty || isReleasing || !inFlight.isEmpty || !writes.isEmpty || wakeAt != nil
                || !operations.isEmpty || !loads.isEmpty
        else {
            throw Violation("somebody waits and nothing is under way (G5)")
        }
    }
}
