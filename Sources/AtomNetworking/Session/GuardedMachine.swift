/// The machine under its lock, with what changes together with it.
final class GuardedMachine: Sendable {
    typealias Machine = SessionMachine<any SessionWaiter>

    private struct Content {
        var machine: Machine
        var alarm: (any Alarm)?
        /// How many events have been announced.
        var eventCount = 0
        weak var service: (any RefreshService)?
        /// The requests of this generation that pause, or whose stream is read.
        var pausing: [ObjectIdentifier: any SessionWaiter] = [:]
        var generation = 0

        /// As of the last event.
        var stage: Machine.Stage?
        var unfinishedRefresh: Int?

        mutating func numbered(_ machinesActions: [Machine.Action]) -> SessionActions {
            var actions = machinesActions
            if machine.generation != generation { endPauses(&actions) }
            let (stage, unfinished) = (machine.stage, machine.unfinishedRefresh)
            let isNew = stage != self.stage || unfinished != unfinishedRefresh
            (self.stage, unfinishedRefresh) = (stage, unfinished)
            // The usual case: nothing allocates.
            guard !actions.isEmpty else { return SessionActions(hasNewStage: isNew) }
            let firstNumber = eventCount
            for action in actions where action.isAnnouncement { eventCount += 1 }
            return SessionActions(actions: actions, firstNumber: firstNumber, hasNewStage: isNew)
        }

        /// Refuses the requests that pause, or are read: they belong to a sign-in
        /// that is over.
        private mutating func endPauses(_ actions: inout [Machine.Action]) {
            generation = machine.generation
            guard !pausing.isEmpty else { return }
            let inOrder = pausing.values.sorted { ($0.sessionPlace?.ticket ?? 0) < ($1.sessionPlace?.ticket ?? 0) }
            pausing = [:]
            actions.insert(.refuse(inOrder, .signedOut(delivery: .notSent)), at: 0)
        }
    }

    private let content: Guarded<Content>

    /// A request pauses before it asks again, or its stream is open.
    ///
    /// - Returns: Whether the sign-in that it belongs to still counts.
    func pauses(_ waiter: any SessionWaiter) -> Bool {
        content.withLock { content in
            guard waiter.sessionPlace?.generation == content.machine.generation else { return false }
            content.pausing[ObjectIdentifier(waiter)] = waiter
            return true
        }
    }

    /// A request does not pause any more, or nobody reads its stream.
    func pauseEnded(_ waiter: any SessionWaiter) {
        // Released outside the lock.
        _ = content.withLock { $0.pausing.removeValue(forKey: ObjectIdentifier(waiter)) }
    }

    /// How many requests pause, or are read.
    var pausingCount: Int { content.withLock { $0.pausing.count } }

    init(_ machine: Machine) {
        content = Guarded(Content(machine: machine))
    }

    @inline(__always)
    func with<T: Sendable>(_ body: (inout Machine) -> T) -> T {
        content.withLock { body(&$0.machine) }
    }

    /// Runs an event, and numbers its announcements under the same lock.
    @inline(__always)
    func act(_ event: (inout Machine) -> [Machine.Action]) -> SessionActions {
        content.withLock { content in
            let actions = event(&content.machine)
            return content.numbered(actions)
        }
    }

    /// Runs an event that returns something besides its actions.
    @inline(__always)
    func ask<T: Sendable>(_ event: (inout Machine) -> (T, [Machine.Action])) -> (T, SessionActions) {
        content.withLock { content in
            let (result, actions) = event(&content.machine)
            return (result, content.numbered(actions))
        }
    }

    /// The service whose request started the last refresh; it announces what
    /// happens to the session.
    var lastService: (any RefreshService)? {
        get { content.withLock { $0.service } }
        set { content.withLock { $0.service = newValue } }
    }

    /// Records that these requests are not in the queue any more.
    func dismiss(_ waiters: [any SessionWaiter]) {
        content.withLock { _ in
            for waiter in waiters { waiter.sessionPlace?.isWaiting = false }
        }
    }

    /// Sets the alarm for the end of the machine's pause.
    ///
    /// The pause is read from the machine: a thread that comes late must not
    /// set the alarm for an older one.
    func setAlarm(time: any TimeSource, ring: @escaping @Sendable () -> Void) {
        content.withLock { content in
            guard let instant = content.machine.pauseEnd else { return }
            let alarm = content.alarm ?? time.makeAlarm(ring: ring)
            content.alarm = alarm
            alarm.set(instant)
        }
    }

    func invalidateAlarm() {
        content.withLock { $0.alarm }?.invalidate()
    }
}

/// What has to be done after an event of a session.
struct SessionActions: Sendable {
    var actions: [GuardedMachine.Machine.Action] = []
    /// The number of the first announcement; the others count on from it.
    var firstNumber = 0
    /// Whether the session's state may be another one now, or a refresh be
    /// over.
    var hasNewStage = false
}

extension SessionMachine.Action {
    /// Whether an event is told to the app.
    var isAnnouncement: Bool {
        switch self {
        case .announce, .announceFailure: true
        default: false
        }
    }
}
