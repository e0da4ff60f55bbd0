import Foundation
import Testing

@testable import AtomNetworking

/// A clock that only the test advances.
///
/// Alarms go off only on the thread that calls ``advance(by:)``, before that
/// call returns. An alarm for an instant that has passed goes off with the next
/// advance, also with an advance by zero.
///
/// ```swift
/// let time = ManualTimeSource()
/// let queue = DeadlineQueue(time: time)
/// queue.set(time.now + .seconds(3), for: bearer)
/// time.advance(by: .seconds(3))  // the bearer has been called
/// ```
final class ManualTimeSource: TimeSource, @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var instant = MonotonicInstant.now
    private var wallClock = Date(timeIntervalSince1970: 1_790_000_000)
    private var armed: [Int: MonotonicInstant] = [:]
    private var rings: [Int: @Sendable () -> Void] = [:]
    private var alarmsMade = 0
    private var timesSet = 0
    private var ringsAtInstant = 0

    var now: MonotonicInstant { lock.withLock { instant } }

    var date: Date { lock.withLock { wallClock } }

    /// The time of the next alarm, if one is set.
    var nextAlarm: MonotonicInstant? { lock.withLock { armed.values.min() } }

    /// Whether an alarm is set for this instant.
    func hasAlarm(at instant: MonotonicInstant) -> Bool { lock.withLock { armed.values.contains(instant) } }

    /// The number of alarms that are not invalidated.
    var alarmCount: Int { lock.withLock { rings.count } }

    /// How often an alarm has been set.
    var armings: Int { lock.withLock { timesSet } }

    /// Advances both clocks and rings the alarms that are due, in the order of
    /// time.
    ///
    /// Time stops at each alarm, so that its handler sees the requested instant
    /// and may set another alarm.
    func advance(by duration: Duration) {
        let end = lock.withLock { instant.advanced(by: duration) }
        while let ring = lock.withLock({ nextRing(until: end) }) {
            ring()
        }
        lock.withLock { move(to: end) }
    }

    /// Changes the wall clock, as a user or a time server does; the monotonic
    /// clock stays.
    func shiftDate(by seconds: TimeInterval) {
        lock.withLock { wallClock += seconds }
    }

    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm {
        lock.withLock {
            alarmsMade += 1
            rings[alarmsMade] = ring
            return ManualAlarm(number: alarmsMade, source: self)
        }
    }

    private func nextRing(until end: MonotonicInstant) -> (@Sendable () -> Void)? {
        guard let (number, due) = armed.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }), due <= end else {
            return nil
        }
        armed[number] = nil
        ringsAtInstant = due > instant ? 0 : ringsAtInstant + 1
        move(to: due)
        guard ringsAtInstant < 10_000 else {
            Issue.record("An alarm is set again and again for an instant that has come")
            return nil
        }
        return rings[number]
    }

    private func move(to later: MonotonicInstant) {
        guard later > instant else { return }
        let elapsed = instant.duration(to: later).components
        wallClock += Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
        instant = later
    }

    private struct ManualAlarm: Alarm {
        let number: Int
        let source: ManualTimeSource

        func set(_ instant: MonotonicInstant) {
            source.lock.withLock {
                guard source.rings[number] != nil else { return }
                source.armed[number] = instant
                source.timesSet += 1
            }
        }

        func invalidate() {
            source.lock.withLock {
                source.armed[number] = nil
                source.rings[number] = nil
            }
        }
    }
}
