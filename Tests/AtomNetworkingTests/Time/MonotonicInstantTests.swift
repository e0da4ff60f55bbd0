import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct MonotonicInstantTests {
    private static let counts: [(Duration, Int64)] = [
        (.zero, 0), (.nanoseconds(1), 1), (.nanoseconds(-1), -1), (.seconds(1.5), 1_500_000_000),
        (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
        (Duration(secondsComponent: 0, attosecondsComponent: -1), 0),
        (Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_001), 2),
        (Duration(secondsComponent: -1, attosecondsComponent: -999_999_999), -1_000_000_000),
        (.seconds(9_000_000_000), 9_000_000_000_000_000_000), (.seconds(9_300_000_000), .max),
        (.seconds(Int64.max), .max), (.seconds(-9_300_000_000), .min), (.seconds(Int64.min), .min),
    ]

    @Test("A duration is as many nanoseconds, rounded up", arguments: counts)
    func nanoseconds(duration: Duration, count: Int64) {
        #expect(duration.nanoseconds == count)
    }

    @Test("Instants move, and stop at the ends of time")
    func moving() {
        let instant = MonotonicInstant(nanoseconds: 1_000)
        #expect(instant + .nanoseconds(5) == MonotonicInstant(nanoseconds: 1_005))
        #expect(instant - .nanoseconds(5) == MonotonicInstant(nanoseconds: 995))
        #expect(instant + .seconds(Int64.max) == MonotonicInstant(nanoseconds: .max))
        #expect(MonotonicInstant(nanoseconds: -1_000) - .seconds(Int64.max) == MonotonicInstant(nanoseconds: .min))
        #expect(instant < instant + .nanoseconds(1))
    }

    @Test("The difference of any two instants is a duration")
    func distance() {
        let first = MonotonicInstant(nanoseconds: 5)
        let second = first + .seconds(90)
        #expect(first.duration(to: second) == .seconds(90))
        #expect(second.duration(to: first) == .seconds(-90))
        let end = MonotonicInstant(nanoseconds: .max)
        let beginning = MonotonicInstant(nanoseconds: .min)
        #expect(beginning.duration(to: end) == .nanoseconds(Int64.max))
        #expect(end.duration(to: beginning) == .nanoseconds(Int64.min))
    }

    @Test("A duration for a reader has three digits")
    func brief() {
        let table: [(Duration, String)] = [
            (.zero, "0.0 seconds"), (.nanoseconds(49_999), "0.0 seconds"), (.microseconds(50), "0.0001 seconds"),
            (.microseconds(123), "0.000123 seconds"), (.nanoseconds(123_456_789), "0.123 seconds"),
            (.nanoseconds(999_500_000), "1.0 seconds"), (.milliseconds(25), "0.025 seconds"),
            (.milliseconds(12_345), "12.3 seconds"), (.seconds(1_234_567), "1230000.0 seconds"),
            (.seconds(-1), "0.0 seconds"),
        ]
        for (duration, text) in table { #expect("\(duration.brief)" == text) }
        #expect(Duration.seconds(Int64.max).brief > .century)
    }

    @Test("The system's clock goes on as the continuous one does")
    func system() async {
        let before = ContinuousClock.now
        let first = MonotonicInstant.now
        await Task.yield()
        let second = MonotonicInstant.now
        let elapsed = before.duration(to: .now)
        #expect(first <= second)
        // Read between the two, on the same clock.
        #expect(first.duration(to: second) <= elapsed)
        #expect(first.nanoseconds > 0)
    }
}
