import Foundation

/// A point on a clock that goes on during sleep and is never set.
///
/// In nanoseconds: the instants of `ContinuousClock` have 128 bits, and reading,
/// moving and comparing them are calls into the runtime, each several times a
/// request.
struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Since the clock's own beginning.
    let nanoseconds: Int64

    /// The time now, on the clock that `ContinuousClock` reads too.
    static var now: MonotonicInstant {
        #if canImport(Darwin)
            MonotonicInstant(nanoseconds: Int64(clamping: clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)))
        #else
            var time = timespec()
            // It fails for a clock that doesn't exist, and this one has since Linux 2.6.39.
            clock_gettime(CLOCK_BOOTTIME, &time)
            return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        #endif
    }

    static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant { instant.advanced(by: duration) }

    static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(by: .zero - duration)
    }

    /// Rounded up, so that nobody is early; centuries away is the end of time.
    func advanced(by duration: Duration) -> MonotonicInstant {
        advanced(byNanoseconds: duration.nanoseconds)
    }

    func advanced(byNanoseconds count: Int64) -> MonotonicInstant {
        let (sum, isTooFar) = nanoseconds.addingReportingOverflow(count)
        return MonotonicInstant(nanoseconds: isTooFar ? (count < 0 ? .min : .max) : sum)
    }

    func duration(to other: MonotonicInstant) -> Duration {
        let (difference, isTooFar) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(isTooFar ? (other < self ? .min : .max) : difference)
    }
}

extension Duration {
    /// Rounded up; what doesn't fit, three centuries, is as much as does.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard (-9_000_000_000...9_000_000_000).contains(seconds) else { return seconds < 0 ? .min : .max }
        // The division cuts towards zero.
        let correction: Int64 = attoseconds % 1_000_000_000 > 0 ? 1 : 0
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + correction
    }

    /// The longest time that a request may take, 365 days.
    static let year = Duration.seconds(31_536_000)

    /// Longer than any token lives.
    static let century = year * 100

    /// At least nothing, and at most a century: what an app gives may be more
    /// seconds than there are numbers for.
    var bounded: Duration { min(max(self, .zero), .century) }

    /// The duration as Foundation counts it.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
