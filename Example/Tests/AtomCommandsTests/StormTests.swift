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
            latencies: [0.001, 0.002, 0.1], server: nil)
        #expect(!report.isAsExpected)
        #expect(report.percentile(0.5) == 0.002)
        #expect(report.percentile(0.99) == 0.1)
        let output = RecordingTerminal()
        report.show(on: output.terminal())
        #expect(output.text.contains("throughput"))
        #expect(output.text.contains("1 /s"))
        #expect(output.text.contains("1 × The server hung up."))
        report.answered = 4
        report.failures = [:]
        #expect(report.isAsExpected)
    }
}
