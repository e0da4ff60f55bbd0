@testable import AtomNetworking

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
        guard isStored(access) else {
            throw Violation("request \(index) starts before its token is stored (G7)")
        }
        for other in requests where other.joined < request.joined {
            if other.isWaiting || other.state == .released || other.state == .inSlotQueue {
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
        guard now >= fruitlessPauseEnd else {
            throw Violation("fruitless refreshes follow each other without a pause (G10)")
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
        guard !refreshTokens[credential.refresh].isSpent else {
            throw Violation("a refresh token is spent twice (G1)")
        }
        guard !refreshTokens[credential.refresh].isKnownRefused, !isAcquisitionRefused else {
            throw Violation("an ended session sends a refresh (G8)")
        }
        try checkStoreHolds(credential)
    }

    /// G3, G8: which requests are sent at once.
    func checkGo(_ index: Int) throws(Violation) {
        guard isGood else { throw Violation("request \(index) goes on without a good token (G2)") }
        let request = requests[index]
        guard !requests.contains(where: { $0.isWaiting && $0.joined < request.joined }) else {
            throw Violation("request \(index) overtakes those who wait (G3)")
        }
    }

    /// G8, G9, G10: which request is told what.
    func checkRefusal(of index: Int, _ error: AuthenticationError, isNewcomer: Bool) throws(Violation) {
        // The session doesn't end before the store was read.
        let isHasty = settings.hasStore && !isLookingAtStore
        let isExpected =
            switch error {
            case .missingCredential:
                settings.renewal == .refreshToken && (current == nil || !hasUsefulRefreshToken && isDead) && !isHasty
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
            case .tooManyRefreshes:
                isDead
                    && (fruitlessInWindow >= settings.fruitlessLimit
                        || isNewcomer && now < fruitlessPauseEnd && fruitlessPauseEnd >= requests[index].deadline)
            case .signedOut: requests[index].ownGeneration.map { $0 != generation } ?? false
            case .waitedTooLong, .credentialNotStored, .credentialNotRevoked, .refreshInterrupted, .noSession,
                .notSigned:
                false
            }
        guard isExpected else { throw Violation("request \(index) is told \(error) without a reason (G5, G8)") }
    }

    /// G8: all waiters or none.
    func checkFailure(_ wasEarly: Bool, _ actions: [ModelledMachine.Action]) throws(Violation) {
        let refusals = actions.count { if case .refuse = $0 { true } else { false } }
        if wasEarly {
            guard refusals == 0 else { throw Violation("a failed early refresh refuses waiters (G8)") }
            return
        }
        guard !requests.contains(where: { $0.isWaiting }) else {
            throw Violation("a waiter doesn't hear of the failure that it waited for (G8)")
        }
    }

    /// G1, G3, G5, G9: what holds in every state.
    func check() throws(Violation) {
        let queue = sut.machine.waiters.members.map { $0.waiter }
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
