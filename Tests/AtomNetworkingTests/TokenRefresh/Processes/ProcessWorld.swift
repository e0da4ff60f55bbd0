import Foundation

@testable import AtomNetworking

/// Several processes with one store, an authorization server that rotates refresh
/// tokens and detects their reuse, and what may come between.
///
/// What decides is the product's: each process has its own machine, and the file
/// holds what the stores write. What the session's actor and the keeper of a store do
/// is here a sequence of small steps, between which the others act, or the process
/// dies: the lock, the reading, the note, the request, its answer, the writing of a
/// temporary file and its renaming, the release.
///
/// A process goes on at once after it has died, without memory. Within a process one
/// request is made after the other, and nothing comes between the parts of what it
/// does without waiting: that is what the session's own model walks.
struct ProcessWorld: Sendable {
    struct Violation: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static let life = 64

    let settings: ProcessSettings
    let bug: ProcessBug?
    var now = 0
    var families: [TokenFamily]
    var file = SharedFile()
    var processes: [ModelledProcess]
    /// Requests whose sender has died, or waits no longer; they may still arrive.
    var orphans: [IssuedCredential] = []
    /// How many sign-ins and sign-outs have reached the store.
    var landings = 0
    var disturbancesLeft: Int

    init(_ settings: ProcessSettings, bug: ProcessBug? = nil) {
        self.settings = settings
        self.bug = bug
        families = [TokenFamily(grants: [TokenFamily.Grant(expiresAt: settings.firstLife, wasStored: true)], landed: 0)]
        processes = Array(repeating: ModelledProcess(requests: settings.requests), count: settings.processes)
        disturbancesLeft = settings.limit
        file.content = StoredCredential(credential: real(IssuedCredential(family: 0, index: 0)))
    }

    var moment: Moment { ModelClock.moment(now) }

    func real(_ issued: IssuedCredential) -> TokenCredential {
        let expiresAt = families[issued.family].grants[issued.index].expiresAt
        return TokenCredential(
            accessToken: issued.accessToken,
            expiresAt: Date(timeIntervalSince1970: Double(ModelClock.epoch + expiresAt)),
            refreshToken: issued.refreshToken)
    }

    // MARK: Steps

    var isQuiet: Bool { processes.allSatisfy(\.isQuiet) }

    var steps: [ProcessStep] {
        var steps: [ProcessStep] = []
        for process in processes.indices {
            addSteps(of: process, to: &steps)
            if disturbancesLeft > 0 { addDisturbances(of: process, to: &steps) }
        }
        steps += orphans.map { .serveOrphan($0) }
        if can(.time), nextMoment != nil { steps.append(.disturb(.time, 0)) }
        if can(.revokeAccess), let held = file.credential, !families[held.family].grants[held.index].isAccessRevoked {
            steps.append(.disturb(.revokeAccess, 0))
        }
        return steps
    }

    private func addSteps(of number: Int, to steps: inout [ProcessStep]) {
        let process = processes[number]
        if let current = process.current {
            switch process.requests[current] {
            case .idle, .asks: steps.append(.ask(number))
            case .onWire: steps.append(.answer(number))
            case .waits, .done: break
            }
        }
        if let operation = process.operations.first {
            switch operation.stage {
            case .wantsLock:
                if file.holder == nil || isLockSkipped(operation) { steps.append(.proceed(number, .lock)) }
                if operation.isCancelled { steps.append(.giveUp(number)) }
            case .waits(let call):
                steps.append(call.answer == nil ? .serve(number) : .hear(number))
                if operation.isCancelled { steps.append(.giveUp(number)) }
            default: if let name = operation.name { steps.append(.proceed(number, name)) }
            }
        }
        if let call = process.adrift.first {
            steps.append(call.answer == nil ? .serveAdrift(number) : .hearAdrift(number))
        }
        if !process.revocations.isEmpty { steps.append(.revoke(number)) }
        let isWriting = process.operations.contains { if case .writeAgain = $0.kind { true } else { false } }
        if process.machine.store.retryAt != nil, !isWriting { steps.append(.ring(number)) }
    }

    private func addDisturbances(of number: Int, to steps: inout [ProcessStep]) {
        func add(_ disturbance: ProcessSettings.Disturbance) { steps.append(.disturb(disturbance, number)) }
        let process = processes[number]
        if can(.crash), !process.isUntouched { add(.crash) }
        if can(.signIn) { add(.signIn) }
        if can(.signOut) { add(.signOut) }
        guard let operation = process.operations.first else { return }
        switch operation.stage {
        case .waits(let call):
            if can(.lose) { add(.lose) }
            if can(.fail), call.answer == nil { add(.fail) }
        case .writes, .saves: if can(.writingFails) { add(.writingFails) }
        case .wantsLock: if can(.lockTimesOut), file.holder != nil, file.holder != number { add(.lockTimesOut) }
        default: break
        }
    }

    private func can(_ disturbance: ProcessSettings.Disturbance) -> Bool {
        disturbancesLeft > 0 && settings.disturbances.contains(disturbance)
    }

    /// The next moment at which something becomes due in a process.
    private var nextMoment: Int? {
        processes.flatMap { [$0.machine.held?.refreshTime, $0.machine.held?.expiry] }
            .compactMap { $0.map(ModelClock.seconds) }.filter { $0 > now }.min()
    }

    mutating func take(_ step: ProcessStep) throws(Violation) {
        switch step {
        case .ask(let process): try ask(process)
        case .answer(let process): try answer(process)
        case .proceed(let process, let name): try proceed(process, name)
        case .serve(let process):
            guard let call = processes[process].operations.first?.call else { return }
            processes[process].operations[0].stage = .waits(try serve(call))
        case .hear(let process): try hear(process)
        case .serveAdrift(let process): processes[process].adrift[0] = try serve(processes[process].adrift[0])
        case .hearAdrift(let process): try hearAdrift(process)
        case .serveOrphan(let credential): serveOrphan(credential)
        case .giveUp(let process): try giveUp(process)
        case .revoke(let process):
            let credential = processes[process].revocations.removeFirst()
            // A token that isn't valid any more revokes nothing (RFC 7009 §2.2).
            if credential.index == families[credential.family].last { families[credential.family].isRevoked = true }
        case .ring(let process):
            processes[process].operations.append(
                StoreOperation(.writeAgain(tenure: .nobody), at: .begins))
        case .disturb(let disturbance, let process):
            disturbancesLeft -= 1
            try disturb(disturbance, process)
        }
        if isQuiet { try checkQuiet() }
    }

    // MARK: Requests

    private mutating func ask(_ process: Int) throws(Violation) {
        guard let current = processes[process].current else { return }
        var ticket: Int?
        var tenure: Tenure?
        var hasRetried = false
        switch processes[process].requests[current] {
        case .asks(let asked, let admitted, let retried): (ticket, tenure, hasRetried) = (asked, admitted, retried)
        default: processes[process].wordsBefore = processes[process].words.count
        }
        if let (ticket, pass) = processes[process].machine.admitAtOnce(
            by: .refreshToken, of: tenure, ticket: ticket, at: moment.instant)
        {
            return try start(process, ticket, hasRetried, pass)
        }
        let (admission, actions) = processes[process].machine.asked(
            current, by: .refreshToken, of: tenure, ticket: ticket, deadline: ModelClock.instant(100_000),
            now: moment)
        switch admission {
        case .go(let ticket):
            try perform(actions, process)
            try start(process, ticket, hasRetried, pass(process, ticket))
        case .wait(let ticket):
            processes[process].requests[current] = .waits(
                ticket: ticket, tenure: processes[process].machine.tenure, hasRetried: hasRetried)
            try perform(actions, process)
        case .refuse(let error):
            processes[process].requests[current] = .done
            try perform(actions, process)
            try checkRefusal(process, error)
        case .readAgain: throw Violation("a store is read by the session")
        }
    }

    private func pass(_ process: Int, _ ticket: Int) -> Pass {
        let machine = processes[process].machine
        return machine.pass(of: machine.tenure, ticket: ticket, at: moment.instant)
    }

    /// The request is sent, or asks again.
    private mutating func start(
        _ process: Int, _ ticket: Int, _ hasRetried: Bool, _ pass: Pass
    ) throws(Violation) {
        guard let current = processes[process].current else { return }
        guard let value = pass.authorization, let tokenNumber = pass.tokenNumber else {
            processes[process].requests[current] = .asks(
                ticket: ticket, tenure: pass.tenure, hasRetried: hasRetried)
            return
        }
        let credential = IssuedCredential(accessToken: String(value.dropFirst("Bearer ".count)))
        try checkStart(process, credential)
        processes[process].requests[current] = .onWire(
            tokenNumber: tokenNumber, credential, tenure: pass.tenure, hasRetried: hasRetried)
    }

    private mutating func answer(_ process: Int) throws(Violation) {
        guard let current = processes[process].current,
            case .onWire(let tokenNumber, let credential, let tenure, let hasRetried) = processes[process].requests[
                current]
        else { return }
        let family = families[credential.family]
        let grant = family.grants[credential.index]
        let isAccepted = !family.isRevoked && !grant.isAccessRevoked && now < grant.expiresAt
        if isAccepted {
            processes[process].machine.accepted(tokenNumber: tokenNumber)
            processes[process].requests[current] = .done
        } else if hasRetried {
            processes[process].requests[current] = .done
        } else {
            processes[process].machine.rejected(tokenNumber: tokenNumber, now: moment)
            processes[process].requests[current] = .asks(ticket: nil, tenure: tenure, hasRetried: true)
        }
    }

    private mutating func release(_ process: Int) throws(Violation) {
        while true {
            let (waiter, actions) = processes[process].machine.nextReleased(now: moment)
            guard let waiter else { return try perform(actions, process) }
            guard case .waits(let ticket, _, let hasRetried) = processes[process].requests[waiter] else {
                throw Violation("a request is released that doesn't wait (G5)")
            }
            try start(process, ticket, hasRetried, pass(process, ticket))
        }
    }

    // MARK: What the machine asks for

    mutating func perform(_ actions: [SessionMachine<Int>.Action], _ process: Int) throws(Violation) {
        for action in actions {
            switch action {
            case .load(let number):
                processes[process].operations.append(StoreOperation(.load(number), at: .loads))
            case .refresh(let number, _, _):
                processes[process].operations.append(
                    StoreOperation(.refresh(number), at: settings.isExclusive ? .wantsLock : .loads))
            case .writeAgain:
                processes[process].operations.append(StoreOperation(.writeAgain(tenure: .nobody), at: .begins))
            case .release: try release(process)
            case .refuse(let waiters, let error):
                for waiter in waiters {
                    guard case .waits = processes[process].requests[waiter] else {
                        throw Violation("a request is refused without waiting, or twice (G5)")
                    }
                    processes[process].requests[waiter] = .done
                    try checkRefusal(process, error)
                }
            case .revoke(let credential):
                if let issued = IssuedCredential(credential) { processes[process].revocations.append(issued) }
            case .announce(.ended(let error)): try checkEnd(process, error)
            case .wake:
                // For an early refresh, which is never silent here.
                guard case .refreshing = processes[process].machine.phase else {
                    throw Violation("nothing has to be waited for")
                }
            // The exchange writes what is to be stored.
            case .set, .announceFailure, .announceStaleStore, .announce: break
            }
        }
    }

    // MARK: The server

    private mutating func serve(_ call: TokenCall) throws(Violation) -> TokenCall {
        var call = call
        let sent = call.credential
        if !families[sent.family].isRevoked, sent.index == families[sent.family].last {
            call.answer = .granted(sent.next)
            families[sent.family].grants.append(TokenFamily.Grant(expiresAt: call.sentAt + Self.life))
        } else {
            call.answer = .refused
            try checkReuse(of: sent)
        }
        return call
    }

    private mutating func serveOrphan(_ sent: IssuedCredential) {
        orphans.removeAll { $0 == sent }
        if sent.index == families[sent.family].last {
            families[sent.family].grants.append(TokenFamily.Grant(expiresAt: now + Self.life))
        } else if settings.isExclusive {
            families[sent.family].isRevoked = true
        }
        families[sent.family].isLost = true
    }

    // MARK: Disturbances

    private mutating func disturb(_ disturbance: ProcessSettings.Disturbance, _ process: Int) throws(Violation) {
        switch disturbance {
        case .crash: crash(process)
        case .lose:
            guard let call = processes[process].operations.first?.call else { return }
            abandon(call)
            try failed(process)
        case .fail:
            try failed(process, isTaken: false)
        case .signIn:
            families.append(TokenFamily(grants: [TokenFamily.Grant(expiresAt: now + Self.life)]))
            try say(process, IssuedCredential(family: families.count - 1, index: 0))
        case .signOut: try say(process, nil)
        case .revokeAccess:
            guard let held = file.credential else { return }
            for index in families[held.family].grants.indices {
                families[held.family].grants[index].isAccessRevoked = true
            }
        case .writingFails: try writingFails(process)
        case .lockTimesOut:
            processes[process].operations[0].hasFailed = true
            processes[process].operations[0].stage = .tells
        case .time: if let nextMoment { now = nextMoment }
        }
        processes[process].hasFailed = true
    }

    /// Nobody hears the answer to a token request.
    private mutating func abandon(_ call: TokenCall) {
        switch call.answer {
        case nil: orphans.append(call.credential)
        case .granted: families[call.credential.family].isLost = true
        case .refused: break
        }
    }

    /// The process dies: the system releases its lock, its memory is gone, and its files stay as they are.
    ///
    /// It starts again, and so do its requests.
    private mutating func crash(_ number: Int) {
        let process = processes[number]
        if let operation = process.operations.first {
            if case .renames = operation.stage { file.hasLeftover = true }
            if let call = operation.call { abandon(call) }
            if let granted = operation.granted, !families[granted.family].grants[granted.index].wasStored {
                families[granted.family].isLost = true
            }
        }
        for call in process.adrift { abandon(call) }
        if file.holder == number, bug != .lockOutlivesItsProcess { file.holder = nil }
        var next = ModelledProcess(requests: process.requests.count)
        for (index, request) in process.requests.enumerated() where request == .done { next.requests[index] = .done }
        if bug == .restartUsesWhatItKnew {
            next.remembered = process.lastRead
            next.touch(next.remembered)
        }
        processes[number] = next
    }

    /// The app signs in, or out.
    private mutating func say(_ process: Int, _ credential: IssuedCredential?) throws(Violation) {
        let before = processes[process].machine.store
        let held = IssuedCredential(processes[process].machine.held?.credential)
        processes[process].words.append(ModelledProcess.Word(family: credential?.family, base: landings))
        processes[process].touch(credential)
        // What its token requests bring is for nobody.
        for call in processes[process].adrift + [processes[process].operations.first?.call].compactMap({ $0 }) {
            families[call.credential.family].isGivenUp = true
        }
        var actions: [SessionMachine<Int>.Action]
        if let credential {
            actions = processes[process].machine.signedIn(real(credential), now: moment).1
        } else {
            actions = processes[process].machine.signedOut().1
        }
        if let outdated = processes[process].machine.leftBehind?.number {
            for index in processes[process].operations.indices {
                if case .refresh(outdated) = processes[process].operations[index].kind {
                    processes[process].operations[index].isCancelled = true
                }
            }
        }
        let kind = StoreOperation.Kind.write(
            credential, tenure: processes[process].machine.tenure, before: before, held: held)
        processes[process].operations.append(StoreOperation(kind, at: .loads))
        if bug == .signOutLeavesWaiters, credential == nil { actions = [] }
        try perform(actions, process)
    }
}

extension ProcessWorld: ModelledWorld {
    typealias Step = ProcessStep
    typealias Key = ModelKey

    func isFair(_ step: ProcessStep) -> Bool { step.isFair }
}
