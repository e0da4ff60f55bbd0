@testable import AtomNetworking

/// A state's fingerprint of 128 bits: among a few million states, no two have
/// the same.
struct ModelKey: Hashable {
    private(set) var first: UInt64 = 0x9E37_79B9_7F4A_7C15
    private(set) var second: UInt64 = 0xD1B5_4A32_D192_ED03

    mutating func add(_ word: Int) {
        let word = UInt64(bitPattern: Int64(word))
        first = (first ^ word) &* 0xFF51_AFD7_ED55_8CCD
        first ^= first >> 32
        second = (second &+ word) &* 0xC4CE_B9FE_1A85_EC53
        second ^= second >> 29
    }

    mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }
}

/// Describes a state so that two states that behave the same are described the
/// same: times relative to now, tokens numbered in the order of their first
/// use, versions and generations as current or not, requests by what they are
/// doing, not by their numbers.
struct ModelScribe {
    var key = ModelKey()
    // Not the world itself: a copy of it costs as much as the rest of a key.
    private let now: Int
    private let tokens: [ModelToken]
    private let refreshTokens: [ModelRefreshToken]
    /// The number of each token in the description; -1 for those without one.
    private var accesses: [Int]
    private var refreshes: [Int]
    private var counts = (accesses: 0, refreshes: 0)

    init(_ world: ModelWorld) {
        (now, tokens, refreshTokens) = (world.now, world.tokens, world.refreshTokens)
        accesses = [Int](repeating: -1, count: tokens.count)
        refreshes = [Int](repeating: -1, count: refreshTokens.count)
    }

    mutating func time(_ moment: Int) {
        key.add(moment == Int.max ? -2 : moment <= now ? -1 : moment - now)
    }

    mutating func time(_ instant: MonotonicInstant?) {
        guard let instant else {
            key.add(-3)
            return
        }
        time(ModelClock.seconds(instant))
    }

    mutating func credential(_ credential: ModelCredential) {
        access(credential.access)
        refresh(credential.refresh)
        key.add(credential.isEmpty ? 0 : max(credential.expiresAt - now, -1))
    }

    mutating func access(_ number: Int) {
        guard accesses[number] < 0 else {
            key.add(accesses[number])
            return
        }
        key.add(counts.accesses)
        accesses[number] = counts.accesses
        counts.accesses += 1
        let token = tokens[number]
        time(token.serverExpiry)
        time(token.expiry)
        time(token.due)
        key.add(token.expiresAtAsRead.map { $0 - now } ?? -4)
        key.add(
            (token.isRevoked ? 1 : 0) + token.account * 2 + (token.isRejected ? 4 : 0)
                + (token.isAccepted ? 8 : 0) + (token.isGranted ? 16 : 0) + (token.isCounted ? 32 : 0)
                + (token.isWritten ? 64 : 0))
    }

    private mutating func refresh(_ number: Int) {
        guard refreshes[number] < 0 else {
            key.add(refreshes[number])
            return
        }
        key.add(counts.refreshes)
        refreshes[number] = counts.refreshes
        counts.refreshes += 1
        let token = refreshTokens[number]
        key.add(
            (token.isValid ? 8 : 0) + (token.isSpent ? 4 : 0) + (token.isKnownRefused ? 2 : 0) + token.account)
        if let successor = token.successor { self.credential(successor) }
    }

    mutating func phase(_ phase: SessionMachine<Int>.Phase) {
        switch phase {
        case .loading(_, let end): key.add(end == nil ? 0 : 1)
        case .signedIn: key.add(2)
        case .refreshing: key.add(3)
        case .waiting: key.add(8)
        case .storing: key.add(4)
        case .backingOff(_, let until):
            key.add(5)
            time(until)
        case .ended(let end):
            key.add(6)
            if case .missingCredential = end.error { key.add(1) }
        case .signedOut: key.add(7)
        }
    }
}

extension ModelWorld {
    var key: ModelKey {
        var scribe = ModelScribe(self)
        let machine = sut.machine
        scribe.phase(machine.phase)
        let endIsNews = if case .loading(_, let end?) = machine.phase { !end.isAnnounced } else { false }
        if let held = machine.held {
            scribe.credential(ModelCredential(held.credential))
            scribe.time(held.expiry)
            scribe.key.add(
                (held.isUnproven ? 1 : 0) + (held.isRejected ? 2 : 0)
                    + (held.ignoresLeeway ? 16 : 0)
                    + (held.finalFailure != nil ? 32 : 0))
            scribe.time(held.refreshTime)
        } else {
            scribe.key.add(-1)
        }
        for flag in [
            machine.isReleasing, machine.leftBehind != nil, machine.leftBehind?.isSignedOut ?? false,
            machine.hasAnnouncedStaleStore,
            isReleasing, machine.runningLoad != nil, hasFailedEarly, endIsNews,
            isAcquisitionRefused,
        ] { scribe.key.add(flag) }
        let order = requestsByWhatTheyDo
        if let released = machine.releasedTicket {
            for ticket in order.map({ requests[$0].ticket }) {
                scribe.key.add(ticket.map { $0 < released ? 1 : 2 } ?? 0)
            }
        }
        scribe.key.add(-15)
        scribe.key.add(min(machine.setback?.count ?? 0, 5))
        scribe.key.add(min(failures, 5))
        scribe.time(machine.setback?.notBefore)
        scribe.time(notBefore)
        for instant in machine.fruitless { scribe.time(instant + .seconds(50)) }
        scribe.key.add(-4)
        for moment in fruitless { scribe.time(moment + 50) }
        scribe.time(machine.patienceEnd)
        if case .refreshing(_, let refresh) = machine.phase { scribe.key.add(refresh.isSilent) }
        scribe.key.add(machine.setback?.overdueNumber.map { $0 == overdue.first?.number } ?? false)
        scribe.key.add(pausesFor.map { $0 == overdue.first?.number } ?? false)
        for refresh in overdue {
            scribe.credential(refresh.credential)
            scribe.time(refresh.sentAt + 1_000)
            scribe.key.add((refresh.isSignedOut ? 1 : 0) + (refresh.isOutdated ? 2 : 0))
        }
        scribe.key.add(-17)
        scribe.key.add(-5)
        scribe.credential(store)
        scribe.credential(current ?? ModelCredential())
        scribe.credential(signing ?? ModelCredential())
        for credential in shelf { scribe.credential(credential) }
        scribe.credential(seen ?? ModelCredential())
        scribe.key.add(seen == nil)
        for credential in beneath { scribe.credential(credential) }
        scribe.key.add(-16)
        for credential in pending { scribe.credential(credential) }
        scribe.key.add(-14)
        scribe.key.add(signing != nil)
        describeStore(to: &scribe)
        scribe.time(wakeAt ?? Int.max)
        for refresh in inFlight {
            scribe.credential(refresh.credential)
            scribe.time(refresh.sentAt + 1_000)
            scribe.key.add((refresh.isOutdated ? 1 : 0) + (refresh.isSignedOut ? 2 : 0))
            scribe.key.add(machine.running?.number == refresh.number)
        }
        scribe.key.add(-6)
        for write in writes {
            scribe.credential(write.credential)
            scribe.key.add(write.tokenNumber == machine.tokenNumber)
            scribe.key.add(write.isDone)
        }
        scribe.key.add(-7)
        for index in order { describe(requests[index], to: &scribe) }
        for index in slotQueue { scribe.key.add(order.firstIndex(of: index) ?? -1) }
        scribe.key.add(-8)
        for index in machine.waiters.members.map({ $0.waiter }) { scribe.key.add(order.firstIndex(of: index) ?? -1) }
        scribe.key.add(disturbancesLeft)
        scribe.key.add(timeStepsLeft)
        return scribe.key
    }

    /// The requests' numbers in an order that doesn't depend on the numbers,
    /// unless two are doing the same: half of all states only exchange two
    /// requests' parts.
    ///
    /// What happens to a request depends on its number only until it begins, and
    /// they begin in order. Its deadline is a part of its description; so must be
    /// everything else that a number may give it.
    private var requestsByWhatTheyDo: [Int] {
        let ranks = requests.map { rank($0) }
        return requests.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    }

    /// What a request is doing, as a number: less than its description says, and
    /// nothing else.
    private func rank(_ request: ModelRequest) -> Int {
        let state =
            switch request.state {
            case .done: 0
            case .asks: 1
            case .reading(let version, _): isFresh(request, version) ? 2 : 3
            case .waiting: 4
            case .released: 5
            case .inSlotQueue: 6
            case .onWire(let tokenNumber, _, let isAccepted):
                (tokenNumber == sut.machine.tokenNumber ? 7 : 8) + (isAccepted ? 2 : 0)
            case .idle: 11
            }
        guard state > 0 else { return 0 }
        let earlier = requests.count { $0.joined < request.joined && $0.ticket != nil && $0.isUnderWay }
        let flags =
            (request.isNew ? 4 : 0) + (request.hasRetried ? 2 : 0) + (request.ticket != nil ? 1 : 0)
            + (request.deadline < 100_000 ? 8 : 0) + (request.isTurnedAway ? 16 : 0)
        return (state * 32 + flags) * 8 + (request.ticket == nil ? 0 : earlier)
    }

    /// The gate doesn't mind the version.
    private func isFresh(_ request: ModelRequest, _ version: Int) -> Bool {
        !request.isTurnedAway || version == sut.machine.version
    }

    private func describe(_ request: ModelRequest, to scribe: inout ModelScribe) {
        switch request.state {
        case .idle: scribe.key.add(0)
        case .asks: scribe.key.add(1)
        case .reading(let version, let credential):
            scribe.key.add(isFresh(request, version) ? 2 : 3)
            scribe.credential(credential)
        case .waiting:
            scribe.key.add(4)
            if let end = patienceEnd(of: request) { scribe.time(end) }
        case .released: scribe.key.add(9)
        case .inSlotQueue: scribe.key.add(5)
        case .onWire(let tokenNumber, let access, let isAccepted):
            scribe.key.add(tokenNumber == sut.machine.tokenNumber ? 6 : 7)
            scribe.access(access)
            scribe.key.add(isAccepted)
            scribe.key.add(request.signIns == tokens[access].signIns)
        case .done:
            scribe.key.add(8)
            return
        }
        scribe.key.add(request.tenure.map { $0.isSameSignIn(as: sut.machine.tenure) ? 1 : 2 } ?? 0)
        scribe.key.add(request.ownGeneration.map { $0 == generation ? 1 : 2 } ?? 0)
        scribe.key.add(
            (request.isTurnedAway ? 8 : 0) + (request.isNew ? 4 : 0) + (request.hasRetried ? 2 : 0)
                + (request.ticket != nil ? 1 : 0))
        if request.deadline < 100_000 { scribe.time(request.deadline) }
        scribe.key.add(request.slotPlace.map { place in requests.count { ($0.slotPlace ?? .max) < place } } ?? -1)
        let isPlaced = request.ticket != nil
        scribe.key.add(
            isPlaced
                ? requests.count { $0.joined < request.joined && $0.ticket != nil && $0.isUnderWay } : -1)
    }
}
