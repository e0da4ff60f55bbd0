/// The machine under its lock, with what has to be kept beside it.
final class GuardedMachine: Sendable {
    typealias Machine = SessionMachine<any SessionWaiter>

    private struct Content {
        var machine: Machine
        var alarm: (any Alarm)?
        /// How many events have been announced.
        var eventCount = 0
        weak var service: (any RenewalService)?

        mutating func numbered(_ actions: [Machine.Action]) -> SessionActions {
            // Nothing, for nearly every request.
            guard !actions.isEmpty else { return SessionActions() }
            let firstNumber = eventCount
            for action in actions where action.isAnnouncement { eventCount += 1 }
            return SessionActions(actions: actions, firstNumber: firstNumber)
        }
    }

    private let content: Guarded<Content>

    init(_ machine: Machine) {
        content = Guarded(Content(machine: machine))
    }

    @inline(__always)
    func with<T: Sendable>(_ body: (inout Machine) -> T) -> T {
        content.withLock { body(&$0.machine) }
    }

    /// Runs an event, and numbers what it announces while nobody else can.
    @inline(__always)
    func act(_ event: (inout Machine) -> [Machine.Action]) -> SessionActions {
        content.withLock { content in
            let actions = event(&content.machine)
            return content.numbered(actions)
        }
    }

    /// The same for an event that says something beside.
    @inline(__always)
    func ask<T: Sendable>(_ event: (inout Machine) -> (T, [Machine.Action])) -> (T, SessionActions) {
        content.withLock { content in
            let (result, actions) = event(&content.machine)
            return (result, content.numbered(actions))
        }
    }

    /// Whose refresh ran last; announcements go where its callers are told.
    var lastService: (any RenewalService)? {
        get { content.withLock { $0.service } }
        set { content.withLock { $0.service = newValue } }
    }

    /// Notes that these are not in the queue any more.
    func dismiss(_ waiters: [any SessionWaiter]) {
        content.withLock { _ in
            for waiter in waiters { waiter.sessionPlace?.isWaiting = false }
        }
    }

    /// Sets the alarm for the end of the pause that the machine is in by now:
    /// whoever is late with an older one must not put it off.
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

/// What follows from an event of a session.
struct SessionActions: Sendable {
    var actions: [GuardedMachine.Machine.Action] = []
    /// The number of the first event that is announced; those after it count
    /// on.
    var firstNumber = 0
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
