import Foundation

/// The clock and the timers of a service.
///
/// Everything that a service does by time goes by it: timeouts, pauses between attempts, the expiry of tokens, and the
/// times that observers hear. A test sets ``ServiceConfiguration/timeSource`` to a clock that it advances itself, such
/// as the `ManualClock` of AtomNetworkingTesting. Another clock can change one thing of the system's, which a new
/// configuration has:
///
/// ```swift
/// import AtomNetworking
/// import Foundation
///
/// /// A device whose clock is wrong by an hour.
/// struct WrongClock: TimeSource {
///     private let system = ServiceConfiguration().timeSource
///
///     var now: MonotonicInstant { system.now }
///     var date: Date { system.date.addingTimeInterval(3_600) }
///     func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { system.makeAlarm(ring: ring) }
/// }
/// ```
///
/// All members are called on any thread, often, and also while the SDK holds a lock:
/// they must not wait, and must not call the SDK.
public protocol TimeSource: Sendable {
    /// The current time on a clock that never goes back.
    var now: MonotonicInstant { get }

    /// The current wall-clock time, for times that users and servers see.
    var date: Date { get }

    /// Creates an alarm, which isn't set yet.
    ///
    /// - Parameter ring: Called each time the alarm goes off, on any thread, but never inside ``Alarm/set(_:)`` or
    ///   ``Alarm/invalidate()``. It may set the alarm again.
    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm
}

/// A timer that can be moved.
///
/// Both methods are called on any thread, also while the SDK holds a lock.
public protocol Alarm: Sendable {
    /// Goes off once at the instant, or soon if that has passed, and never before
    /// ``TimeSource/now`` has reached it; replaces an earlier setting.
    func set(_ instant: MonotonicInstant)

    /// Stops the alarm permanently; later settings have no effect.
    func invalidate()
}

/// A point in time on both clocks.
struct Moment: Sendable {
    let instant: MonotonicInstant
    let date: Date
}

/// The system's clocks and timers; time goes on while the device sleeps.
struct SystemTimeSource: TimeSource {
    var now: MonotonicInstant { .now }
    var date: Date { Date() }

    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { DispatchAlarm(ring: ring) }
}

/// An alarm with Dispatch's timers: one stops while the device sleeps, the other
/// goes by the wall clock, which can be set; the first that isn't early counts.
final class DispatchAlarm: Alarm, @unchecked Sendable {
    // Dispatch sources are thread-safe; the timers are never replaced.
    private let timer: any DispatchSourceTimer
    private let wallTimer: (any DispatchSourceTimer)?
    private let ring: @Sendable () -> Void
    private let target = Guarded<MonotonicInstant?>(nil)

    #if canImport(Darwin)
        private static let systemSleeps = true
    #else
        // Servers don't sleep, and a second timer isn't free.
        private static let systemSleeps = false
    #endif

    init(mindsSleep minds: Bool = DispatchAlarm.systemSleeps, ring: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "AtomNetworking.alarm", qos: .userInitiated)
        self.ring = ring
        timer = DispatchSource.makeTimerSource(queue: queue)
        wallTimer = minds ? DispatchSource.makeTimerSource(queue: queue) : nil
        for source in [timer, wallTimer].compactMap({ $0 }) {
            source.setEventHandler { [weak self] in self?.goOff() }
            source.schedule(deadline: .distantFuture)
            source.activate()
        }
    }

    deinit { invalidate() }

    func set(_ instant: MonotonicInstant) {
        target.withLock { target in
            target = instant
            schedule(instant)
        }
    }

    func invalidate() {
        target.withLock { $0 = nil }
        for source in [timer, wallTimer].compactMap({ $0 }) {
            source.setEventHandler(handler: nil)
            source.cancel()
        }
    }

    private func schedule(_ instant: MonotonicInstant) {
        let delay = MonotonicInstant.now.duration(to: instant).seconds
        // After a day it looks again.
        let seconds = min(max(delay, 0), Duration.day.seconds)
        timer.schedule(deadline: .now() + seconds, leeway: .milliseconds(1))
        wallTimer?.schedule(wallDeadline: .now() + seconds, leeway: .milliseconds(1))
    }

    private func goOff() {
        let isDue = target.withLock { target -> Bool in
            guard let instant = target else { return false }
            guard instant <= .now else {
                // The wall clock was set, or the alarm was moved meanwhile.
                schedule(instant)
                return false
            }
            target = nil
            return true
        }
        // Whoever is told may wait, and the alarm may be set again meanwhile.
        if isDue { DispatchQueue(label: "AtomNetworking.ring", qos: .userInitiated).async(execute: ring) }
    }
}

extension TimeSource {
    func sleep(for duration: Duration, until end: FirstValue<Void> = FirstValue()) async {
        let alarm = makeAlarm { end.settle(()) }
        alarm.set(now.advanced(by: duration))
        await end.value(ifCancelled: ())
        alarm.invalidate()
    }
}
