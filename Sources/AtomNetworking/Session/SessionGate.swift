/// The session's machine under its lock, with what changes together with it, and the way of a request with a good token.
///
/// Under the lock nothing is awaited, no other lock is taken, and neither the app, a clock nor a request is called.
///
/// Nobody refers to it weakly, as the registry does to the session: an object that was ever referred to weakly is
/// slower to retain, and each request would pay for it.
final class SessionGate: Sendable {
    typealias Machine = SessionMachine<any SessionWaiter>

    /// What others wait for, or an alarm follows.
    private struct Signs {
        let state: SessionState
        let unfinishedRefresh: Int?
        let hasToWrite: Bool
        let retryAt: MonotonicInstant?

        init(_ machine: Machine) {
            state = machine.state()
            unfinishedRefresh = machine.unfinishedRefresh(orOverdue: true)
            hasToWrite = machine.store.hasToWrite(again: false)
            retryAt = machine.store.retryAt
        }

        func isSame(as other: Signs) -> Bool {
            state.isSame(as: other.state) && unfinishedRefresh == other.unfinishedRefresh
                && hasToWrite == other.hasToWrite && retryAt == other.retryAt
        }
    }

    private struct Content {
        var machine: Machine
        /// How many events have been announced.
        var eventCount = 0
        weak var service: (any RefreshService)?
        /// The refresh that was started last.
        var refresh: (number: Int, task: Task<Void, Never>)?
        /// The requests of this tenure that are in no queue, and hear of a sign-out.
        var members: [ObjectIdentifier: any SessionWaiter] = [:]
        var tenure: Tenure
        /// As of the last event.
        var signs: Signs?

        mutating func batch(_ machinesActions: [Machine.Action], _ hub: SessionEventHub) -> SessionActions {
            var actions = machinesActions
            if !machine.tenure.isSameSignIn(as: tenure) { refuseMembers(&actions) }
            let old = signs
            let new = Signs(machine)
            signs = new
            var batch = SessionActions(
                hasNewStage: old.map(new.isSame) != true, hasNewRetry: new.retryAt != old?.retryAt)
            // The usual case: nothing allocates.
            guard !actions.isEmpty else { return batch }
            let count = actions.count {
                if case .announce = $0 { true } else if case .announceFailure = $0 { true } else { false }
            }
            if count > 0 { batch.turns = EventTurns(eventCount..<eventCount + count, of: hub) }
            eventCount += count
            batch.actions = actions
            return batch
        }

        /// Refuses those that belong to a sign-in that is over.
        private mutating func refuseMembers(_ actions: inout [Machine.Action]) {
            tenure = machine.tenure
            guard !members.isEmpty else { return }
            let inOrder = members.values.sorted { ($0.ticket?.number ?? 0) < ($1.ticket?.number ?? 0) }
            members = [:]
            actions.insert(.refuse(inOrder, .signedOut(delivery: .notSent)), at: 0)
        }
    }

    private let content: Guarded<Content>
    private let keeper: SessionKeeper
    private let time: any TimeSource
    let hub = SessionEventHub()
    /// Goes off at the end of the machine's pause.
    let pauseAlarm = SessionAlarm()
    /// Goes off when a write is due again that has failed.
    let writeAlarm = SessionAlarm()

    init(_ machine: Machine, keeper: SessionKeeper, time: any TimeSource) {
        content = Guarded(Content(machine: machine, tenure: machine.tenure))
        self.keeper = keeper
        self.time = time
    }

    /// A request that this session has admitted hears of a sign-out from now on, though it is in no queue.
    ///
    /// It pauses before it asks again, or its response is read as a stream or goes to a file.
    ///
    /// - Returns: Whether that has not happened already.
    func enters(_ waiter: any SessionWaiter) -> Bool {
        content.withLock { content in
            guard waiter.ticket?.tenure.isSameSignIn(as: content.machine.tenure) == true else { return false }
            content.members[ObjectIdentifier(waiter)] = waiter
            return true
        }
    }

    /// Somebody hears of the next sign-out or sign-in, who belongs to no request.
    func watches(_ watch: any SessionWaiter) {
        content.withLock { content in
            watch.ticket = SessionTicket(tenure: content.machine.tenure)
            content.members[ObjectIdentifier(watch)] = watch
        }
    }

    /// A request that has entered need not hear of a sign-out any more.
    func leaves(_ waiter: any SessionWaiter) {
        // Released outside the lock.
        _ = content.withLock { $0.members.removeValue(forKey: ObjectIdentifier(waiter)) }
    }

    var memberCount: Int { content.withLock { $0.members.count } }

    func with<T: Sendable>(_ body: (inout Machine) -> T) -> T {
        content.withLock { body(&$0.machine) }
    }

    /// Runs an event, and numbers its announcements under the same lock.
    func act(_ event: (inout Machine) -> [Machine.Action]) -> SessionActions {
        ask { ((), event(&$0)) }.1
    }

    /// Runs an event that returns something besides its actions.
    func ask<T: Sendable>(_ event: (inout Machine) -> (T, [Machine.Action])) -> (T, SessionActions) {
        let (result, actions, replaced) = content.withLock { content in
            let before = (
                content.machine.phase, content.machine.setback, content.machine.known, content.machine.store.failure,
                content.signs?.state
            )
            let (result, actions) = event(&content.machine)
            return (result, content.batch(actions, hub), before)
        }
        // The errors among them may be an app's, whose `deinit` may do anything: the lock is free by now.
        withExtendedLifetime(replaced) {}
        return (result, actions)
    }

    /// The service whose request started the last refresh; it announces what happens to the session.
    var lastService: (any RefreshService)? {
        get { content.withLock { $0.service } }
        set { content.withLock { $0.service = newValue } }
    }

    /// The task of the refresh that was started last.
    var refreshTask: Task<Void, Never>? { content.withLock { $0.refresh?.task } }

    func keep(_ task: Task<Void, Never>, of number: Int) {
        content.withLock { content in
            if content.refresh.map({ $0.number < number }) ?? true { content.refresh = (number, task) }
        }
        // The app may have signed in or out already.
        cancelOutdatedRefresh()
    }

    /// Stops waiting for a refresh of a session that is over.
    ///
    /// A token request that was sent is not cancelled: its answer holds the
    /// successor of a refresh token that may be spent by now.
    @discardableResult
    func cancelOutdatedRefresh() -> Bool {
        let outdated = content.withLock { content -> Task<Void, Never>? in
            guard let number = content.machine.leftBehind?.number, number == content.refresh?.number else { return nil }
            return content.refresh?.task
        }
        outdated?.cancel()
        return outdated != nil
    }
}

// MARK: - A request with a good token

extension SessionGate {
    /// A request asks to be sent: one look under one lock, if its token is good.
    ///
    /// - Parameter isAnew: Whether it was answered by a 401 or a redirect, and joins
    ///   the end of the queue; one that has only waited keeps its place.
    /// - Returns: `nil` if it has to ask the session.
    func admit(_ waiter: any SessionWaiter, anew isAnew: Bool) -> Pass? {
        let current = keeper.current
        let now = time.now
        let means = waiter.refreshMeans
        return with { machine in
            let ticket = waiter.ticket
            let isBound = ticket?.isBound ?? false
            guard
                let (number, pass) = machine.admitAtOnce(
                    by: means, of: ticket?.tenure, isBound: isBound, ticket: isAnew ? nil : ticket?.number,
                    read: current, at: now)
            else { return nil }
            waiter.ticket = SessionTicket(number: number, tenure: pass.tenure, isBound: isBound)
            return pass
        }
    }

    /// What a request is sent with now; without authorization it has to ask again.
    func pass(for waiter: any SessionWaiter) -> Pass {
        let now = time.now
        return with { machine in
            let ticket = waiter.ticket
            return machine.pass(
                of: ticket?.tenure, isBound: ticket?.isBound ?? false, ticket: ticket?.number, at: now)
        }
    }

    /// Whether the session is that of this tenure, and a variable holds what was read last, or a store has been taken
    /// over at most: one look, as there is one before each element of a stream.
    func isUnchanged(since tenure: Tenure) -> Bool {
        let current = keeper.current
        return with { machine in
            guard let current else { return machine.tenure.isSameSignIn(as: tenure) }
            return machine.tenure.isUnbroken(since: tenure) && machine.store.isUnchanged(current)
        }
    }

    /// Whose session it is, as far as is known without a look at what is kept.
    var tenure: Tenure { with { $0.tenure } }

    /// What tells whose the access token with this number is; `nil` if the session has another one by now.
    ///
    /// Each of these is enough: the refresh token and those that it has replaced, or the access token if there is none.
    func tokens(of number: Int) -> [String]? { with { $0.tokens(of: number) } }

    /// The same of the token that is held, with its number and whose it is; `nil` if there is none, or none is known.
    func tokens() -> (tenure: Tenure, number: Int, tokens: [String])? {
        with { machine in
            machine.tokens(of: machine.tokenNumber).map { (machine.tenure, machine.tokenNumber, $0) }
        }
    }

    /// The server has accepted a request signed with this unproven token.
    func accepted(tokenNumber: Int) { with { $0.accepted(tokenNumber: tokenNumber) } }

    /// What is kept now, and the version before it was read; `nil` where it has to be loaded.
    func readCurrent() -> (credential: TokenCredential, version: Int)? {
        guard case .variable(let variable) = keeper else { return nil }
        let version = with { $0.version }
        return (variable.tokenCredential, version)
    }
}

/// What has to be done after an event of a session.
struct SessionActions: Sendable {
    var actions: [SessionGate.Machine.Action] = []
    /// The turns of its announcements; `nil` if it has none.
    var turns: EventTurns?
    /// Whether the session's state may be another one now, or something be over that `finishRefresh` waits for.
    var hasNewStage = false
    /// Whether another time has been set for a write, or none.
    var hasNewRetry = false
}

/// An alarm that goes off when the machine says.
final class SessionAlarm: Sendable {
    // Not the session's lock: a time source is an app's.
    private let alarm = Guarded<(any Alarm)?>(nil)

    /// Sets the alarm, or stops it if there is no instant.
    ///
    /// The instant is read here: a thread that comes late must not set an older one.
    func follow(of time: any TimeSource, _ ring: @escaping @Sendable () -> Void, _ instant: () -> MonotonicInstant?) {
        let last = alarm.withLock { alarm -> (any Alarm)? in
            guard let instant = instant() else { return alarm.take() }
            let set = alarm ?? time.makeAlarm(ring: ring)
            alarm = set
            set.set(instant)
            return nil
        }
        last?.invalidate()
    }

    deinit {
        alarm.withLock { $0 }?.invalidate()
    }
}
