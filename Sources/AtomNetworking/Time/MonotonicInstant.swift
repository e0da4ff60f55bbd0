import Foundation

/// A point in time on a clock that continues during sleep and is never set.
///
/// Instants of one ``TimeSource`` can be compared. Those of two sources can't, unless both go by the same clock.
public struct MonotonicInstant: InstantProtocol {
    // Nanoseconds, because instants of `ContinuousClock` have 128 bits, and reading, moving and comparing them are
    // calls into the runtime, several times per request.

    /// The time since the clock's start, in nanoseconds.
    public let nanoseconds: Int64

    /// Creates an instant, for a time source of your own.
    ///
    /// - Parameter nanoseconds: The time since the clock's start, whenever that was.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The current time of the system, on the clock of `ContinuousClock`.
    public static var now: MonotonicInstant {
        #if canImport(Darwin)
            MonotonicInstant(nanoseconds: Int64(clamping: clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)))
        #else
            var time = timespec()
            // Linux has this clock since 2.6.39.
            clock_gettime(CLOCK_BOOTTIME, &time)
            return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        #endif
    }

    /// Whether the first instant is earlier.
    public static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    // For the SDK: `InstantProtocol` has no operators.
    package static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(by: duration)
    }

    static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(by: .zero - duration)
    }

    /// The instant that is later by the duration, rounded up to a whole nanosecond, so
    /// that no deadline is early; one that doesn't fit becomes the last, or the first.
    public func advanced(by duration: Duration) -> MonotonicInstant { advanced(byNanoseconds: duration.nanoseconds) }

    func advanced(byNanoseconds count: Int64) -> MonotonicInstant {
        let (sum, isTooFar) = nanoseconds.addingReportingOverflow(count)
        return MonotonicInstant(nanoseconds: isTooFar ? (count < 0 ? .min : .max) : sum)
    }

    /// The time from this instant to the other one; negative if that is earlier.
    public func duration(to other: MonotonicInstant) -> Duration {
        let (difference, isTooFar) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(isTooFar ? (other < self ? .min : .max) : difference)
    }
}

extension Duration {
    /// Rounded up, up to the largest one, about three centuries.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard (-9_000_000_000...9_000_000_000).contains(seconds) else { return seconds < 0 ? .min : .max }
        // The division rounds towards zero.
        let correction: Int64 = attoseconds % 1_000_000_000 > 0 ? 1 : 0
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + correction
    }

    static let day = Duration.seconds(86_400)

    /// The longest time that a request may take, 365 days.
    static let year = day * 365

    /// Longer than the lifetime of any token.
    static let century = year * 100

    /// How long a transport may look for what had arrived when a deadline passed.
    static let look = Duration.milliseconds(250)

    /// The duration limited to zero and a century, because an app may give more seconds than an integer can hold.
    var bounded: Duration { min(max(self, .zero), .century) }

    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    /// For a reader: with three digits, and none behind a tenth of a millisecond.
    var brief: Duration {
        let whole = min(max(nanoseconds, 0), .max / 2)
        var unit: Int64 = whole < 100_000 ? 100_000 : 1
        while whole / unit >= 1_000 { unit *= 10 }
        return .nanoseconds((whole + unit / 2) / unit * unit)
    }

    /// How long to wait before the next attempt: full jitter, by a chance in 0..<1, below
    /// a ceiling that doubles from `base` to `cap`.
    static func backOff(base: Duration, doublings: Int, cap: Duration, chance: Double) -> Duration {
        var ceiling = base
        for _ in 0..<min(max(doublings, 0), 64) where ceiling < cap { ceiling *= 2 }
        return min(ceiling, cap) * chance
    }
}
