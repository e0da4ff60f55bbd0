import AtomNetworking
import Testing

@testable import AtomCommands

@Suite struct StormTimelineTests {
    private typealias Request = StormTimeline.Request

    private func request(
        _ number: Int, from start: Double, to end: Double, _ attempts: [StormTimeline.Attempt] = [],
        _ outcome: StormTimeline.Outcome = .answered
    ) -> Request {
        Request(number: number, start: start, end: end, attempts: attempts, outcome: outcome)
    }

    private func phases(_ request: Request) -> [String] {
        request.phases.map { "\($0.phase) \($0.start)-\($0.end)" }
    }

    // MARK: Phases

    @Test func aRequestWaitsAndIsOnTheWire() {
        let direct = request(1, from: 1, to: 4, [.init(start: 1, end: 3.5, status: 200)])
        #expect(phases(direct) == ["onWire 1.0-3.5"])
        let queued = request(1, from: 1, to: 4, [.init(start: 2, end: 4, status: 200)])
        #expect(phases(queued) == ["waiting 1.0-2.0", "onWire 2.0-4.0"])
        #expect(queued.seconds(.waiting) == 1 && queued.seconds(.onWire) == 2 && queued.seconds(.again) == 0)
    }

    @Test func after401ItIsOnTheWireAgain() {
        let again = request(
            1, from: 1, to: 9, [.init(start: 2, end: 4, status: 401), .init(start: 6, end: 9, status: 200)])
        #expect(phases(again) == ["waiting 1.0-2.0", "onWire 2.0-4.0", "waiting 4.0-6.0", "again 6.0-9.0"])
        #expect(again.refusals == [4])
        let failed = request(1, from: 1, to: 9, [.init(start: 2, end: 4, status: 401)], .failed)
        #expect(phases(failed) == ["waiting 1.0-2.0", "onWire 2.0-4.0", "waiting 4.0-9.0"])
    }

    @Test func afterARedirectItIsNotSentAgain() {
        let moved = request(
            1, from: 1, to: 4, [.init(start: 1, end: 2, status: 302), .init(start: 2, end: 4, status: 200)])
        #expect(phases(moved) == ["onWire 1.0-2.0", "onWire 2.0-4.0"])
    }

    @Test func whatWasAbandonedEndsWithItsRequest() {
        #expect(phases(request(1, from: 1, to: 3)) == ["waiting 1.0-3.0"])
        #expect(phases(request(1, from: 1, to: 3, [.init(start: 2)])) == ["waiting 1.0-2.0", "onWire 2.0-3.0"])
        let late = request(1, from: 1, to: 3, [.init(start: 2, end: 8, status: 401)])
        #expect(phases(late).last == "onWire 2.0-3.0" && late.refusals == [3])
    }

    @Test func anAnswerToAnotherRequestIsAFailure() {
        func outcome(_ result: Result<Miles, AtomError>) -> StormTimeline.Outcome { .init(result, of: 7) }
        #expect(outcome(.success(Miles(member: "", miles: 0, number: "7"))) == .answered)
        #expect(outcome(.success(Miles(member: "", miles: 0, number: "8"))) == .failed)
        #expect(outcome(.failure(.unexpected)) == .failed)
        #expect(outcome(.failure(.cancelled(.notSent))) == .cancelled)
    }

    // MARK: The sample

    @Test(arguments: [(1, 1, 1), (80, 1, 80), (81, 2, 41), (2000, 25, 80), (1_000_000, 12_500, 80)])
    func aSampleIsKept(_ planned: Int, stride: Int, rows: Int) {
        var timeline = StormTimeline(planned: planned)
        #expect(timeline.stride == stride)
        for number in Swift.stride(from: planned, to: 0, by: -1) {
            timeline.note(request(number, from: Double(number) / 1000, to: Double(number) / 1000 + 0.002))
        }
        #expect(timeline.requestCount == planned)
        #expect(timeline.rows.count == rows)
        #expect(timeline.rows.map(\.number).sorted() == (0..<rows).map { $0 * stride + 1 })
        #expect(timeline.load.count <= StormLoad.mostIntervals)
    }

    @Test func outcomesAreCounted() {
        var timeline = StormTimeline(planned: 5)
        timeline.note(request(1, from: 0, to: 1, [.init(start: 0, end: 0.5, status: 401)], .failed))
        timeline.note(request(2, from: 0, to: 2, [], .cancelled))
        timeline.note(request(3, from: 0, to: 1))
        #expect([timeline.requestCount, timeline.failedCount, timeline.cancelledCount] == [3, 1, 1])
        #expect(timeline.refusedCount == 1)
        #expect(timeline.end == 2)
        timeline.close(at: 3)
        #expect(timeline.end == 3)
    }

    @Test func refreshesAreCountedButNotAllKept() {
        var timeline = StormTimeline(planned: 1)
        for number in 1...1500 {
            timeline.note(.init(start: Double(number), end: Double(number) + 0.5, isSuccessful: true))
        }
        #expect(timeline.refreshCount == 1500)
        #expect(timeline.refreshes.count == StormTimeline.mostRefreshes)
        #expect(timeline.end == 1500.5)
    }

    // MARK: The load

    @Test func theLoadIsAnAverage() {
        var load = StormLoad()
        load.add(.onWire, from: 0, to: 0.002)
        load.add(.onWire, from: 0.0005, to: 0.001)
        load.add(.waiting, from: 0.001, to: 0.0015)
        func averages(_ phase: StormTimeline.Phase, until end: Double) -> [Double] {
            (0..<load.count).map { (load.average(phase, during: $0, until: end) * 100).rounded() / 100 }
        }
        #expect(averages(.onWire, until: 1).prefix(2) == [1.5, 1])
        #expect(averages(.waiting, until: 1).prefix(2) == [0, 0.5])
        // The storm ended in the middle of the second interval.
        #expect(averages(.waiting, until: 0.0015).prefix(2) == [0, 1])
        #expect(load.contains(.onWire) && load.contains(.waiting) && !load.contains(.again))
    }

    @Test func theIntervalsOfALongStormAreLonger() {
        var load = StormLoad()
        load.add(.onWire, from: 0, to: 0.256)
        #expect(load.interval == 0.001)
        load.add(.waiting, from: 0, to: 100)
        #expect(load.interval == 0.256)
        #expect(load.count == 391)
        #expect(abs(load.average(.onWire, during: 0, until: 100) - 1) < 1e-6)
        #expect((0..<391).allSatisfy { abs(load.average(.waiting, during: $0, until: 100) - 1) < 1e-6 })
    }

    @Test func whatNeverWasIsNotCounted() {
        var load = StormLoad()
        load.add(.onWire, from: 2, to: 2)
        load.add(.onWire, from: 3, to: 2)
        load.add(.onWire, from: -1, to: 2)
        load.add(.onWire, from: 0, to: .infinity)
        load.add(.onWire, from: .nan, to: 1)
        #expect(load.count == 0)
    }
}
