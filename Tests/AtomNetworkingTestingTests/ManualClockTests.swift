import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited)
struct ManualClockTests {
    /// Notes when alarms go off.
    final class Rings: @unchecked Sendable {
        private let lock = NSLock()
        private var instants: [MonotonicInstant] = []

        var all: [MonotonicInstant] { lock.withLock { instants } }
        func add(_ instant: MonotonicInstant) { lock.withLock { instants.append(instant) } }
    }

    @Test func timeStopsAtEachAlarmAndMovesBothClocks() {
        let clock = ManualClock()
        let (start, date, rings) = (clock.now, clock.date, Rings())
        let first = clock.makeAlarm { rings.add(clock.now) }
        let second = clock.makeAlarm { rings.add(clock.now) }
        second.set(start + .seconds(2))
        first.set(start + .seconds(5))
        clock.advance(by: .seconds(4))
        #expect(rings.all == [start + .seconds(2)])
        clock.advance(by: .seconds(1))
        #expect(rings.all == [start + .seconds(2), start + .seconds(5)])
        #expect(clock.now == start + .seconds(5))
        #expect(clock.date == date + 5)
    }

    @Test func anAlarmThatHasPassedGoesOffWithTheNextAdvanceOnly() {
        let (clock, rings) = (ManualClock(), Rings())
        let alarm = clock.makeAlarm { rings.add(clock.now) }
        alarm.set(clock.now)
        #expect(rings.all.isEmpty)
        clock.advance(by: .zero)
        #expect(rings.all == [clock.now])
        clock.advance(by: .zero)
        #expect(rings.all.count == 1)
    }

    @Test func itAdvancesToTheNextAlarm() {
        let clock = ManualClock()
        #expect(clock.advanceToNextAlarm() == nil)
        let alarm = clock.makeAlarm {}
        alarm.set(clock.now + .seconds(7))
        #expect(clock.nextAlarm == clock.now + .seconds(7))
        #expect(clock.advanceToNextAlarm() == .seconds(7))
        #expect(clock.nextAlarm == nil)
        alarm.set(clock.now + .seconds(1))
        alarm.invalidate()
        #expect(clock.advanceToNextAlarm() == nil)
    }

    @Test func theWallClockCanBeSet() {
        let clock = ManualClock(date: Date(timeIntervalSince1970: 100))
        let now = clock.now
        clock.shiftDate(by: -50)
        #expect(clock.date == Date(timeIntervalSince1970: 50))
        clock.setDate(Date(timeIntervalSince1970: 9))
        #expect(clock.date == Date(timeIntervalSince1970: 9))
        #expect(clock.now == now)
    }

    @Test func alarmsWithoutEndAreReported() {
        final class Box: @unchecked Sendable { var alarm: (any Alarm)? }
        let (reports, box) = (Reports(), Box())
        let clock = ManualClock(onProblem: { reports.add($0) })
        let beginning = clock.now
        box.alarm = clock.makeAlarm { box.alarm?.set(clock.now) }
        box.alarm?.set(clock.now)
        clock.advance(by: .seconds(1))
        #expect(reports.all.map(\.description).first?.contains("time stands still") == true)
        #expect(reports.all.count == 1)
        #expect(clock.now == beginning)
        box.alarm?.invalidate()
    }

    @Test func manyAlarmsForOneInstantAreNoProblem() {
        let reports = Reports()
        let clock = ManualClock(onProblem: { reports.add($0) })
        let alarms = (0..<200).map { _ in clock.makeAlarm {} }
        for _ in 0..<60 {
            // None of them is set again by another one.
            for alarm in alarms { alarm.set(clock.now) }
            clock.advance(by: .zero)
        }
        for alarm in alarms { alarm.set(clock.now + .seconds(1)) }
        clock.advance(by: .seconds(1))
        #expect(reports.all.isEmpty)
    }

    @Test func aTestCanWaitUntilAnAlarmIsSet() async {
        let clock = ManualClock()
        // So many turns take their time beside all other tests.
        clock.patience = .seconds(120)
        let alarm = clock.makeAlarm {}
        alarm.set(clock.now + .seconds(30))
        let found = Task {
            await clock.waitForAlarm(within: .seconds(1))
            return clock.nextAlarm
        }
        for _ in 0..<100 { await Task.yield() }
        let other = clock.makeAlarm {}
        other.set(clock.now + .milliseconds(500))
        #expect(await found.value == clock.now + .milliseconds(500))
        #expect(await clock.waitForAlarm())
    }

    @Test func aCancelledTaskWaitsForNoAlarm() async {
        let clock = ManualClock()
        let task = Task { await clock.waitForAlarm() }
        task.cancel()
        #expect(await task.value == false)
    }

    @Test func aTimeoutGoesByTheClock() async throws {
        let (atom, wire) = Atom.scripted(.never) { $0.timeout = ServiceTimeout(request: 20, resource: 60) }
        let task = Task { () async -> AtomError? in
            do throws(AtomError) {
                try await atom.enqueue(Call()).resume()
                return nil
            } catch {
                return error
            }
        }
        await wire.idle()
        wire.clock.advance(by: .seconds(19))
        #expect(wire.isIdle)
        wire.clock.advance(by: .seconds(1))
        #expect(await task.value?.sessionCode == .timedOut)
        await wire.idle()
    }
}
