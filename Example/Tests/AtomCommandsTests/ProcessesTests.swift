import AirlineServer
import Foundation
import Testing

@testable import AtomCommands

@Suite(.serialized, .timeLimit(.minutes(3))) struct ProcessesTests {
    private func plan(seconds: Double, _ change: (inout Fleet.Plan) -> Void = { _ in }) -> Fleet.Plan {
        var plan = Fleet.Plan(count: 3, seconds: seconds, executable: Tool.executable)
        plan.workMilliseconds = 50
        change(&plan)
        return plan
    }

    @Test func processesShareEveryRefresh() async throws {
        // The other tests keep the processors busy, so the processes begin late.
        let report = try await Fleet.run(plan(seconds: 7))
        #expect(report.isAsExpected, "\(report)")
        #expect(report.treatment == .unharmed)
        #expect(report.server.refreshes >= 1)
        // An upper limit for one refresh at a time: three processes that
        // refresh separately need three times as many.
        #expect(Double(report.server.refreshes) <= report.seconds / 1.5 + 1)
        #expect(report.server.reuseDetected == 0)
        #expect(report.answered == report.server.apiRequestsAccepted)
    }

    @Test func withGraceNobodyNoticesThatAProcessIsKilled() async throws {
        let report = try await Fleet.run(
            plan(seconds: 4) {
                $0.killEvery = 0.2
                $0.tokenDelayMilliseconds = 200
                $0.gracePeriod = 10
            })
        #expect(report.isAsExpected, "\(report)")
        #expect(report.kills > 0)
        #expect(report.server.signIns == 1)
    }

    @Test func withoutGraceALostAnswerIsCalledAnInterruptedRefresh() async throws {
        let report = try await Fleet.run(
            plan(seconds: 4) {
                $0.killEvery = 0.15
                $0.tokenDelayMilliseconds = 300
                $0.tokenLifetime = 1
            })
        #expect(report.isAsExpected, "\(report)")
        #expect(report.kills > 0)
        #expect(report.interrupted == report.server.familiesRevoked)
    }

    @Test func noProcessIsLeftWhenTheTaskIsCancelled() async throws {
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        let run = Task { try await Fleet.run(plan(seconds: 600)) { answer.yield() } }
        _ = await answers.first { true }
        run.cancel()
        let report = try await run.value
        // It returns when every process has ended; a process that had to be
        // killed counts as ended unexpectedly.
        #expect(report.crashes == 0)
        #expect(report.seconds < 60)
    }

    @Test func aToolThatIsNotThereSaysSo() async throws {
        await #expect(throws: (any Error).self) {
            try await Fleet.run(plan(seconds: 600) { $0.executable = URL(fileURLWithPath: "/nowhere/atom") })
        }
    }

    @Test func aProcessEndsWhenItsLifelineIsCut() async throws {
        let folder = try TemporaryFolder()
        let worker = try WorkerProcess(
            Tool.executable,
            [
                "processes-worker", "--server", "http://127.0.0.1:1", "--session-file", folder.session.url.path,
                "--client-id", "atom-app", "--concurrency", "1", "--work", "0",
            ])
        // No user is signed in, and the worker reports that repeatedly.
        let first = await worker.lines.first { _ in true }
        #expect(first?.contains(": there is no usable credential") == true)
        worker.finish()
        #expect(await worker.waitUntilExit() == 0)
    }

    // MARK: Texts

    @Test func aReportIsALine() {
        let reports: [WorkerReport] = [
            .answered(3), .failed("The server hung up."), .failed(""), .ended(.interrupted, "invalid_grant: used"),
            .ended(.rejected, ""),
        ]
        for report in reports { #expect(WorkerReport(line: report.line) == report) }
        #expect(WorkerReport.failed("a\nb").line == "failed a\u{FFFD}b")
        for line in ["", "answered", "answered x", "ended", "ended well", "Fatal error"] {
            #expect(WorkerReport(line: line) == nil)
        }
    }

    @Test func whatIsNotAsItShouldBeIsSaid() {
        var report = ProcessesReport(treatment: .unharmed, processes: 2)
        #expect(report.complaints == ["No request was answered."])
        report.answered = 1
        #expect(report.isAsExpected)
        report.failures = ["The server hung up.": 2]
        report.crashes = 1
        #expect(report.complaints == ["Requests failed.", "Processes ended unexpectedly."])
        let output = RecordingTerminal()
        report.show(on: output.terminal())
        #expect(output.text.contains("2 × The server hung up."))
        #expect(output.lines.contains("Requests failed."))
    }

    @Test func aSessionThatEndsMustBeCalledInterrupted() {
        var report = ProcessesReport(treatment: .killedStrictly, processes: 2)
        report.answered = 1
        report.rejected = 1
        #expect(report.complaints == ["An interrupted refresh was reported as another error."])
        report.rejected = 0
        report.contradictions = 1
        #expect(!report.isAsExpected)
        report.contradictions = 0
        report.interrupted = 1
        #expect(!report.isAsExpected, "The server knows of no such end.")
        report.treatment = .killedWithGrace
        #expect(report.complaints == ["A session ended."])
    }

    @Test func theSameSeedBringsTheSameNumbers() {
        var first = SeededGenerator(seed: 7)
        var second = SeededGenerator(seed: 7)
        var third = SeededGenerator(seed: 8)
        let numbers = (0..<5).map { _ in first.next() }
        #expect(numbers == (0..<5).map { _ in second.next() })
        #expect(numbers != (0..<5).map { _ in third.next() })
    }
}
