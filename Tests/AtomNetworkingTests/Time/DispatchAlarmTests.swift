import Foundation
import Testing

@testable import AtomNetworking

@Suite(.timeLimit(.minutes(5))) struct DispatchAlarmTests {
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
