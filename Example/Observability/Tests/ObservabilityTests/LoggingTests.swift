import AtomNetworking
import AtomNetworkingTesting
import InMemoryLogging
import Logging
import Observability
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoggingTests {
    @Test func aLineHasItsLevelAndTheNumberOfItsRequest() async throws {
        let handler = LoopbackServer.inTurn([.text("", status: 503), .json("{}")])
        let station = try Station(["/busy": handler])
        _ = try await station.atom.enqueue(station.endpoint("/busy")).resume()
        let entries = station.log.entries
        let numbers = entries.compactMap { $0.metadata["request"].map { "\($0)" } }
        #expect(numbers.count == entries.count && Set(numbers).count == 1)
        #expect(entries.contains { $0.level == .notice && "\($0.message)".contains("to be sent again") })
        #expect(entries.last?.level == .info)
        #expect(entries.allSatisfy { !"\($0.message)".hasPrefix("[") })
        let parents = entries.compactMap { $0.metadata["traceparent"].map { "\($0)" } }
        #expect(parents == station.traceParents(at: "/busy"))
    }

    @Test func theLoggersLevelHolds() async throws {
        let log = InMemoryLogHandler()
        var logger = Logger(label: "requests", factory: { _ in log })
        logger.logLevel = .notice
        var station = try Station(["/good": { _ in .json("{}") }, "/bad": { _ in .text("", status: 404) }])
        station.configuration.observers = [LoggingObserver(logger)]
        let atom = station.atom
        _ = try await atom.enqueue(station.endpoint("/good")).resume()
        #expect(log.entries.isEmpty)
        await #expect(throws: AtomError.self) { try await atom.enqueue(station.endpoint("/bad")).resume() }
        #expect(log.entries.map(\.level) == [.warning])
    }
}
