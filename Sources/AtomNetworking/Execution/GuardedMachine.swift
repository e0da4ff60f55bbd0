import Foundation

/// The machine under its lock, with what has to be kept beside it.
final class GuardedMachine: @unchecked Sendable {
    typealias Machine = SessionMachine<any SessionWaiter>

    // All is touched under `lock` only.
    private let lock = NSLock()
    private var machine: Machine
    private var alarm: (any Alarm)?
    private weak var manager: RequestableQueueManager?
    private var unwritten: UnwrittenCredential?

    init(_ machine: Machine) {
        self.machine = machine
    }

    func with<T>(_ body: (inout Machine) -> T) -> T {
        lock.withLock { body(&machine) }
    }

    /// Whose refresh ran last; announcements go where its callers are told.
    var lastManager: RequestableQueueManager? {
        get { lock.withLock { manager } }
        set { lock.withLock { manager = newValue } }
    }

    /// What the store should hold and doesn't.
    var unwrittenCredential: UnwrittenCredential? {
        get { lock.withLock { unwritten } }
        set { lock.withLock { unwritten = newValue } }
    }

    /// What the store holds, or would if every write had succeeded.
    func intended(_ stored: TokenCredential?) -> TokenCredential? {
        lock.withLock { unwritten?.isWanted(over: stored) == true ? unwritten?.credential : stored }
    }

    /// Notes that these are not in the queue any more.
    func dismiss(_ waiters: [any SessionWaiter]) {
        lock.withLock {
            for waiter in waiters { waiter.sessionPlace?.isWaiting = false }
        }
    }

    /// Sets the alarm for the end of the pause that the machine is in by now:
    /// whoever is late with an older one must not put it off.
    func setAlarm(time: any TimeSource, ring: @escaping @Sendable () -> Void) {
        lock.withLock {
            guard let instant = machine.pauseEnd else { return }
            let alarm = self.alarm ?? time.makeAlarm(ring: ring)
            self.alarm = alarm
            alarm.set(instant)
        }
    }

    func invalidateAlarm() {
        lock.withLock { alarm }?.invalidate()
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
