import AirlineServer
import AtomNetworking
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(10))) struct StormTests {
    @Test func aStormIsAnsweredThoughTheTokenKeepsExpiring() async throws {
        let server = try await AirlineServer.start()
        let plan = Storm.Plan(requests: 300, concurrency: 30, tokenLifetime: 1.5, workMilliseconds: 40)
        let report = try await Storm(plan: plan, airline: try Airline(server)).run {}
        #expect(report.answered == 300)
        #expect(report.failed == 0)
        #expect(report.isAsExpected)
        #expect((report.server?.refreshes ?? 0) >= 1)
        #expect(report.server?.reuseDetected == 0)
        #expect(report.server?.peakConcurrentRefreshes == 1)
        // The policy was restored.
        #expect(server.policy.accessTokenLifetime == 3600)
        await server.stop()
    }

    @Test func aStormAgainstNobodySaysSo() async throws {
        let server = try await AirlineServer.start()
        let airline = try Airline(server)
        await server.stop()
        await #expect(throws: AtomError.self) {
            try await Storm(plan: .init(requests: 1, concurrency: 1, tokenLifetime: 1), airline: airline).run {}
        }
    }

    @Test func theReportIsATable() {
        var report = StormReport(
            requests: 4, answered: 3, mixedUp: 0, cancelled: 0, failures: ["The server hung up.": 1], seconds: 2,
            latencies: Latencies([.milliseconds(100), .milliseconds(1), .milliseconds(2)]), server: nil)
        #expect(!report.isAsExpected)
        let output = RecordingTerminal()
        report.show(on: output.terminal())
        #expect(output.text.contains("throughput"))
        #expect(output.text.contains("1 /s"))
        #expect(output.text.contains("1 × The server hung up."))
        #expect(rows(of: report).contains("latency p50 2.0 ms"))
        #expect(rows(of: report).contains("latency p99 100.0 ms"))
        report.answered = 4
        report.failures = [:]
        #expect(report.isAsExpected)
    }

    @Test func itsLatenciesAreThoseOfTheNearestRank() {
        var report = StormReport(
            requests: 100, answered: 100, mixedUp: 0, cancelled: 0, failures: [:], seconds: 2,
            latencies: Latencies((1...100).reversed().map { .microseconds($0 * 100) }))
        #expect(rows(of: report).contains("latency p50 5.0 ms"))
        #expect(rows(of: report).contains("latency p99 9.9 ms"))
        report.latencies = Latencies()
        #expect(rows(of: report).contains("latency p50 0.0 ms"))
        #expect(rows(of: report).contains("latency p99 0.0 ms"))
    }

    /// The lines of the table, with single spaces.
    private func rows(of report: StormReport) -> [String] {
        let output = RecordingTerminal()
        report.show(on: output.terminal())
        return output.lines.map { $0.split(separator: " ").joined(separator: " ") }
    }
}
