/// The machine under its lock, with what changes together with it.
///
/// Under the lock nothing is awaited, no other lock is taken, and neither the app, a clock nor a request is called.
final class GuardedMachine: Sendable {
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
    let hub = SessionEventHub()
    /// Goes off at the end of the machine's pause.
    let pauseAlarm = SessionAlarm()
    /// Goes off when a write is due again that has failed.
    let writeAlarm = SessionAlarm()

    init(_ machine: Machine) {
        content = Guarded(Content(machine: machine, tenure: machine.tenure))
    }

    /// A request in no queue is to hear of a sign-out; returns whether the sign-in that it belongs to still counts.
    func enters(_ waiter: any SessionWaiter) -> Bool {
        content.withLock { content in
            guard waiter.ticket?.tenure.isSameSignIn(as: content.machine.tenure) == true else { return false }
            content.members[ObjectIdentifier(waiter)] = waiter
            return true
        }
    }

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
            let before = (content.machine.phase, content.machine.setback, content.machine.known, content.signs?.state)
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

    /// Records that these requests are not in the queue any more.
    func dismiss(_ waiters: [any SessionWaiter]) {
        content.withLock { _ in
            for waiter in waiters { waiter.ticket?.isWaiting = false }
        }
    }
}

/// What has to be done after an event of a session.
struct SessionActions: Sendable {
    var actions: [GuardedMachine.Machine.Action] = []
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
