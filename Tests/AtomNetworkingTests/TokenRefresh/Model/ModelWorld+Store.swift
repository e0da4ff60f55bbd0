import Foundation

@testable import AtomNetworking

// A store that the session reads and writes, and that other processes share:
// during an exchange, a process has the store for itself.
extension ModelWorld {
    var storeSteps: [ModelStep] {
        var steps: [ModelStep] = []
        if !loads.isEmpty {
            steps.append(.loaded)
            if can(.loadingFails) { steps.append(.loadingFails) }
        }
        if let operation = operations.first {
            switch operation.stage {
            case .queued:
                steps.append(.begin)
                switch operation.kind {
                case .load: break
                case .write, .writeAgain: if can(.writingFails) { steps.append(.beginFails) }
                case .refresh, .look, .keep: if can(.exchangeFails) { steps.append(.beginFails) }
                }
            case .sent(let credential):
                steps += answers(to: credential)
                if settings.renewal == .refreshToken, can(.refreshIsOverdue) { steps.append(.isOverdue) }
                if operation.isCancelled { steps.append(.cancelled) }
            case .answered:
                steps.append(.end)
                if can(.writingFails), operation.result != operation.stored { steps.append(.endFails) }
            case .ended: steps.append(.hear)
            }
        }
        if let call = provided.first {
            steps += answers(to: ModelCredential())
            if inFlight.first(where: { $0.number == call.number })?.isOutdated ?? true {
                steps.append(.cancelled)
            }
        }
        if let number = leftBehind.first, let refresh = inFlight.first(where: { $0.number == number }) {
            steps.append(.cameLate(isGranted: refreshTokens[refresh.credential.refresh].isValid))
            if can(.refreshFails) { steps.append(.cameLate(isGranted: false)) }
        }
        if sut.machine.store.retryAt != nil, !operations.contains(where: { $0.kind == .writeAgain }) {
            steps.append(.writeAgain)
        }
        return steps
    }

    private func answers(to credential: ModelCredential) -> [ModelStep] {
        let isAcquired = settings.renewal != .refreshToken
        guard isAcquired || refreshTokens[credential.refresh].isValid else { return [.refuse] }
        var steps: [ModelStep] = [.grant]
        if can(.refreshFails) { steps.append(.fail(retryAfter: nil, isAnswerLost: false)) }
        if can(.answerLost) { steps.append(.fail(retryAfter: nil, isAnswerLost: true)) }
        if isAcquired, can(.revokeSession) { steps.append(.refuse) }
        return steps
    }

    /// Whether other processes are kept out.
    var isStoreLocked: Bool { operations.first?.isExclusive ?? false }

    /// Whether a new credential is committed and not stored yet.
    var isCommittedToStore: Bool {
        sut.machine.isStoring || operations.contains { $0.isGranted && $0.result == current }
    }

    mutating func takeInStore(_ step: ModelStep) throws(Violation) {
        switch step {
        case .loaded:
            let load = loads.removeFirst()
            let stored = load.stored
            if load.generation == generation { learnAfterTheEnd(stored) }
            isLookingAtStore = true
            defer { isLookingAtStore = false }
            try perform(sut.loaded(number: load.number, stored.inStore, now: moment))
        case .loadingFails:
            disturbancesLeft -= 1
            let load = loads.removeFirst()
            isUnreadable = true
            defer { isUnreadable = false }
            try perform(sut.loadingFailed(number: load.number))
        case .begin: try begin()
        case .beginFails:
            disturbancesLeft -= 1
            try beginInVain()
        case .cancelled: try cancelled()
        case .cameLate(let isGranted): try cameLate(isGranted: isGranted)
        case .end: try end(fails: false)
        case .endFails:
            disturbancesLeft -= 1
            try end(fails: true)
        case .hear: try hear()
        case .writeAgain:
            operations.append(ModelOperation(.writeAgain, in: generation))
        default: break
        }
    }

    // MARK: Operations

    mutating func queueRefresh(_ number: Int) {
        operations.append(
            ModelOperation(settings.renewal == .provider ? .look(number) : .refresh(number), in: generation))
    }

    /// The app has signed in, or out with an empty credential.
    mutating func queueWrite(_ credential: ModelCredential) {
        missed = nil
        lastWord = credential
        if let running = sut.machine.leftBehind {
            for index in operations.indices where operations[index].kind == .refresh(running.number) {
                operations[index].isCancelled = true
            }
        }
        switch sut.bug {
        case .signInIsNotWritten where !credential.isEmpty: return
        case .writeIsNotQueued:
            store = credential
            missed = nil
        default:
            operations.append(
                ModelOperation(.write(credential, of: sut.machine.tenure), in: generation))
        }
    }

    private mutating func begin() throws(Violation) {
        operations[0].stored = store
        operations[0].result = unchanged(store)
        // A sign-in replaces what is there, also where a refresh of its own writes first.
        operations[0].isSaid = intended(store) != store
        let operation = operations[0]
        switch operation.kind {
        case .load(let number):
            operations.removeFirst()
            loads.append(ModelLoad(number: number, stored: store, generation: operation.generation))
        case .look(let number):
            operations.removeFirst()
            if try look(number) {
                provided.append(ModelProviderCall(number: number, stored: store))
            } else {
                inFlight.removeAll { $0.number == number }
                try perform(sut.refreshAbandoned(number: number, now: moment))
            }
        case .refresh(let number):
            if try look(number), let refresh = inFlight.first {
                operations[0].stage = .sent(refresh.credential)
            } else {
                operations[0].stage = .answered
                operations[0].outcome = .abandoned
            }
        case .keep(let number, let credential, _):
            try commit(number, credential, sentAt: now)
            if operations[0].isGranted { sut.machine.overwrites(store.inStore) }
        case .write(let credential, let tenure):
            let mayWrite = sut.mayWrite(signedIn: credential.inStore, in: tenure)
            operations[0].result = mayWrite ? credential : store
            operations[0].isSaid = mayWrite
            try end(fails: false)
        case .writeAgain:
            guard sut.machine.hasToWriteAgain else {
                operations.removeFirst()
                return
            }
            operations[0].generation = generation
            tokens[operation.result.access].isDropped = false
            try end(fails: false)
        }
    }

    /// The store can't be reached or, for an operation that only writes, not be
    /// written.
    private mutating func beginInVain() throws(Violation) {
        operations[0].stored = store
        switch operations[0].kind {
        case .look(let number):
            operations.removeFirst()
            try fail(takeRefresh(number), nil)
        case .keep(let number, let credential, let old):
            try commit(number, credential, sentAt: now)
            operations[0].stored = old
            operations[0].stage = .ended(hasFailed: true)
            tokens[credential.access].isWritten = true
            // What somebody else has written since the load is newer.
            if store != old { lastWord = nil }
        case .writeAgain:
            guard sut.machine.hasToWriteAgain else {
                operations.removeFirst()
                return
            }
            operations[0].generation = generation
            operations[0].result = intended(store)
            operations[0].stage = .ended(hasFailed: true)
            tokens[operations[0].result.access].isWritten = true
        default: operations[0].stage = .ended(hasFailed: true)
        }
    }

    /// The refresh reads the store; returns whether it goes on.
    private mutating func look(_ number: Int) throws(Violation) -> Bool {
        let stored = store
        var goesOn = false
        if let index = inFlight.firstIndex(where: { $0.number == number && !$0.isOutdated }) {
            let old = current
            if stored.isEmpty, settings.renewal == .clientCredentials {
                // An empty store does not end a client's own session.
                if intended(stored) == stored { (seen, beneath) = (stored, []) }
            } else {
                learnFromStore(stored)
            }
            goesOn = (old?.hasTokens(of: current ?? ModelCredential()) ?? (current == nil)) && !isGood
            if goesOn {
                let refresh = inFlight[index]
                inFlight[index] = Refresh(
                    number: refresh.number, credential: current ?? ModelCredential(), sentAt: now)
            } else {
                inFlight.remove(at: index)
            }
        }
        isLookingAtStore = true
        defer { isLookingAtStore = false }
        let (step, actions) = sut.refreshFound(number: number, stored.inStore, now: moment)
        switch step {
        case .goOn(let credential):
            guard goesOn else { throw Violation("a refresh is sent although the store holds something better (G1)") }
            try checkSending(ModelCredential(credential ?? .empty))
        case .stop:
            guard !goesOn else { throw Violation("a refresh stops although nobody else has renewed the session") }
        }
        try perform(actions)
        return goesOn
    }

    mutating func grantForStore() throws(Violation) {
        if settings.renewal == .provider {
            let call = provided.removeFirst()
            let granted = issue(life: settings.life, to: store.isEmpty ? 0 : account(of: store))
            tokens[granted.access].isGranted = true
            operations.append(ModelOperation(.keep(call.number, granted, over: call.stored), in: generation))
            return
        }
        guard case .refresh(let number) = operations[0].kind,
            let refresh = inFlight.first(where: { $0.number == number })
        else { throw Violation("the session has lost sight of its refresh (G1)") }
        let old = refresh.credential
        if settings.rotates, old.refresh != 0 { refreshTokens[old.refresh].isValid = false }
        var granted = issue(
            life: settings.life, to: account(of: old), refresh: settings.rotates ? nil : old.refresh)
        tokens[granted.access].isGranted = true
        granted.expiresAt = refresh.sentAt + settings.saidLife
        try commit(number, granted, sentAt: refresh.sentAt)
    }

    private mutating func commit(
        _ number: Int, _ granted: ModelCredential, sentAt: Int
    ) throws(Violation) {
        let refresh = try takeRefresh(number)
        spend(refresh.credential, for: granted, isWanted: !refresh.isSignedOut)
        see(granted, life: settings.saidLife, from: sentAt, isIssued: true, isGranted: true)
        let isOutdated = refresh.isOutdated && !isSuccessorOfCurrent(refresh)
        tokens[granted.access].isDropped = isOutdated
        if !isOutdated {
            willWrite(granted)
            current = granted
            brought(granted)
        }
        let (tokenNumber, actions) = sut.refreshSucceeded(
            number: number, granted.real, lifetime: Double(settings.saidLife), sentAt: ModelClock.instant(sentAt),
            read: nil, now: moment)
        let isStored = tokenNumber != nil
        guard isStored != isOutdated else {
            throw Violation(isStored ? "stores what an outdated refresh brought" : "doesn't store a new credential")
        }
        operations[0].stage = .answered
        operations[0].outcome = isStored ? .granted(tokenNumber: sut.machine.tokenNumber) : .abandoned
        if isStored || sut.bug == .outdatedRefreshIsWritten {
            operations[0].result = granted
        } else {
            leavesWhatIsWanted()
        }
        try perform(actions)
    }

    mutating func failForStore(_ retryAfter: Int?, isAnswerLost: Bool) throws(Violation) {
        if settings.renewal == .provider {
            try fail(takeRefresh(provided.removeFirst().number), 0, ofProvider: true)
        } else {
            try answered(.failed(retryAfter: retryAfter), wasTaken: isAnswerLost)
        }
    }

    mutating func refuseForStore() throws(Violation) {
        if settings.renewal != .refreshToken { disturbancesLeft -= 1 }
        if settings.renewal == .provider {
            try refuse(takeRefresh(provided.removeFirst().number), read: store)
        } else {
            try answered(.rejected, wasTaken: false)
        }
    }

    /// The actor has cancelled the refresh of a session that is over.
    private mutating func cancelled() throws(Violation) {
        if settings.renewal == .provider {
            try fail(takeRefresh(provided.removeFirst().number), 0, ofProvider: true)
        } else {
            guard case .refresh(let number) = operations[0].kind else { throw Violation("nothing to cancel") }
            operations[0].stage = .answered
            operations[0].outcome = .leftBehind
            leavesWhatIsWanted()
            leftBehind.append(number)
        }
    }

    /// A refresh that brings nothing leaves in the store what a sign-in or sign-out still has to write.
    private mutating func leavesWhatIsWanted() {
        let wanted = sut.machine.wanted(over: operations[0].stored.inStore)
        operations[0].result = wanted.map { ModelCredential($0) } ?? ModelCredential()
        if operations[0].result != intended(operations[0].stored) { operations[0].isSaid = true }
    }

    /// The answer to a refresh that nobody waits for any more.
    private mutating func cameLate(isGranted: Bool) throws(Violation) {
        let refresh = try takeRefresh(leftBehind.removeFirst())
        guard refresh.isOutdated else { throw Violation("a refresh is left behind though its session goes on") }
        guard isGranted else {
            return try perform(sut.refreshAbandoned(number: refresh.number, now: moment))
        }
        try grantLate(refresh)
    }

    /// The server has answered an overdue refresh, or its connection has ended.
    mutating func overdueEnds(isGranted: Bool) throws(Violation) {
        guard !isGranted else {
            if !settings.hasStore { learn(store) }
            let refresh = overdue.removeFirst()
            if pausesFor == refresh.number { pausesFor = nil }
            return try grantLate(refresh)
        }
        let refresh = overdue.removeFirst()
        if pausesFor == refresh.number { (notBefore, pausesFor) = (now, nil) }
        try perform(sut.refreshAbandoned(number: refresh.number, now: moment))
    }

    private mutating func grantLate(_ refresh: Refresh) throws(Violation) {
        let old = refresh.credential
        if settings.rotates { refreshTokens[old.refresh].isValid = false }
        var granted = issue(
            life: settings.life, to: account(of: old), refresh: settings.rotates ? nil : old.refresh)
        granted.expiresAt = refresh.sentAt + settings.saidLife
        tokens[granted.access].isDropped = true
        tokens[granted.access].isGranted = true
        see(granted, life: settings.saidLife, from: refresh.sentAt, isIssued: true, isGranted: true)
        if !refresh.isOverdue || !refreshTokens[old.refresh].isSpent {
            spend(old, for: granted, isWanted: !refresh.isSignedOut)
        }
        let isWanted = isSuccessorOfCurrent(refresh)
        if isWanted {
            tokens[granted.access].isDropped = false
            willWrite(granted)
            current = granted
            brought(granted)
            // One that has sent the same refresh token since is not waited for any more.
            outdateRefresh()
            for index in operations.indices {
                guard case .refresh(let number) = operations[index].kind, refresh.isOverdue,
                    inFlight.contains(where: { $0.number == number })
                else { continue }
                operations[index].isCancelled = true
            }
        }
        let (tokenNumber, actions) = sut.refreshSucceeded(
            number: refresh.number, granted.real, lifetime: Double(settings.saidLife),
            sentAt: ModelClock.instant(refresh.sentAt), read: settings.hasStore ? nil : store.real, now: moment)
        let isRevoked = actions.contains { if case .revoke = $0 { true } else { false } }
        guard isRevoked == refresh.isSignedOut else {
            throw Violation("what a session that was signed out brings home is not revoked, or another's is (G9)")
        }
        let isStored = tokenNumber != nil
        guard isStored == isWanted else {
            throw Violation(isStored ? "stores what an outdated refresh brought" : "doesn't store a new credential")
        }
        if isStored, settings.hasStore { operations.append(ModelOperation(.writeAgain, in: generation)) }
        try perform(actions)
    }

    mutating func answered(_ outcome: ModelOperation.Outcome, wasTaken: Bool) throws(Violation) {
        guard case .sent(let credential) = operations[0].stage else { throw Violation("an answer to nothing") }
        if wasTaken { refreshTokens[credential.refresh].isValid = false }
        operations[0].stage = .answered
        operations[0].outcome = outcome
        leavesWhatIsWanted()
    }

    private mutating func takeRefresh(_ number: Int) throws(Violation) -> Refresh {
        guard let index = inFlight.firstIndex(where: { $0.number == number }) else {
            throw Violation("the session has lost sight of its refresh (G1)")
        }
        return inFlight.remove(at: index)
    }

    /// The result is written, if it differs from what was there.
    private mutating func end(fails: Bool) throws(Violation) {
        let operation = operations[0]
        if operation.result != operation.stored {
            try checkWrite(operation)
            if !fails { store = operation.result }
        }
        operations[0].stage = .ended(hasFailed: fails)
        if operation.isGranted { tokens[operation.result.access].isWritten = true }
    }

    private mutating func hear() throws(Violation) {
        let operation = operations.removeFirst()
        guard case .ended(let hasFailed) = operation.stage else { return }
        if !hasFailed, case .refresh = operation.kind {
            if let lastWord, operation.result.hasTokens(of: lastWord), sut.machine.store.hasToWrite(again: false) {
                missed = nil
                hasWritten(operation.result)
            }
            try perform(sut.left(operation.result.inStore, now: moment))
        }
        switch operation.kind {
        case .refresh(let number), .keep(let number, _, _): try hear(number, operation, hasFailed: hasFailed)
        case .write(let credential, let tenure):
            if credential.isEmpty { try checkRevocation(of: operation, in: tenure, hasFailed: hasFailed) }
            if !operation.isSaid, !hasFailed {
                sut.machine.notReplaced(in: tenure)
                return
            }
            if !hasFailed {
                missed = nil
                hasWritten(credential)
            } else if sut.mayWrite(signedIn: credential.inStore, in: tenure) {
                writingFailed(credential, over: operation.stored)
            }
            try perform(
                sut.replaced(
                    by: credential.inStore, in: tenure, found: operation.stored.inStore, hasFailed: hasFailed,
                    now: moment))
        case .writeAgain:
            let isCurrent = operation.generation == self.generation
            if isCurrent {
                if hasFailed {
                    if operation.result != operation.stored { writingFailed(operation.result, over: operation.stored) }
                } else {
                    missed = nil
                    tokens[operation.result.access].isWritten = true
                    if operation.result.hasTokens(of: seen ?? ModelCredential()) {
                        hasWritten(operation.result)
                    } else {
                        learn(operation.result)
                    }
                }
            }
            try perform(
                sut.wroteAgain(
                    hasFailed ? nil : operation.result, in: isCurrent ? sut.machine.tenure : .over, now: moment))
        case .load, .look: break
        }
    }

    private mutating func hear(_ number: Int, _ operation: ModelOperation, hasFailed: Bool) throws(Violation) {
        switch operation.outcome {
        case .granted(let tokenNumber):
            guard sut.mayStore(tokenNumber: tokenNumber) else { return }
            if hasFailed {
                writingFailed(operation.result, over: operation.stored)
                try perform(sut.notStored(tokenNumber: tokenNumber, now: moment))
            } else {
                missed = nil
                hasWritten(operation.result)
                try perform(sut.stored(tokenNumber: tokenNumber, read: nil, now: moment))
            }
        case .abandoned:
            inFlight.removeAll { $0.number == number }
            try perform(sut.refreshAbandoned(number: number, now: moment))
        case .rejected: try refuse(takeRefresh(number), read: store)
        case .failed(let retryAfter): try fail(takeRefresh(number), retryAfter)
        case .leftBehind: break
        case .overdue: try fail(takeRefresh(number), nil, isOverdue: true)
        case .nothing: try fail(takeRefresh(number), nil)
        }
    }
}
