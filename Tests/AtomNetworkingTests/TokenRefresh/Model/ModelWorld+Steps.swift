import Foundation

@testable import AtomNetworking

extension ModelWorld {
    var moment: Moment { ModelClock.moment(now) }

    /// Takes a step and checks everything.
    mutating func take(_ step: ModelStep) throws(Violation) {
        switch step {
        case .read(let index): try read(index)
        case .ask(let index): try ask(index)
        case .slot: try startNext()
        case .answer(let index): try answer(index)
        case .cancel(let index):
            disturbancesLeft -= 1
            leave(index)
        case .deadline(let index): leave(index)
        case .release: try release()
        case .enterLane: try enterLane()
        case .grant: try settings.hasStore ? grantForStore() : grant()
        case .fail(let retryAfter, let isAnswerLost):
            disturbancesLeft -= 1
            if settings.hasStore {
                try failForStore(retryAfter, isAnswerLost: isAnswerLost)
            } else {
                let refresh = inFlight.removeFirst()
                if isAnswerLost { refreshTokens[refresh.credential.refresh].isValid = false }
                try fail(refresh, retryAfter)
            }
        case .refuse: try settings.hasStore ? refuseForStore() : refuse(inFlight.removeFirst(), read: store)
        case .write: try write()
        case .written:
            let write = writes.removeFirst()
            wasSet(write.credential)
            if sut.mayStore(tokenNumber: write.tokenNumber) { learn(store) }
            try perform(sut.stored(tokenNumber: write.tokenNumber, read: store.real, now: moment))
        case .ring:
            now = max(now, wakeAt ?? now)
            wakeAt = nil
            let isPatienceOver = isPatienceOver
            if isPatienceOver { hasFailedEarly = true }
            try perform(sut.wokeUp(now: moment))
            guard !isPatienceOver || isReleasing else {
                throw Violation("requests wait for a silent refresh though their token is valid (G8)")
            }
        case .time:
            timeStepsLeft -= 1
            now = nextMoment ?? now
        case .signIn: try sign(issue(life: settings.life, to: store.isEmpty ? 0 : account(of: store)))
        case .signInOther: try sign(issue(life: settings.life, to: other))
        case .signInBack: try sign(shelf[other])
        case .signInAgain: try sign(current ?? ModelCredential())
        case .signOut: try sign(ModelCredential())
        case .appSigns: try writeWhatTheAppSaid()
        case .outside(let change): changeOutside(change)
        case .revokeAccess:
            disturbancesLeft -= 1
            if let current { tokens[current.access].isRevoked = true }
        case .revokeSession:
            disturbancesLeft -= 1
            for index in refreshTokens.indices { refreshTokens[index].isValid = false }
        case .isOverdue:
            disturbancesLeft -= 1
            if settings.hasStore {
                try answered(.overdue, wasTaken: false)
            } else {
                try fail(inFlight.removeFirst(), nil, isOverdue: true)
            }
        case .overdueEnds(let isGranted): try overdueEnds(isGranted: isGranted)
        case .loaded, .loadingFails, .begin, .beginFails, .cancelled, .end, .endFails, .hear, .writeAgain, .cameLate:
            try takeInStore(step)
        }
        try check()
    }

    // MARK: Requests

    private mutating func read(_ index: Int) throws(Violation) {
        requests[index].state = .reading(version: sut.machine.version, store)
        if !settings.readsApart { try ask(index) }
    }

    private mutating func ask(_ index: Int) throws(Violation) {
        guard case .reading(let version, let credential) = requests[index].state else { return }
        if !requests[index].isTurnedAway {
            if try passesGate(index, with: credential) { return }
            if !settings.hasStore {
                requests[index].isTurnedAway = true
                requests[index].state = .asks
                if !settings.readsApart { try read(index) }
                return
            }
        }
        requests[index].isTurnedAway = false
        let isFresh = version == sut.machine.version
        // With a store of its own, the session reads it by `load` instead.
        if isFresh, !settings.hasStore { learn(credential) }
        if requests[index].ticket == nil {
            joins += 1
            requests[index].joined = joins
        }
        let couldGo =
            !isReleasing && !requests.contains { $0.isWaiting } && inFlight.isEmpty && writes.isEmpty
            && !isCommittedToStore && current.map { isStored($0.access) } ?? true
        let isNew = requests[index].tenure == nil
        let (admission, actions) = sut.asked(
            index, by: settings.renewal.means, of: requests[index].tenure, ticket: requests[index].ticket,
            read: settings.hasStore ? nil : (credential.real, version),
            deadline: ModelClock.instant(requests[index].deadline), now: moment)
        switch admission {
        case .go(let ticket):
            try checkGo(index)
            admit(index, ticket)
            enterSlotQueue(index)
        case .wait(let ticket):
            if couldGo, isGood {
                throw Violation("request \(index) waits although it could go (G4)")
            }
            admit(index, ticket)
            requests[index].isNew = isNew
            requests[index].waitsSince = now
            requests[index].state = .waiting
        case .refuse(let error):
            try checkRefusal(of: index, error, isNewcomer: true)
            requests[index].state = .done
        case .readAgain:
            guard !isFresh else { throw Violation("reads again although nothing has changed") }
            requests[index].state = .asks
            requests[index].isTurnedAway = true
        }
        try perform(actions)
        if case .inSlotQueue = requests[index].state { try startIfThereAreNoSlots() }
    }

    /// Asks the gate, which reads the variable and not the version.
    private mutating func passesGate(_ index: Int, with credential: ModelCredential) throws(Violation) -> Bool {
        guard
            let ticket = sut.admittedAtOnce(
                by: settings.renewal.means, of: requests[index].tenure, ticket: requests[index].ticket,
                read: settings.hasStore ? nil : credential.real, at: moment.instant)
        else { return false }
        if requests[index].ticket == nil {
            joins += 1
            requests[index].joined = joins
        }
        try checkGo(index)
        admit(index, ticket)
        enterSlotQueue(index)
        try startIfThereAreNoSlots()
        return true
    }

    private mutating func admit(_ index: Int, _ ticket: Int) {
        requests[index].ticket = ticket
        requests[index].tenure = sut.machine.tenure
        requests[index].ownGeneration = requests[index].ownGeneration ?? generation
    }

    private mutating func startIfThereAreNoSlots() throws(Violation) {
        guard !settings.slots else { return }
        try startNext()
    }

    private mutating func startNext() throws(Violation) {
        let index = slotQueue.removeFirst()
        guard let admitted = requests[index].tenure else { throw Violation("started without a tenure") }
        let pass = sut.pass(of: admitted, ticket: requests[index].ticket, for: index, at: moment.instant)
        guard let value = pass.authorization, let tokenNumber = pass.tokenNumber else {
            // It asks again before it gives its slot back.
            requests[index].state = .reading(version: sut.machine.version, store)
            try ask(index)
            if case .asks = requests[index].state {
                requests[index].state = .reading(version: sut.machine.version, store)
                try ask(index)
            }
            guard settings.slots else { return }
            if case .inSlotQueue = requests[index].state {
                slotQueue.removeAll { $0 == index }
                slotQueue.insert(index, at: 0)
                try startNext()
            } else if !slotQueue.isEmpty {
                // The slot that it gives back goes to the next request, on the same thread.
                try startNext()
            }
            return
        }
        let text = value.dropFirst("Bearer ".count)
        let access = Int(text.dropFirst()) ?? 0
        try checkStart(index, access)
        let isAccepted =
            !settings.refusesEverything && !tokens[access].isRevoked && now < tokens[access].serverExpiry
        requests[index].ticket = nil
        requests[index].slotPlace = nil
        requests[index].signIns = tokens[access].signIns
        requests[index].state = .onWire(tokenNumber: tokenNumber, access: access, isAccepted: isAccepted)
    }

    private mutating func answer(_ index: Int) throws(Violation) {
        guard case .onWire(let tokenNumber, let access, let isAccepted) = requests[index].state else { return }
        let isOfCurrent = access == current?.access && requests[index].signIns == tokens[access].signIns
        if isAccepted {
            if isOfCurrent { tokens[access].isAccepted = true }
            // Of a proven one the session isn't told, which would change nothing.
            sut.accepted(tokenNumber: tokenNumber)
            requests[index].state = .done
        } else if requests[index].hasRetried {
            requests[index].state = .done
        } else {
            requests[index].hasRetried = true
            requests[index].state = .asks
            if isOfCurrent, !tokens[access].isRejected {
                tokens[access].isRejected = true
                countIfFruitless(access)
            }
            sut.rejected(tokenNumber: tokenNumber, now: moment)
        }
    }

    private mutating func leave(_ index: Int) {
        if requests[index].isWaiting, let ticket = requests[index].ticket { sut.left(ticket: ticket) }
        slotQueue.removeAll { $0 == index }
        requests[index].state = .done
    }

    private mutating func release() throws(Violation) {
        let (waiter, actions) = sut.nextReleased(tickets: requests.map(\.ticket), now: moment)
        guard let waiter else {
            isReleasing = false
            return try perform(actions)
        }
        guard requests[waiter].isWaiting else { throw Violation("request \(waiter) is released without waiting") }
        requests[waiter].tenure = sut.machine.tenure
        requests[waiter].state = .released
        try perform(actions)
        if !settings.slots { try enterLane() }
    }

    /// A released request goes on; the one that releases waits for that.
    private mutating func enterLane() throws(Violation) {
        guard let waiter = requests.firstIndex(where: { $0.state == .released }) else { return }
        enterSlotQueue(waiter)
        try startIfThereAreNoSlots()
    }

    /// A request that was granted a slot before, and was not sent, keeps its place.
    private mutating func enterSlotQueue(_ index: Int) {
        requests[index].state = .inSlotQueue
        if requests[index].slotPlace == nil {
            slotPlaces += 1
            requests[index].slotPlace = slotPlaces
        }
        slotQueue.append(index)
        slotQueue.sort { (requests[$0].slotPlace ?? 0) < (requests[$1].slotPlace ?? 0) }
    }

    // MARK: The refresh and the store

    private mutating func grant() throws(Violation) {
        let refresh = inFlight.removeFirst()
        let old = refresh.credential
        if settings.rotates { refreshTokens[old.refresh].isValid = false }
        inFlight.insert(refresh, at: 0)
        learn(store)
        let ended = inFlight.removeFirst()
        let isOutdated = ended.isOutdated && !isSuccessorOfCurrent(ended)
        var granted = issue(
            life: settings.life, to: account(of: old), refresh: settings.rotates ? nil : old.refresh)
        granted.expiresAt = refresh.sentAt + settings.saidLife
        tokens[granted.access].isGranted = true
        spend(old, for: granted, isWanted: !ended.isSignedOut)
        see(granted, life: settings.saidLife, from: refresh.sentAt, isIssued: true, isGranted: true)
        if !isOutdated {
            willWrite(granted)
            current = granted
            brought(granted)
        }
        let (tokenNumber, actions) = sut.refreshSucceeded(
            number: refresh.number, granted.real, lifetime: Double(settings.saidLife),
            sentAt: ModelClock.instant(refresh.sentAt), read: store.real, now: moment)
        let isRevoked = actions.contains { if case .revoke = $0 { true } else { false } }
        guard isRevoked == ended.isSignedOut else {
            throw Violation("what a session that was signed out brings home is not revoked, or another's is (G9)")
        }
        if (tokenNumber != nil) == isOutdated {
            throw Violation(isOutdated ? "stores what an outdated refresh brought" : "doesn't store a new credential")
        }
        guard actions.filter({ if case .set = $0 { true } else { false } }).count < 2 else {
            throw Violation("a credential is stored twice")
        }
        try perform(actions)
    }

    /// The session uses the result of a refresh.
    mutating func brought(_ granted: ModelCredential) {
        // A token that arrives within its leeway is used until it expires: the next one would come as late.
        hasFailedEarly = now >= tokens[granted.access].due
        failures = 0
        notBefore = Int.min
        pausesFor = nil
        isAcquisitionRefused = false
        lastWord = granted
    }

    mutating func fail(
        _ refresh: Refresh, _ retryAfter: Int?, ofProvider isOfProvider: Bool = false, isOverdue: Bool = false
    ) throws(Violation) {
        let wasEarly = current.map { !tokens[$0.access].isDead(at: now) } ?? false
        if !refresh.isOutdated {
            failures += 1
            notBefore = now + (isOverdue ? 10 : retryAfter ?? (failures > 1 ? 10 << min(failures - 2, 1) : 0))
            pausesFor = isOverdue ? refresh.number : nil
            hasFailedEarly = hasFailedEarly || wasEarly
        }
        if isOverdue {
            overdue.append(refresh)
            overdue[overdue.count - 1].isOverdue = true
        }
        let actions = sut.refreshFailed(
            number: refresh.number, ofProvider: isOfProvider, isOverdue: isOverdue,
            retryAfter: retryAfter.map { .seconds($0) }, random: 0.5, now: moment)
        try perform(actions)
        if !refresh.isOutdated { try checkFailure(wasEarly, actions) }
    }

    /// - Parameter read: What the store holds, or should.
    mutating func refuse(_ refresh: Refresh, read: ModelCredential) throws(Violation) {
        var isTheirs = false
        let old = current
        if !refresh.isOutdated {
            if settings.renewal == .refreshToken {
                refreshTokens[refresh.credential.refresh].isKnownRefused = true
                learn(read)
                refreshTokens[refresh.credential.refresh].isKnownRefused = true
                isTheirs = current?.refresh == refresh.credential.refresh
            } else {
                if settings.renewal == .provider || !read.isEmpty { learn(read) }
                isTheirs = current?.access == old?.access
                isAcquisitionRefused = isTheirs
            }
        }
        isLookingAtStore = true
        defer { isLookingAtStore = false }
        let wasEarly = current.map { !tokens[$0.access].isDead(at: now) } ?? false
        if isTheirs { hasFailedEarly = hasFailedEarly || wasEarly }
        let actions = sut.refreshRejected(number: refresh.number, read: read.real, now: moment)
        try perform(actions)
        if isTheirs { try checkFailure(wasEarly, actions) }
    }

    private mutating func write() throws(Violation) {
        guard sut.mayStore(tokenNumber: writes[0].tokenNumber) else {
            wasSet(writes.removeFirst().credential)
            return
        }
        // Read once more: what somebody else has put there is not overwritten.
        learn(store)
        try perform(sut.observed(store.real, now: moment))
        guard !writes.isEmpty, sut.mayStore(tokenNumber: writes[0].tokenNumber) else {
            if !writes.isEmpty { wasSet(writes.removeFirst().credential) }
            return
        }
        writes[0].isDone = true
        try checkNothingIsLost(to: writes[0].credential)
        tokens[writes[0].credential.access].isWritten = true
        if settings.storeTakes { store = writes[0].credential }
    }

    // MARK: The app and others

    /// The session is told of a sign-in, or of a sign-out with an empty
    /// credential, before anything is written.
    private mutating func sign(_ said: ModelCredential) throws(Violation) {
        disturbancesLeft -= 1
        if !settings.hasStore, store != seen, !beneath.contains(store) {
            (seen, beneath) = (store, [])
        }
        let isRefreshOfIt = current?.hasTokens(of: said) ?? false && inFlight.first?.isOutdated == false
        let refreshes = inFlight
        let credential = said.isEmpty ? said : successor(of: said)
        willWrite(credential)
        if said.isEmpty {
            forget()
        } else {
            isAcquisitionRefused = false
            let isStoringIt = sut.machine.isStoring && current?.hasTokens(of: credential) == true
            let pause = pause(for: credential)
            newGeneration()
            if let pause { (failures, notBefore, pausesFor) = pause }
            tokens[credential.access].isRejected = false
            tokens[credential.access].signIns += 1
            if !isStoringIt { tokens[credential.access].isGranted = false }
            // A sign-in with the credential that is being refreshed doesn't make the refresh useless.
            if isRefreshOfIt { inFlight = refreshes }
            belongsTo(credential)
            refreshTokens[credential.refresh].isKnownRefused = false
            current = credential
            see(credential, life: credential.expiresAt - now, from: now, isIssued: true)
        }
        let actions: [ModelledMachine.Action]
        if said.isEmpty {
            let (ended, next) = sut.signedOut(read: settings.hasStore ? nil : store.real)
            endings[sut.machine.tenure] = (ended, ended.held.map { account(of: ModelCredential($0)) })
            actions = next
        } else {
            actions = sut.signedIn(said.real, read: settings.hasStore ? nil : store.real, now: moment)
        }
        if settings.hasStore {
            // The app keeps what it knows of whoever goes.
            shelve(for: credential)
            // It is used at once, also while it is being written.
            tokens[credential.access].isWritten = true
            queueWrite(credential)
        } else {
            signing = credential
        }
        try perform(actions)
    }

    /// The app's variable is set, and read back.
    private mutating func writeWhatTheAppSaid() throws(Violation) {
        guard let credential = signing else { return }
        signing = nil
        shelve(for: credential)
        if settings.storeTakes { store = credential }
        wasSet(credential)
        learn(store)
        try perform(sut.observed(store.real, now: moment))
    }

    /// Keeps the credential of the person in the store when another one comes.
    mutating func shelve(for new: ModelCredential) {
        guard settings.hasTwoPeople, !store.isEmpty, new.isEmpty || account(of: new) != account(of: store) else {
            return
        }
        shelf[account(of: store)] = store
    }

    private mutating func changeOutside(_ change: ModelSettings.Disturbance) {
        disturbancesLeft -= 1
        lastWord = nil
        let account = store.isEmpty ? 0 : account(of: store)
        switch change {
        case .outsideRenews: store = issue(life: settings.life, to: account)
        case .otherRefreshes:
            let refresh = store.refresh
            if settings.rotates { refreshTokens[refresh].isValid = false }
            store = issue(life: settings.life, to: account, refresh: settings.rotates ? nil : refresh)
        case .outsideNewAccess:
            store = issue(life: settings.life, to: account, refresh: store.refresh)
        case .outsideOther:
            let new = issue(
                life: settings.life, to: other, refresh: settings.rotates ? nil : shelf[other].refresh)
            shelve(for: new)
            store = new
        case .outsideBack:
            let new = shelf[other]
            shelve(for: new)
            store = new
        case .outsideEmpties:
            shelve(for: ModelCredential())
            store = ModelCredential()
        case .outsideProlongs:
            store.expiresAt += 30
            tokens[store.access].serverExpiry += 30
        case .outsideNewRefreshToken:
            refreshTokens.append(ModelRefreshToken(account: account))
            store.refresh = refreshTokens.count - 1
        default: break
        }
    }

    // MARK: Actions

    mutating func perform(_ actions: [ModelledMachine.Action]) throws(Violation) {
        for action in actions {
            switch action {
            case .load(let number):
                operations.append(ModelOperation(.load(number), in: generation))
            case .refresh(let number, let credential, _):
                guard sut.machine.isRunning(number) else {
                    // The answer to an overdue one has come at once: nothing is sent.
                    try perform(sut.refreshAbandoned(number: number, now: moment))
                    continue
                }
                let credential = ModelCredential(credential ?? .empty)
                try checkRefresh()
                if settings.hasStore {
                    queueRefresh(number)
                } else {
                    try checkSending(credential)
                }
                inFlight.append(Refresh(number: number, credential: credential, sentAt: now))
            case .set(let credential, let tokenNumber):
                writes.append(Write(credential: ModelCredential(credential), tokenNumber: tokenNumber))
            case .writeAgain: operations.append(ModelOperation(.writeAgain, in: generation))
            case .release:
                guard !isReleasing else { throw Violation("two release at a time") }
                isReleasing = true
            case .refuse(let waiters, let error):
                for waiter in waiters {
                    guard requests[waiter].isWaiting else {
                        throw Violation("request \(waiter) is refused without waiting, or twice")
                    }
                    try checkRefusal(of: waiter, error, isNewcomer: false)
                    requests[waiter].state = .done
                }
            case .wake(let instant): wakeAt = ModelClock.seconds(instant)
            case .announceFailure, .announceStaleStore, .announce, .revoke: break
            }
        }
    }
}

extension ModelRequest {
    var isWaiting: Bool { state == .waiting }
}
