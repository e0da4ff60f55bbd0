/// The machine under its lock, with what has to be kept beside it.
final class GuardedMachine: Sendable {
    typealias Machine = SessionMachine<any SessionWaiter>

    private struct Content {
        var machine: Machine
        var alarm: (any Alarm)?
        weak var manager: RequestableQueueManager?
        var unwritten: UnwrittenCredential?
    }

    private let content: Guarded<Content>

    init(_ machine: Machine) {
        content = Guarded(Content(machine: machine))
    }

    @inline(__always)
    func with<T: Sendable>(_ body: (inout Machine) -> T) -> T {
        content.withLock { body(&$0.machine) }
    }

    /// Whose refresh ran last; announcements go where its callers are told.
    var lastManager: RequestableQueueManager? {
        get { content.withLock { $0.manager } }
        set { content.withLock { $0.manager = newValue } }
    }

    /// What the store should hold and doesn't.
    var unwrittenCredential: UnwrittenCredential? {
        get { content.withLock { $0.unwritten } }
        set { content.withLock { $0.unwritten = newValue } }
    }

    /// What the store holds, or would if every write had succeeded.
    func intended(_ stored: TokenCredential?) -> TokenCredential? {
        content.withLock { $0.unwritten?.isWanted(over: stored) == true ? $0.unwritten?.credential : stored }
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

/// A credential that could not be written, and what it was to replace.
struct UnwrittenCredential: Sendable {
    /// What the store should hold; `nil` for nothing.
    let credential: TokenCredential?

    /// What it held when the write failed, if that was known.
    let replaced: Replaced

    enum Replaced: Sendable {
        case unknown
        case known(TokenCredential?)

        /// What it held, as far as that is known.
        var credential: TokenCredential? { if case .known(let credential) = self { credential } else { nil } }
    }

    /// Whether it still goes before what the store holds: what somebody else
    /// has written since is newer.
    func isWanted(over stored: TokenCredential?) -> Bool {
        switch replaced {
        case .unknown: true
        case .known(let replaced): stored == replaced
        }
    }
}
