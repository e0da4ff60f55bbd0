import AtomNetworking
import AtomNetworkingTesting
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
}
