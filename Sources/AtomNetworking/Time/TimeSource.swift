import Foundation

/// Where the SDK reads the time and asks to be woken.
///
/// Everything that depends on time takes one of these, so that a test decides
/// what time it is.
protocol TimeSource: Sendable {
    /// The time on the monotonic clock.
    var now: MonotonicInstant { get }

    /// The wall-clock time, for what people and servers mean by time.
    var date: Date { get }

    /// Makes an alarm that calls `ring` on a thread of its own each time it
    /// goes off.
    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm
}

/// One wake-up call that can be moved.
protocol Alarm: Sendable {
    /// Goes off once at the instant, or as soon as it can if that has passed;
    /// replaces what was set before.
    func set(_ instant: MonotonicInstant)

    /// Never goes off again.
    func invalidate()
}

/// A point in time on both clocks.
struct Moment: Sendable {
    /// On the clock that is never set.
    let instant: MonotonicInstant
    /// On the device's clock.
    let date: Date
}

/// The system's clocks and Dispatch's timers.
struct SystemTimeSource: TimeSource {
    var now: MonotonicInstant { .now }

    var date: Date { Date() }

    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm {
        DispatchAlarm(ring: ring)
    }
}

private final class DispatchAlarm: Alarm, @unchecked Sendable {
    // Dispatch sources are thread-safe; `timer` is never replaced.
    private let timer: any DispatchSourceTimer

    init(ring: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "AtomNetworking.alarm", qos: .userInitiated))
        timer.setEventHandler(handler: ring)
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    func set(_ instant: MonotonicInstant) {
        let delay = MonotonicInstant.now.duration(to: instant).seconds
        // A day is enough: whoever is woken early looks at the clock and sets the alarm again.
        let seconds = min(max(delay, 0), 86_400)
        timer.schedule(deadline: .now() + seconds, leeway: .milliseconds(1))
    }

    func invalidate() {
        timer.setEventHandler(handler: nil)
        timer.cancel()
    }
}
