import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Records when it was called, and then runs the test's action.
private final class RecordingBearer: DeadlineBearer, @unchecked Sendable {
    // Used only on the test's thread.
    var deadlinePlace = DeadlinePlace()
    var heard: [MonotonicInstant] = []
    var onDeadline: () -> Void = {}

    func deadlinePassed(at now: MonotonicInstant) {
        heard.append(now)
        onDeadline()
    }
}

extension DeadlineQueue {
    /// Changes the deadline after all changes so far.
    fileprivate func set(_ instant: MonotonicInstant, for bearer: RecordingBearer) {
        set(instant, for: bearer, number: bearer.deadlinePlace.number + 1)
    }

    fileprivate func remove(_ bearer: RecordingBearer) { remove(bearer, number: bearer.deadlinePlace.number + 1) }
}

@Suite("All deadlines share one alarm", .limited)
struct DeadlineQueueTests {
    private let time = ManualClock()
    private let queue: DeadlineQueue
    private let start: MonotonicInstant

    init() {
        queue = DeadlineQueue(time: time)
        start = time.now
    }

    @Test("A bearer is called once, at its instant and not earlier")
    func once() {
        let bearer = RecordingBearer()
        queue.set(start + .seconds(3), for: bearer)
        time.advance(by: .milliseconds(2_999))
        #expect(bearer.heard.isEmpty)
        #expect(queue.count == 1)
        time.advance(by: .milliseconds(1))
        #expect(bearer.heard == [start + .seconds(3)])
        #expect(queue.count == 0)
        #expect(bearer.deadlinePlace.position == nil)
        time.advance(by: .seconds(1_000))
        #expect(bearer.heard.count == 1)
    }

    @Test("Of two changes the one with the higher number counts, whichever comes first")
    func lateChanges() {
        let bearer = RecordingBearer()
        queue.set(start + .seconds(3), for: bearer, number: 2)
        queue.set(start + .seconds(1), for: bearer, number: 1)
        time.advance(by: .seconds(2))
        #expect(bearer.heard.isEmpty)
        queue.remove(bearer, number: 4)
        queue.set(start + .seconds(3), for: bearer, number: 3)
        #expect(queue.count == 0)
        queue.set(start + .seconds(5), for: bearer, number: 5)
        queue.remove(bearer, number: 4)
        time.advance(by: .seconds(10))
        #expect(bearer.heard == [start + .seconds(5)])
    }

    @Test("No bearer is called inside the call that sets a deadline, even if it has passed")
    func neverInside() {
        let bearer = RecordingBearer()
        queue.set(start - .seconds(1), for: bearer)
        #expect(bearer.heard.isEmpty)
        time.advance(by: .zero)
        #expect(bearer.heard == [start])
    }

    @Test("They are called in the order of their instants, whatever order they were set in")
    func order() {
        var order: [Int] = []
        let bearers = (0..<200).map { number in
            let bearer = RecordingBearer()
            bearer.onDeadline = { order.append(number) }
            return bearer
        }
        var generator = SeededGenerator(seed: 1)
        for number in (0..<200).shuffled(using: &generator) {
            queue.set(start + .milliseconds(number + 1), for: bearers[number])
        }
        time.advance(by: .seconds(1))
        #expect(order == Array(0..<200))
    }

    @Test("Moved to later, only the later instant counts; moved to earlier, only the earlier")
    func moved() {
        let bearer = RecordingBearer()
        queue.set(start + .seconds(1), for: bearer)
        queue.set(start + .seconds(5), for: bearer)
        #expect(queue.count == 1)
        time.advance(by: .seconds(4))
        #expect(bearer.heard.isEmpty)
        queue.set(start + .milliseconds(4_500), for: bearer)
        time.advance(by: .seconds(10))
        #expect(bearer.heard == [start + .milliseconds(4_500)])
    }

    @Test("A removed deadline isn't called, and removing it again does nothing")
    func removed() {
        let leaving = RecordingBearer()
        let staying = RecordingBearer()
        queue.set(start + .seconds(1), for: leaving)
        queue.set(start + .seconds(2), for: staying)
        queue.remove(leaving)
        queue.remove(leaving)
        #expect(queue.count == 1)
        time.advance(by: .seconds(5))
        #expect(leaving.heard.isEmpty)
        #expect(staying.heard == [start + .seconds(2)])
        queue.remove(staying)
        #expect(queue.count == 0)
    }

    @Test("One alarm is made, at the first deadline, and set again only for an earlier one")
    func armings() {
        #expect(time.alarmCount == 0)
        let bearers = (0..<100).map { _ in RecordingBearer() }
        for (number, bearer) in bearers.enumerated() {
            queue.set(start + .seconds(10 + number), for: bearer)
        }
        #expect(time.alarmCount == 1)
        #expect(time.armings == 1)
        for bearer in bearers.reversed() { queue.remove(bearer) }
        for bearer in bearers { queue.set(start + .seconds(60), for: bearer) }
        #expect(time.armings == 1, "an alarm that rings too early is cheaper than one that is set per request")
        queue.set(start + .seconds(5), for: bearers[50])
        #expect(time.armings == 2)
        #expect(time.nextAlarm == start + .seconds(5))
        time.advance(by: .seconds(60))
        #expect(bearers.allSatisfy { $0.heard.count == 1 })
        #expect(time.nextAlarm == nil, "nothing is armed for an empty queue")
    }

    @Test("A bearer may set a new deadline when it is called")
    func resetInside() {
        let bearer = RecordingBearer()
        bearer.onDeadline = { [queue, time] in
            if bearer.heard.count < 5 { queue.set(time.now + .seconds(1), for: bearer) }
        }
        queue.set(start + .seconds(1), for: bearer)
        time.advance(by: .seconds(60))
        #expect(bearer.heard == (1...5).map { start + .seconds($0) })
        bearer.onDeadline = {}
    }

    @Test("All bearers that are due at one instant are called, each once")
    func sameInstant() {
        let bearers = (0..<64).map { _ in RecordingBearer() }
        for bearer in bearers { queue.set(start + .seconds(1), for: bearer) }
        time.advance(by: .seconds(1))
        #expect(bearers.allSatisfy { $0.heard == [start + .seconds(1)] })
    }

    @Test("A removed bearer is released, and so is the alarm of a released queue")
    func lifetime() {
        var bearer: RecordingBearer? = RecordingBearer()
        weak let gone = bearer
        if let bearer {
            queue.set(start + .seconds(1), for: bearer)
            queue.remove(bearer)
        }
        bearer = nil
        #expect(gone == nil)

        var other: DeadlineQueue? = DeadlineQueue(time: time)
        other?.set(start + .seconds(1), for: RecordingBearer())
        let count = time.alarmCount
        other = nil
        #expect(time.alarmCount == count - 1)
    }

    @Test("Thirty thousand random steps agree with a list that is searched", arguments: [UInt64(3), 4, 5])
    func model(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bearers = (0..<40).map { _ in RecordingBearer() }
        var due: [Int: MonotonicInstant] = [:]
        var disagreements = 0
        for _ in 0..<10_000 {
            let number = Int.random(in: 0..<bearers.count, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6:
                let instant = time.now + .milliseconds(Int.random(in: 1...500, using: &generator))
                queue.set(instant, for: bearers[number])
                due[number] = instant
            case 6..<8:
                queue.remove(bearers[number])
                due[number] = nil
            default:
                time.advance(by: .milliseconds(Int.random(in: 0...60, using: &generator)))
                for (index, bearer) in bearers.enumerated() {
                    let expected = due[index].flatMap { $0 <= time.now ? [$0] : nil } ?? []
                    if bearer.heard != expected { disagreements += 1 }
                    if !expected.isEmpty { due[index] = nil }
                    bearer.heard = []
                }
            }
            if queue.count != due.count { disagreements += 1 }
            // The alarm is never later than the first deadline.
            if let next = due.values.min(), time.nextAlarm.map({ $0 <= next }) != true { disagreements += 1 }
        }
        #expect(disagreements == 0)
        let positions = bearers.compactMap(\.deadlinePlace.position).sorted()
        #expect(positions == Array(0..<due.count))
    }
}

@Suite("The system's clock", .limited)
struct SystemTimeSourceTests {
    @Test("An alarm set to an instant that has passed rings soon, on another thread")
    func rings() async {
        let source = SystemTimeSource()
        let holder = AlarmHolder()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let alarm = source.makeAlarm { continuation.resume() }
            holder.keep(alarm)
            alarm.set(source.now - .seconds(1))
        }
        holder.alarm?.invalidate()
    }

    @Test("Instants far in the future and the past trap nothing")
    func extremes() {
        let source = SystemTimeSource()
        let alarm = source.makeAlarm {}
        alarm.set(source.now + .seconds(1_000_000_000_000))
        alarm.set(source.now - .seconds(1_000_000_000_000))
        alarm.invalidate()
        alarm.set(source.now)
        alarm.invalidate()
    }
}

private final class AlarmHolder: @unchecked Sendable {
    private let lock = NSLock()
    private var kept: (any Alarm)?
    var alarm: (any Alarm)? { lock.withLock { kept } }
    func keep(_ alarm: any Alarm) { lock.withLock { kept = alarm } }
}
