@testable import AtomNetworking

extension ProcessWorld {
    /// Two states that behave the same have the same key, also if two processes have
    /// changed places.
    var key: ModelKey {
        var key = ModelKey()
        key.add(now)
        key.add(disturbancesLeft)
        key.add(landings)
        for family in families {
            key.add(-1)
            for grant in family.grants {
                key.add(grant.expiresAt)
                key.add(flags: grant.isAccessRevoked, grant.wasStored, grant.couldNotBeStored)
            }
            key.add(flags: family.isRevoked, family.isLost, family.isGivenUp, family.hasNoNote)
            key.add(family.landed ?? -2)
        }
        describe(file.content, to: &key)
        key.add(file.landed)
        key.add(flags: file.holder != nil, file.hasLeftover)
        for orphan in orphans.sorted(by: { ($0.family, $0.index) < ($1.family, $1.index) }) { key.add(orphan) }
        key.add(-3)
        let parts = processes.indices.map { describe($0) }
        for part in parts.sorted(by: { ($0.first, $0.second) < ($1.first, $1.second) }) {
            key.add(Int(truncatingIfNeeded: part.first))
            key.add(Int(truncatingIfNeeded: part.second))
        }
        return key
    }

    private func describe(_ content: StoredCredential?, to key: inout ModelKey) {
        key.add(IssuedCredential(content?.credential))
        guard let intent = content?.intent else { return key.add(-4) }
        // A note is about one refresh token, which this tells from all others.
        key.add(intent.fingerprint.hashed)
    }

    private func describe(_ number: Int) -> ModelKey {
        let process = processes[number]
        let machine = process.machine
        var key = ModelKey()
        key.add(file.holder == number)
        for request in process.requests {
            switch request {
            case .idle: key.add(0)
            case .asks(let ticket, let tenure, let hasRetried):
                key.add(1)
                key.add(ticket != nil)
                key.add(tenure.map { $0.isSameSignIn(as: machine.tenure) ? 1 : 2 } ?? 0)
                key.add(hasRetried)
            case .waits(_, let tenure, let hasRetried):
                key.add(2)
                key.add(tenure.isSameSignIn(as: machine.tenure))
                key.add(hasRetried)
            case .onWire(let tokenNumber, let credential, let tenure, let hasRetried):
                key.add(3)
                key.add(tokenNumber == machine.tokenNumber)
                key.add(credential)
                key.add(tenure.isSameSignIn(as: machine.tenure))
                key.add(hasRetried)
            case .done: key.add(4)
            }
        }
        key.add(process.words.count == process.wordsBefore)
        key.add(flags: process.words.isEmpty, process.hasFailed)
        for word in process.words {
            key.add(word.family ?? -5)
            key.add(word.base)
            key.add(word.landed ?? -6)
            key.add(word.hasFailed)
            key.add(word.over)
        }
        key.add(-7)
        for operation in process.operations { describe(operation, of: machine, to: &key) }
        key.add(-8)
        for call in process.adrift { describe(call, to: &key) }
        key.add(-9)
        for credential in process.revocations { key.add(credential) }
        key.add(-16)
        for credential in process.removed { key.add(credential) }
        key.add(process.lastRead)
        key.add(process.remembered)
        key.add(-10)
        describe(machine, touched: process.touched, to: &key)
        for credential in process.touched {
            key.add(flags: process.spent.contains(credential), process.refused.contains(credential))
        }
        return key
    }

    private func describe(_ call: TokenCall, to key: inout ModelKey) {
        key.add(call.credential)
        key.add(call.sentAt)
        switch call.answer {
        case nil: key.add(0)
        case .granted(let new): key.add(new)
        case .refused: key.add(1)
        }
    }

    private func describe(
        _ operation: StoreOperation, of machine: SessionMachine<Int>, to key: inout ModelKey
    ) {
        switch operation.kind {
        case .load(let number):
            key.add(20)
            if case .loading(number, _) = machine.phase { key.add(1) }
        case .refresh(let number):
            key.add(21)
            key.add(machine.isRunning(number))
            key.add(machine.leftBehind?.number == number)
        case .write(let credential, let tenure, let before, let held):
            key.add(22)
            key.add(credential)
            key.add(tenure.isSameSignIn(as: machine.tenure))
            if credential == nil {
                key.add(held)
                key.add(IssuedCredential(before.last))
                key.add(before.outstanding == nil)
                for family in families.indices {
                    for index in families[family].grants.indices {
                        let old = real(IssuedCredential(family: family, index: index))
                        key.add(IssuedCredential(before.intended(over: old)))
                    }
                }
            }
        case .writeAgain(let tenure):
            key.add(23)
            key.add(tenure.isSameSignIn(as: machine.tenure))
        }
        func add(_ content: StoredCredential?, _ next: StoreOperation.Next) {
            describe(content, to: &key)
            switch next {
            case .sends: key.add(0)
            case .settles: key.add(1)
            case .releases: key.add(2)
            case .tells: key.add(3)
            }
        }
        switch operation.stage {
        case .loads: key.add(30)
        case .begins: key.add(31)
        case .wantsLock: key.add(32)
        case .reads: key.add(33)
        case .notes: key.add(34)
        case .removesNote: key.add(35)
        case .writes(let content, let next):
            key.add(36)
            add(content, next)
        case .renames(let content, let next):
            key.add(37)
            add(content, next)
        case .waits(let call):
            key.add(38)
            describe(call, to: &key)
        case .compares: key.add(39)
        case .saves: key.add(40)
        case .releases: key.add(41)
        case .readsAgain: key.add(42)
        case .tells: key.add(43)
        }
        switch operation.outcome {
        case .nothing: key.add(0)
        case .abandoned: key.add(1)
        case .granted(let new, let tokenNumber):
            key.add(new)
            key.add(machine.mayStore(tokenNumber: tokenNumber))
        case .rejected(.refreshInterrupted): key.add(2)
        case .rejected: key.add(3)
        case .failed: key.add(4)
        case .leftBehind: key.add(5)
        }
        key.add(IssuedCredential(operation.old))
        key.add(IssuedCredential(operation.result))
        key.add(IssuedCredential(operation.unchanged))
        key.add(operation.sends)
        key.add(flags: operation.wasInterrupted, operation.isCancelled, operation.hasFailed)
    }

    private func describe(
        _ machine: SessionMachine<Int>, touched: [IssuedCredential], to key: inout ModelKey
    ) {
        switch machine.phase {
        case .loading(let number, let end):
            key.add(number == nil ? 50 : 51)
            describe(end, to: &key)
        case .signedOut: key.add(52)
        case .signedIn: key.add(53)
        case .refreshing(_, let refresh):
            key.add(54)
            key.add(IssuedCredential(refresh.credential))
        case .waiting: key.add(55)
        case .storing: key.add(56)
        case .backingOff: key.add(57)
        case .ended(let end):
            key.add(58)
            describe(end, to: &key)
        }
        describe(machine.held, to: &key)
        if let leftBehind = machine.leftBehind {
            key.add(leftBehind.isSignedOut)
            key.add(IssuedCredential(leftBehind.credential))
        }
        key.add(-11)
        key.add(min(machine.setback?.count ?? 0, 3))
        var store = machine.store
        switch store.outstanding {
        case nil: key.add(0)
        case .first(let tenure): key.add(tenure.isSameSignIn(as: machine.tenure) ? 1 : 2)
        case .overAnything: key.add(3)
        case .overOld: key.add(4)
        }
        key.add(store.retryAt != nil)
        key.add(store.last == nil ? -12 : 0)
        key.add(IssuedCredential(store.last))
        store.outstanding = nil
        key.add(judgement(.empty, by: store))
        for issued in touched {
            let credential = real(issued)
            key.add(issued)
            key.add(judgement(credential, by: store))
            key.add(machine.spent.contains(credential))
            key.add(IssuedCredential(machine.spent.successor(of: credential)))
            describe(machine.known.find(issued.accessToken), to: &key)
        }
    }

    private func judgement(_ credential: TokenCredential, by store: StoreMemory) -> Int {
        switch store.judge(credential) {
        case .same: 0
        case .arrived: 1
        case .old: 2
        case .news: 3
        }
    }

    private func describe(_ end: SessionEnd?, to key: inout ModelKey) {
        guard let end else { return key.add(-13) }
        switch end.error {
        case .refreshInterrupted: key.add(1)
        case .refreshRejected: key.add(2)
        default: key.add(3)
        }
        key.add(end.isAnnounced)
    }

    private func describe(_ held: HeldCredential?, to key: inout ModelKey) {
        guard let held else { return key.add(-14) }
        key.add(IssuedCredential(held.credential))
        key.add(held.expiry.map(ModelClock.seconds) ?? -1)
        key.add(held.refreshTime.map(ModelClock.seconds) ?? -1)
        key.add(
            flags: held.isUnproven, held.isRejected, held.ignoresLeeway, held.finalFailure != nil)
    }
}

extension ModelKey {
    fileprivate mutating func add(_ credential: IssuedCredential?) {
        add(credential.map { $0.family * 16 + $0.index } ?? -15)
    }

    fileprivate mutating func add(flags: Bool...) {
        add(flags.reduce(1) { $0 * 2 + ($1 ? 1 : 0) })
    }
}

extension String {
    /// The same in every run.
    fileprivate var hashed: Int { utf8.reduce(0) { ($0 &* 31) &+ Int($1) } }
}
