import Foundation

/// The SDK's clock and timers.
///
/// All code that depends on time takes a time source as an argument, so that a
/// test can control the time.
protocol TimeSource: Sendable {
    /// The current time on the monotonic clock.
    var now: MonotonicInstant { get }

    /// The current wall-clock time, for times that users and servers see.
    var date: Date { get }

    /// Creates an alarm that calls `ring` on its own thread each time it goes
    /// off.
    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm
}

/// A timer that can be moved.
protocol Alarm: Sendable {
    /// Goes off once at the instant, or at once if that has passed; replaces an
    /// earlier setting.
    func set(_ instant: MonotonicInstant)

    /// Stops the alarm permanently.
    func invalidate()
}

/// A point in time on both clocks.
struct Moment: Sendable {
    /// On the monotonic clock.
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
        // A day is enough: code that is woken early checks the time and sets the
        // alarm again.
        let seconds = min(max(delay, 0), Duration.day.seconds)
        timer.schedule(deadline: .now() + seconds, leeway: .milliseconds(1))
    }

    func invalidate() {
        timer.setEventHandler(handler: nil)
        timer.cancel()
    }
}
