import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Which lines a log has, and how important they are.
@Suite(.limited) struct RequestLogTests {
    private let lines = Locked<[String]>([])

    private func log(from level: LogLevel) -> RequestLog {
        RequestLog(from: level) { [lines] level, line in
            // Without the number of the request.
            let text = line.hasPrefix("[") ? line.drop { $0 != "]" }.dropFirst(2) : line[...]
            lines.with { $0.append("\(level) \(text)") }
        }
    }

    private func run(
        from level: LogLevel, policy: RetryPolicy = .none, _ script: @escaping ScriptedTransport.Script
    ) async throws {
        let session = try SessionFixture(script: script)
        var configuration = session.configuration
        configuration.observers = [log(from: level)]
        configuration.retryPolicy = policy
        let call = Call()
        call.keep(
            Atom(configuration, time: session.time, random: { 0 }).enqueue(PathEndpoint()).resume { call.heard($0) })
        _ = await call.outcome()
    }

    @Test("The log has one line for each attempt at the level info") func oneLineForEachSendingAtInfo() async throws {
        try await run(from: .info, policy: .standard) { exchange in
            exchange.request.target.absoluteString.hasSuffix("/y")
                ? exchange.answer("12345") : exchange.redirect(307, to: "/y")
        }
        #expect(
            lines.value == [
                "info ← GET https://api.example.com/x, redirected to https://api.example.com/y",
                "info ← HTTP 200, 5 bytes in 2 attempts GET https://api.example.com/x in 0.0 seconds",
            ])
    }

    @Test("The log has a line for every step at the level debug") func everyStepAtDebug() async throws {
        try await run(from: .debug) { $0.answer() }
        #expect(
            lines.value == [
                "debug GET https://api.example.com/x of PathEndpoint", "debug → GET https://api.example.com/x",
                "debug ← HTTP 200 GET https://api.example.com/x",
                "info ← HTTP 200, 0 bytes GET https://api.example.com/x in 0.0 seconds",
            ])
    }

    @Test func retriesAreNoticesAndFailuresWarnings() async throws {
        let count = Locked(0)
        try await run(from: .notice, policy: .standard) { exchange in
            count.with { $0 += 1 }
            exchange.answer(status: 503)
        }
        #expect(count.value == 3)
        #expect(lines.value.count == 3)
        #expect(lines.value.prefix(2).allSatisfy { $0.hasPrefix("notice ↻ GET https://api.example.com/x: HTTP 503") })
        #expect(lines.value.last?.hasPrefix("warning ✗ GET https://api.example.com/x in 0.0 seconds: ") == true)
    }

    @Test func whatIsBelowTheLevelIsNotMade() async throws {
        try await run(from: .error) { $0.answer(status: 500) }
        #expect(lines.value.isEmpty)
    }

    @Test func aLogThatIsOffBuildsNoLine() {
        var configuration = ServiceConfiguration()
        configuration.logHandler = { [lines] line in lines.with { $0.append(line) } }
        func make() -> String {
            Issue.record("The line was made")
            return ""
        }
        configuration.log?.note(make())
        #expect(lines.value.isEmpty)
    }

    @Test func aLogThatIsOnPassesItsLinesToTheHandler() {
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.logHandler = { [lines] line in lines.with { $0.append(line) } }
        configuration.log?.note("a")
        configuration.log?.note("b")
        #expect(lines.value == ["a", "b"])
    }

    @Test func levelsAreInOrder() {
        #expect(LogLevel.allCases == LogLevel.allCases.sorted())
        #expect(LogLevel.debug < .info && LogLevel.warning < .error)
    }
}
