import Foundation

@testable import AtomNetworking

/// A bug that the model test has to find.
enum PlantedBug: String, CaseIterable, Sendable {
    case secondRefreshOnLate401
    case releaseBeforeStore
    case cancelLosesAnotherWaiter
    case lastInFirstOut
    case placeIsLostWithTheToken
    case refreshAfterSignOutIsStored
    case deadTokenIsSent
    case failureReleasesWaiters
    case newcomersOvertakeTheReleased
    case windowIsIgnored
    case outdatedRefreshAllowsASecond
    case wakeUpIsForgotten
    case releaseIsForgotten
    case olderGenerationIsSigned
    case writtenOverIsNews
    case spentTokenIsForgotten
    case deadTokenIsForgotten
    case signedBeforeWhoCameEarlier
    case refusalIsToldTwice
    case earlyFailureRefusesWaiters
    case transientFailureEndsTheSession
    case acceptedTokensCountAsFruitless
    case cancellationStopsTheRefresh
    case credentialIsStoredTwice
    case staleReadIsTaken
    case signOutLeavesWaiters
    case backOffIsIgnored
    case dropsWhatTheStoreSaysAfterARefresh
    case lateLoadIsTaken
    case whatARefreshFindsIsIgnored
    case emptyStoreIsIgnored
    case endsWithoutReading
    case refusalOfAnOldTokenEnds
    case newsOfARefusalIsLost
    case signInIsWrittenOverItsRefresh
    case signInIsNotWritten
    case writeIsNotQueued
    case outdatedRefreshIsWritten
    case unwrittenIsForgotten
    case unwrittenGoesBeforeNewer
    case silenceIsIgnored
    case pauseIsIgnored
    case lifetimeIsBelieved
    case signInDoesNotClear
    case signOutRevokesWhatItFinds
    case refillIsRevoked
    case overdueAnswerIsDropped
    case overdueIsNotWaitedFor
}

/// The machine as the model test drives it: the real one, or the real one with
/// a bug planted at its border.
struct ModelledMachine {
    typealias Machine = SessionMachine<Int>
    typealias Action = Machine.Action

    var machine: Machine
    let bug: PlantedBug?
    /// The requests that should be refused and are sent instead.
    private(set) var forced: [Int] = []

    init(_ machine: Machine, bug: PlantedBug? = nil) {
        self.machine = machine
        self.bug = bug
    }

    mutating func admittedAtOnce(
        by means: RefreshMeans, of tenure: Tenure?, ticket: Int?, read: TokenCredential?, at instant: MonotonicInstant
    ) -> Int? {
        let admission = machine.admitAtOnce(
            by: means, of: bug == .olderGenerationIsSigned ? nil : tenure,
            ticket: bug == .placeIsLostWithTheToken ? nil : ticket, read: read, at: instant)
        return admission?.ticket
    }

    mutating func asked(
        _ waiter: Int, by means: RefreshMeans, of tenure: Tenure?, ticket: Int?,
        read: (credential: TokenCredential, version: Int)?,
        deadline: MonotonicInstant, now: Moment
    ) -> (Machine.Admission, [Action]) {
        perturbBefore()
        var read = read
        if bug == .staleReadIsTaken, let taken = read { read = (taken.credential, machine.version) }
        if bug == .newcomersOvertakeTheReleased, machine.isReleasing, machine.isGood(at: now.instant, by: means),
            read?.version == machine.version
        {
            return (.go(ticket: machine.waiters.issueTicket()), [])
        }
        if bug == .endsWithoutReading, case .ended(let end) = machine.phase { return (.refuse(end.error), []) }
        let tenure = bug == .olderGenerationIsSigned ? nil : tenure
        let ticket = bug == .placeIsLostWithTheToken ? nil : ticket
        let (admission, actions) = machine.asked(
            waiter, by: means, of: tenure, ticket: ticket, read: read, deadline: deadline, now: now)
        return (admission, perturb(actions))
    }

    func pass(
        of tenure: Tenure, ticket: Int?, for waiter: Int, at instant: MonotonicInstant
    ) -> Pass {
        let pass = machine.pass(
            of: bug == .olderGenerationIsSigned ? nil : tenure,
            ticket: bug == .signedBeforeWhoCameEarlier ? nil : ticket, at: instant)
        guard bug == .deadTokenIsSent || forced.contains(waiter), pass.authorization == nil,
            tenure.isSameSignIn(as: machine.tenure), let held = machine.held
        else { return pass }
        return Pass(authorization: held.authorization, tokenNumber: machine.tokenNumber, tenure: machine.tenure)
    }

    mutating func accepted(tokenNumber: Int) {
        guard bug != .acceptedTokensCountAsFruitless else { return }
        machine.accepted(tokenNumber: tokenNumber)
    }

    mutating func rejected(tokenNumber: Int, now: Moment) {
        machine.rejected(tokenNumber: bug == .secondRefreshOnLate401 ? machine.tokenNumber : tokenNumber, now: now)
    }

    mutating func left(ticket: Int) {
        machine.left(ticket: ticket)
        if bug == .cancelLosesAnotherWaiter { machine.left(ticket: ticket + 1) }
        if bug == .cancellationStopsTheRefresh, machine.waiters.isEmpty, case .refreshing(let held, _) = machine.phase {
            machine.phase = held.map { .signedIn($0) } ?? .signedOut
        }
    }

    mutating func nextReleased(tickets: [Int?], now: Moment) -> (Int?, [Action]) {
        if !forced.isEmpty { return (forced.removeFirst(), []) }
        if bug == .lastInFirstOut, machine.isReleasing, let last = machine.waiters.members.last,
            machine.isGood(at: now.instant, by: last.means), let ticket = tickets[last.waiter]
        {
            machine.left(ticket: ticket)
            return (last.waiter, [])
        }
        let (waiter, actions) = machine.nextReleased(now: now)
        return (waiter, perturb(actions))
    }

    mutating func refreshSucceeded(
        number: Int, _ credential: TokenCredential, lifetime: Double, sentAt: MonotonicInstant,
        read: TokenCredential?, now: Moment
    ) -> (tokenNumber: Int?, [Action]) {
        perturbBefore()
        let isOutdated = !machine.isRunning(number)
        if bug == .overdueAnswerIsDropped { machine.overdue = [] }
        var read = bug == .dropsWhatTheStoreSaysAfterARefresh ? nil : read
        var news: [Action] = []
        if bug == .refillIsRevoked, let taken = read {
            let isSignedOut = machine.leftBehind?.isSignedOut ?? false
            news = machine.observed(taken, now: now)
            if isSignedOut { machine.leftBehind?.isSignedOut = true }
            read = nil
        }
        var (tokenNumber, actions) = machine.refreshSucceeded(
            number: number, credential, lifetime: lifetime, sentAt: sentAt, read: read, now: now)
        actions = news + actions
        if bug == .lifetimeIsBelieved, lifetime <= 0 { machine.held?.isRejected = true }
        if bug == .refreshAfterSignOutIsStored, isOutdated {
            tokenNumber = machine.tokenNumber
            if !machine.needsLoading { actions.append(.set(credential, tokenNumber: machine.tokenNumber)) }
        }
        if bug == .credentialIsStoredTwice, !isOutdated { actions += actions }
        if bug == .releaseBeforeStore, !isOutdated {
            actions = machine.stored(tokenNumber: machine.tokenNumber, now: now) + actions
        }
        return (tokenNumber, perturb(actions))
    }

    mutating func refreshFailed(
        number: Int, ofProvider isOfProvider: Bool, isOverdue: Bool = false, retryAfter: Duration?, random: Double,
        now: Moment
    ) -> [Action] {
        perturbBefore()
        if bug == .transientFailureEndsTheSession {
            return machine.refreshRejected(
                number: number, .refreshRejected(OAuthError(code: "x"), delivery: .notSent), read: nil, now: now)
        }
        if bug == .earlyFailureRefusesWaiters, machine.running?.number == number {
            let waiting = machine.refuseAll(.waitedTooLong(delivery: .notSent))
            return waiting
                + machine.refreshFailed(
                    number: number, cause: AtomError.unexpected, retryAfter: retryAfter, random: random, now: now)
        }
        let actions = machine.refreshFailed(
            number: number, cause: AtomError.unexpected, ofProvider: isOfProvider, isOverdue: isOverdue,
            retryAfter: retryAfter, random: random, now: now)
        if bug == .overdueIsNotWaitedFor, isOverdue { machine.setback?.notBefore = now.instant }
        guard bug == .failureReleasesWaiters else { return perturb(actions) }
        return actions.map { action in
            guard case .refuse(let waiters, _) = action else { return action }
            forced += waiters
            return .release
        }
    }

    mutating func refreshRejected(number: Int, read: TokenCredential?, now: Moment) -> [Action] {
        perturbBefore()
        let old = machine.held?.credential.accessToken
        let actions = machine.refreshRejected(
            number: number, .refreshRejected(OAuthError(code: "invalid_grant"), delivery: .notSent),
            read: bug == .refusalOfAnOldTokenEnds ? nil : read, now: now)
        return bug == .newsOfARefusalIsLost && machine.held?.credential.accessToken != old ? [] : perturb(actions)
    }

    mutating func refreshFound(
        number: Int, _ stored: TokenCredential?, now: Moment
    ) -> (Machine.RefreshStep, [Action]) {
        perturbBefore()
        let isIgnored = bug == .whatARefreshFindsIsIgnored || bug == .emptyStoreIsIgnored && stored == nil
        if isIgnored, machine.isRunning(number) {
            return (.goOn(machine.held?.credential), [])
        }
        let (step, actions) = machine.refreshFound(number: number, stored, now: now)
        return (step, perturb(actions))
    }

    mutating func refreshAbandoned(number: Int, now: Moment) -> [Action] {
        perturb(machine.refreshAbandoned(number: number, now: now))
    }

    mutating func notStored(tokenNumber: Int, now: Moment) -> [Action] {
        defer { forgetOrPreferWhatFailed() }
        return perturb(
            machine.notStored(
                tokenNumber: tokenNumber, .credentialNotStored(cause: AtomError.unexpected, delivery: .notSent),
                now: now))
    }

    mutating func replaced(
        by credential: TokenCredential?, in tenure: Tenure, found: TokenCredential?, hasFailed: Bool, now: Moment
    ) -> [Action] {
        defer { if hasFailed { forgetOrPreferWhatFailed() } }
        return perturb(
            machine.replaced(
                by: credential, in: tenure, found: .success(found),
                failure: hasFailed ? .credentialNotStored(cause: AtomError.unexpected, delivery: .notSent) : nil,
                now: now))
    }

    /// - Parameter written: What the store holds now; `nil` if it can't be written.
    mutating func wroteAgain(_ written: ModelCredential?, in tenure: Tenure, now: Moment) -> [Action] {
        defer { if written == nil { forgetOrPreferWhatFailed() } }
        return perturb(
            machine.wroteAgain(
                written.map { .success($0.inStore) } ?? .failure(AtomError.unexpected), in: tenure, now: now))
    }

    private mutating func forgetOrPreferWhatFailed() {
        switch bug {
        case .unwrittenIsForgotten: machine.store.forgetOutstanding()
        case .unwrittenGoesBeforeNewer: machine.store.outstanding = .overAnything
        default: break
        }
    }

    func mayWrite(signedIn credential: TokenCredential?, in tenure: Tenure) -> Bool {
        bug == .signInIsWrittenOverItsRefresh || machine.mayWrite(signedIn: credential, in: tenure)
    }

    func mayStore(tokenNumber: Int) -> Bool {
        switch bug {
        case .refreshAfterSignOutIsStored, .credentialIsStoredTwice, .releaseBeforeStore: true
        default: machine.mayStore(tokenNumber: tokenNumber)
        }
    }

    mutating func stored(tokenNumber: Int, read: TokenCredential?, now: Moment) -> [Action] {
        perturb(machine.stored(tokenNumber: tokenNumber, read: read, now: now))
    }

    mutating func observed(_ read: TokenCredential, now: Moment) -> [Action] {
        perturbBefore()
        return perturb(machine.observed(read, now: now))
    }

    mutating func wasSet(_ credential: TokenCredential) { machine.wasSet(credential) }

    mutating func wokeUp(now: Moment) -> [Action] {
        if bug == .silenceIsIgnored, machine.running != nil { return [] }
        return perturb(machine.wokeUp(now: now))
    }

    mutating func left(_ written: TokenCredential?, now: Moment) -> [Action] {
        perturb(machine.left(written, now: now))
    }

    mutating func signedIn(_ credential: TokenCredential, read: TokenCredential?, now: Moment) -> [Action] {
        perturbBefore()
        let before = machine.held
        defer {
            if bug == .signInDoesNotClear, let before, before.credential.accessToken == credential.accessToken {
                machine.held?.isRejected = before.isRejected
            }
        }
        return perturb(machine.signedIn(credential, read: read, now: now).1)
    }

    mutating func signedOut(read: TokenCredential?) -> (EndedSession, [Action]) {
        perturbBefore()
        let (ended, actions) = machine.signedOut(read: read)
        return (ended, bug == .signOutLeavesWaiters ? [] : perturb(actions))
    }

    mutating func loaded(number: Int, _ credential: TokenCredential?, now: Moment) -> [Action] {
        let isLate = machine.runningLoad != nil && machine.runningLoad != number
        let number = bug == .lateLoadIsTaken && isLate ? machine.lastLoadNumber : number
        return perturb(machine.loaded(number: number, credential, now: now))
    }

    mutating func loadingFailed(number: Int) -> [Action] {
        perturb(machine.loadingFailed(number: number, AtomError.unexpected))
    }

    private mutating func perturbBefore() {
        switch bug {
        case .windowIsIgnored: machine.fruitless = []
        case .pauseIsIgnored: machine.fruitless = machine.fruitless.map { $0 - .seconds(20) }
        case .writtenOverIsNews: machine.store = StoreMemory()
        case .spentTokenIsForgotten: machine.spent = SpentTokens()
        case .deadTokenIsForgotten: machine.known = KnownTokens()
        case .outdatedRefreshAllowsASecond: machine.leftBehind = nil
        case .backOffIsIgnored: machine.setback = nil
        default: break
        }
    }

    private func perturb(_ actions: [Action]) -> [Action] {
        switch bug {
        case .wakeUpIsForgotten: actions.filter { if case .wake = $0 { false } else { true } }
        case .releaseIsForgotten: actions.filter { if case .release = $0 { false } else { true } }
        case .refusalIsToldTwice:
            actions.flatMap { action in if case .refuse = action { [action, action] } else { [action] } }
        default: actions
        }
    }
}
