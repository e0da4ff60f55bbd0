import Foundation

@testable import AtomNetworking

// What the session's actor and the keeper of a store do, step by step.
extension ProcessWorld {
    private typealias Operation = StoreOperation

    func isLockSkipped(_ operation: StoreOperation) -> Bool {
        guard bug == .lockIsSkipped, case .refresh = operation.kind else { return false }
        return true
    }

    /// The first operation of a process goes on.
    mutating func proceed(_ process: Int, _ name: StoreOperation.Name) throws(Violation) {
        switch processes[process].operations[0].stage {
        case .loads: try load(process)
        case .begins:
            guard processes[process].machine.hasToWriteAgain else {
                processes[process].operations.removeFirst()
                return
            }
            processes[process].operations[0] = StoreOperation(
                .writeAgain(tenure: processes[process].machine.tenure),
                at: settings.isExclusive ? .wantsLock : .loads)
        case .wantsLock:
            if file.holder == nil { file.holder = process }
            // A save looks only whether the file can be read; a sign-out is an exchange.
            if case .write(let credential, _, _, _) = processes[process].operations[0].kind, !isExchange(process) {
                processes[process].operations[0].stage = .writes(content(credential), .releases)
            } else {
                processes[process].operations[0].stage = .reads
            }
        case .reads: try begin(process, read(process))
        case .notes: try note(process)
        case .removesNote: try removeNote(process)
        case .writes(let content, let next):
            // What others have left is removed first.
            file.hasLeftover = false
            if bug == .fileIsEmptiedFirst { file.content = nil }
            processes[process].operations[0].stage = .renames(content, next)
        case .renames(let content, let next):
            try put(content, process)
            try go(on: next, process)
        case .waits: break
        case .compares:
            let found = read(process)
            let operation = processes[process].operations[0]
            if case .write = operation.kind {
                // What others have saved meanwhile is signed out, too.
                processes[process].operations[0].old = found
                processes[process].operations[0].stage = .saves
            } else if bug != .savesWithoutLooking, !found.hasTokens(of: operation.old) {
                processes[process].operations[0].result = found
                processes[process].operations[0].stage = .tells
            } else {
                guard found.hasTokens(of: operation.old) else {
                    throw Violation("what somebody has saved during a refresh is overwritten")
                }
                processes[process].operations[0].stage = .saves
            }
        case .saves:
            let operation = processes[process].operations[0]
            if case .write(let credential, _, _, _) = operation.kind {
                try put(content(credential), process)
            } else {
                // Since it looked, somebody else may have saved.
                if file.credential != IssuedCredential(operation.old) { comeBack(operation.result) }
                try put(operation.result.map { StoredCredential(credential: $0) }, process)
            }
            processes[process].operations[0].stage = .tells
        case .releases:
            if file.holder == process { file.holder = nil }
            try go(on: .tells, process)
        case .readsAgain:
            processes[process].operations[0].old = read(process)
            processes[process].operations[0].stage = .tells
        case .tells: try tell(process)
        }
    }

    /// Whether a sign-out reads and writes in one exchange.
    private func isExchange(_ process: Int) -> Bool {
        guard case .write(nil, _, _, _) = processes[process].operations[0].kind else { return false }
        return bug != .signOutReadsBefore
    }

    private func content(_ credential: IssuedCredential?) -> StoredCredential? {
        credential.map { StoredCredential(credential: real($0)) }
    }

    private mutating func read(_ process: Int) -> TokenCredential? {
        let credential = file.credential
        processes[process].touch(credential)
        processes[process].lastRead = credential
        return file.content?.credential
    }

    /// Without the lock.
    private mutating func load(_ process: Int) throws(Violation) {
        var found = read(process)
        switch processes[process].operations[0].kind {
        case .load:
            if let remembered = processes[process].remembered { found = real(remembered) }
            processes[process].operations[0].old = found
            processes[process].operations[0].stage = .tells
        case .write(let credential, let tenure, _, _):
            processes[process].operations[0].old = found
            guard
                processes[process].machine.mayWrite(signedIn: credential.map { real($0) }, in: tenure)
            else {
                processes[process].machine.notReplaced(in: tenure)
                return revoke(after: processes[process].operations.removeFirst(), process)
            }
            // It replaces what is there now, if it has to be tried again.
            setWord(of: credential, process) { [file] in $0.base = file.landed }
            processes[process].operations[0].stage =
                settings.isExclusive ? .wantsLock : credential == nil ? .compares : .saves
        case .refresh, .writeAgain: try begin(process, found)
        }
    }

    // MARK: An exchange

    private mutating func begin(_ process: Int, _ stored: TokenCredential?) throws(Violation) {
        if case .write = processes[process].operations[0].kind {
            processes[process].operations[0].old = stored
            setWord(of: nil, process) { [file] in $0.base = file.landed }
            // There may be nothing to remove.
            if stored == nil { land(nil, process) }
            processes[process].operations[0].stage = stored == nil ? .releases : .writes(nil, .releases)
            return
        }
        let unchanged =
            bug == .exchangeWritesForASignOut
            ? processes[process].machine.store.intended(over: stored)
            : processes[process].machine.intended(over: stored)
        processes[process].operations[0].old = stored
        processes[process].operations[0].unchanged = unchanged
        processes[process].operations[0].result = unchanged
        guard case .refresh(let number) = processes[process].operations[0].kind else { return try settle(process) }
        if bug == .writtenOverIsNews { processes[process].machine.store = StoreMemory() }
        let step: SessionMachine<Int>.RefreshStep
        if let remembered = processes[process].remembered {
            step = .goOn(real(remembered))
        } else if bug == .storeIsNotReadAgain, processes[process].machine.isRunning(number) {
            step = .goOn(processes[process].machine.held?.credential)
        } else {
            let (next, actions) = processes[process].machine.refreshFound(number: number, stored, now: moment)
            step = next
            try perform(actions, process)
        }
        guard case .goOn(let credential) = step else {
            processes[process].operations[0].outcome = .abandoned
            return try settle(process)
        }
        guard let issued = IssuedCredential(credential) else { throw Violation("a refresh is sent without a token") }
        processes[process].operations[0].sends = issued
        if settings.isExclusive, bug != .noteIsNotWritten {
            processes[process].operations[0].stage = .notes
        } else {
            try send(process)
        }
    }

    private mutating func note(_ process: Int) throws(Violation) {
        guard let sends = processes[process].operations[0].sends else { return }
        var content = file.content ?? StoredCredential()
        if let intent = content.intent, intent.concerns(sends.refreshToken) {
            processes[process].operations[0].wasInterrupted = bug != .noteIsIgnored
            return try send(process)
        }
        content.intent = RefreshIntent(refreshToken: sends.refreshToken, salt: 0)
        processes[process].operations[0].stage = .writes(content, .sends)
    }

    private mutating func send(_ process: Int) throws(Violation) {
        guard case .refresh(let number) = processes[process].operations[0].kind,
            let sends = processes[process].operations[0].sends
        else { return }
        guard processes[process].machine.isRunning(number) else {
            processes[process].operations[0].outcome = .abandoned
            return try removeOwnNote(process)
        }
        try checkSending(process, sends)
        processes[process].operations[0].stage = .waits(TokenCall(number: number, credential: sends, sentAt: now))
    }

    /// The note is removed, unless an earlier refresh has left it.
    private mutating func removeOwnNote(_ process: Int) throws(Violation) {
        let isKept = processes[process].operations[0].wasInterrupted && bug != .refusalRemovesTheNote
        guard settings.isExclusive, !isKept else { return try settle(process) }
        processes[process].operations[0].stage = .removesNote
    }

    private mutating func removeNote(_ process: Int) throws(Violation) {
        guard let sends = processes[process].operations[0].sends, var content = file.content,
            let intent = content.intent, intent.concerns(sends.refreshToken)
        else { return try settle(process) }
        content.intent = nil
        processes[process].operations[0].stage = .writes(content.credential == nil ? nil : content, .settles)
    }

    /// The answer of the server arrives.
    mutating func hear(_ process: Int) throws(Violation) {
        guard let call = processes[process].operations[0].call, let answer = call.answer else { return }
        switch answer {
        case .granted(let new):
            let tokenNumber = try commit(call, new, process)
            processes[process].operations[0].outcome = tokenNumber.map { .granted(new, tokenNumber: $0) } ?? .abandoned
            if tokenNumber != nil { processes[process].operations[0].result = real(new) }
            if bug == .requestsGoBeforeTheWrite, let tokenNumber {
                try perform(processes[process].machine.stored(tokenNumber: tokenNumber, now: moment), process)
            }
            try settle(process)
        case .refused:
            let operation = processes[process].operations[0]
            let error = OAuthError(code: "invalid_grant")
            let failure: AuthenticationError =
                operation.wasInterrupted
                ? .refreshInterrupted(error, delivery: .notSent) : .refreshRejected(error, delivery: .notSent)
            processes[process].refused.append(call.credential)
            try checkRefusal(of: call.credential, failure)
            processes[process].operations[0].outcome = .rejected(failure)
            _ = processes[process].machine.refreshTokenRefused(number: call.number, failure, now: moment)
            try removeOwnNote(process)
        }
    }

    /// The machine commits to a new credential; returns the tokenNumber to be stored.
    private mutating func commit(_ call: TokenCall, _ new: IssuedCredential, _ process: Int) throws(Violation) -> Int? {
        processes[process].touch(new)
        processes[process].spent.append(call.credential)
        let (tokenNumber, actions) = processes[process].machine.refreshSucceeded(
            number: call.number, real(new), lifetime: Double(Self.life), sentAt: ModelClock.instant(call.sentAt),
            now: moment)
        try perform(actions, process)
        return tokenNumber
    }

    /// The token request has failed.
    ///
    /// - Parameter isTaken: Whether the refresh token may be spent.
    mutating func failed(_ process: Int, isTaken: Bool = true) throws(Violation) {
        processes[process].operations[0].outcome = .failed
        if isTaken { try settle(process) } else { try removeOwnNote(process) }
    }

    /// It is known what has to be written.
    private mutating func settle(_ process: Int) throws(Violation) {
        let operation = processes[process].operations[0]
        guard operation.result != operation.old else {
            return try go(on: settings.isExclusive ? .releases : .tells, process)
        }
        guard settings.isExclusive else {
            processes[process].operations[0].stage = .compares
            return
        }
        let content = operation.result.map { StoredCredential(credential: $0) }
        if bug == .writesAfterTheRelease, file.holder == process {
            file.holder = nil
            processes[process].operations[0].stage = .writes(content, .tells)
        } else {
            processes[process].operations[0].stage = .writes(content, .releases)
        }
    }

    private mutating func go(on next: StoreOperation.Next, _ process: Int) throws(Violation) {
        switch next {
        case .sends: try send(process)
        case .settles: try settle(process)
        case .releases: processes[process].operations[0].stage = .releases
        case .tells:
            if case .rejected = processes[process].operations[0].outcome {
                processes[process].operations[0].stage = .readsAgain
            } else {
                processes[process].operations[0].stage = .tells
            }
        }
    }

    /// What was replaced is in the store again, and is the latest word.
    private mutating func comeBack(_ credential: TokenCredential?) {
        landings += 1
        file.landed = landings
        if let issued = IssuedCredential(credential) { families[issued.family].landed = landings }
    }

    /// The app has signed in or out: the exchange ends, and the answer is heard later.
    mutating func giveUp(_ process: Int) throws(Violation) {
        guard let call = processes[process].operations[0].call else {
            processes[process].operations[0].stage = .tells
            return
        }
        processes[process].adrift.append(call)
        processes[process].operations[0].outcome = .leftBehind
        processes[process].operations[0].result = processes[process].machine.wanted(
            over: processes[process].operations[0].old)
        try settle(process)
    }

    // MARK: The end

    private mutating func tell(_ process: Int) throws(Violation) {
        let operation = processes[process].operations.removeFirst()
        switch operation.kind {
        case .load(let number):
            if bug == .loadForgetsTheSignOut { processes[process].machine.store = StoreMemory() }
            try perform(processes[process].machine.loaded(number: number, operation.old, now: moment), process)
        case .refresh(let number): try tell(process, number, operation)
        case .write(let credential, let tenure, _, _):
            let failure: AuthenticationError? =
                operation.hasFailed ? .credentialNotStored(cause: AtomError.unexpected, delivery: .notSent) : nil
            if failure != nil {
                setWord(of: credential, process) { ($0.hasFailed, $0.over) = (true, IssuedCredential(operation.old)) }
            }
            let actions = processes[process].machine.replaced(
                by: credential.map { real($0) }, in: tenure, found: .success(operation.old), failure: failure,
                now: moment)
            if failure != nil, bug == .retryReplacesAnything {
                processes[process].machine.store.outstanding = .overAnything
            }
            try perform(actions, process)
            revoke(after: operation, process)
        case .writeAgain(let tenure):
            let written: Result<TokenCredential?, any Error> =
                operation.hasFailed ? .failure(AtomError.unexpected) : .success(operation.result)
            let actions = processes[process].machine.wroteAgain(
                written, of: operation.unchanged, in: tenure, now: moment)
            try perform(actions, process)
        }
    }

    /// A sign-out revokes what was signed in.
    private mutating func revoke(after operation: StoreOperation, _ process: Int) {
        guard case .write(nil, _, let before, let held) = operation.kind,
            let newest = IssuedCredential(before.intended(over: operation.old)) ?? held
                ?? IssuedCredential(operation.old)
        else { return }
        processes[process].revocations.append(newest)
    }

    private mutating func tell(_ process: Int, _ number: Int, _ operation: StoreOperation) throws(Violation) {
        let actions: [SessionMachine<Int>.Action]
        if !operation.hasFailed {
            try perform(processes[process].machine.left(operation.result, now: moment), process)
        }
        switch operation.outcome {
        case .granted(let new, let tokenNumber):
            guard !operation.hasFailed else {
                actions = processes[process].machine.notStored(
                    tokenNumber: tokenNumber, .credentialNotStored(cause: AtomError.unexpected, delivery: .notSent),
                    now: moment)
                break
            }
            if let found = IssuedCredential(operation.result), found != new {
                try perform(processes[process].machine.observed(real(found), now: moment), process)
            } else if operation.result == nil {
                try perform(processes[process].machine.observed(.empty, now: moment), process)
                processes[process].revocations.append(new)
            }
            guard processes[process].machine.mayStore(tokenNumber: tokenNumber) else { return }
            actions = processes[process].machine.stored(tokenNumber: tokenNumber, now: moment)
        case .leftBehind: return
        case .abandoned: actions = processes[process].machine.refreshAbandoned(number: number, now: moment)
        case .rejected(let failure):
            let read = bug == .endsWithoutReading ? operation.sends.map { real($0) } : operation.old ?? .empty
            actions = processes[process].machine.refreshRejected(number: number, failure, read: read, now: moment)
        case .failed:
            actions = processes[process].machine.refreshFailed(
                number: number, cause: AtomError.unexpected, retryAfter: nil, random: 0, now: moment)
        case .nothing:
            actions = processes[process].machine.refreshFailed(
                number: number, cause: AtomError.unexpected, retryAfter: nil, random: 0, now: moment)
        }
        try perform(actions, process)
    }

    /// The answer to a token request that nobody waits for any more.
    mutating func hearAdrift(_ process: Int) throws(Violation) {
        let call = processes[process].adrift.removeFirst()
        if case .granted(let new)? = call.answer, try commit(call, new, process) != nil {
            processes[process].operations.append(StoreOperation(.writeAgain(tenure: .nobody), at: .begins))
        }
        try perform(processes[process].machine.refreshAbandoned(number: call.number, now: moment), process)
    }

    // MARK: The file

    /// The store can't write.
    mutating func writingFails(_ process: Int) throws(Violation) {
        let operation = processes[process].operations[0]
        if case .writes(_, .sends) = operation.stage {
            // Better than no refresh is one without a note.
            if let sends = operation.sends { families[sends.family].hasNoNote = true }
            return try send(process)
        }
        if case .writes(_, .settles) = operation.stage { return try settle(process) }
        processes[process].operations[0].hasFailed = true
        if let granted = operation.granted {
            families[granted.family].isLost = true
            families[granted.family].grants[granted.index].couldNotBeStored = true
        }
        try go(on: settings.isExclusive ? .releases : .tells, process)
    }

    /// The new content takes the place of the old one.
    private mutating func put(_ content: StoredCredential?, _ process: Int) throws(Violation) {
        let new = IssuedCredential(content?.credential)
        let old = file.credential
        let operation = processes[process].operations[0]
        if new != old { try checkWrite(new, operation, process) }
        land(new, process)
        // Otherwise it was replaced by a sign-in, which is what is revoked.
        let isOwn = !processes[process].words.contains { $0.family != nil && $0.landed == nil }
        if new == nil, let old, isOwn { processes[process].removed.append(old) }
        file.content = content
        guard let new else { return }
        families[new.family].grants[new.index].wasStored = true
        if new.index == families[new.family].last { families[new.family].isLost = false }
    }

    /// The store holds what a sign-in or sign-out has brought: for the first time, or
    /// by its own write.
    private mutating func land(_ new: IssuedCredential?, _ process: Int) {
        var isSaid = false
        if case .write = processes[process].operations[0].kind { isSaid = true }
        if isSaid || new.map({ families[$0.family].landed == nil }) ?? (file.content != nil) {
            landings += 1
            file.landed = landings
            if let new { families[new.family].landed = landings }
        } else if let new {
            file.landed = families[new.family].landed ?? 0
        }
        let landed = file.landed
        setWord(of: new, process) { $0.landed = landed }
    }

    private mutating func setWord(
        of credential: IssuedCredential?, _ process: Int, _ change: (inout ModelledProcess.Word) -> Void
    ) {
        guard let index = processes[process].words.lastIndex(where: { $0.family == credential?.family }) else { return }
        change(&processes[process].words[index])
    }
}
