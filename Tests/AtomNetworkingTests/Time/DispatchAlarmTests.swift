import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct DispatchAlarmTests {
    @Test(
        "An alarm goes off once for each setting, also with a timer for the device's sleep", arguments: [false, true])
    func once(mindsSleep: Bool) async {
        let rings = AsyncStream<MonotonicInstant>.makeStream()
        let alarm = DispatchAlarm(mindsSleep: mindsSleep) { rings.continuation.yield(.now) }
        var iterator = rings.stream.makeAsyncIterator()
        for count in 0..<50 {
            // A setting that is replaced doesn't count.
            alarm.set(MonotonicInstant.now.advanced(by: .seconds(3_600)))
            let instant = MonotonicInstant.now.advanced(by: .milliseconds(count % 4))
            alarm.set(instant)
            let ring = await iterator.next()
            #expect(ring.map { $0 >= instant } == true, "it must not be early")
        }
        alarm.invalidate()
        rings.continuation.finish()
        #expect(await iterator.next() == nil, "it went off more than once")
    }

    private final class Bearer: DeadlineBearer, @unchecked Sendable {
        // Only the queue uses it.
        var deadlinePlace = DeadlinePlace()
        private let tell: @Sendable () -> Void

        init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

        func deadlinePassed(at now: MonotonicInstant) { tell() }
    }

    @Test("Whoever waits when a deadline has passed holds up none of the others", arguments: [0, 20])
    func waiting(milliseconds: Int) async {
        let deadlines = DeadlineQueue(time: SystemTimeSource())
        let (gate, heard) = (DispatchSemaphore(value: 0), AsyncStream<Int>.makeStream())
        defer { gate.signal() }
        let first = Bearer {
            heard.continuation.yield(1)
            gate.wait()
        }
        let second = Bearer { heard.continuation.yield(2) }
        let instant = MonotonicInstant.now.advanced(by: .milliseconds(20))
        deadlines.set(instant, for: first, number: 1)
        deadlines.set(instant.advanced(by: .milliseconds(milliseconds)), for: second, number: 1)
        var iterator = heard.stream.makeAsyncIterator()
        var numbers: Set<Int> = []
        while numbers.count < 2, let number = await iterator.next() { numbers.insert(number) }
        #expect(numbers == [1, 2])
    }

    @Test func anInvalidAlarmIsSilent() async {
        let rings = AsyncStream<String>.makeStream()
        let silent = DispatchAlarm(mindsSleep: true) { rings.continuation.yield("silent") }
        silent.set(MonotonicInstant.now.advanced(by: .seconds(3_600)))
        silent.invalidate()
        // Later than what the invalid alarm would be set to.
        silent.set(.now)
        let other = DispatchAlarm(mindsSleep: true) { rings.continuation.yield("other") }
        other.set(MonotonicInstant.now.advanced(by: .milliseconds(20)))
        var iterator = rings.stream.makeAsyncIterator()
        #expect(await iterator.next() == "other")
        other.invalidate()
    }
}
