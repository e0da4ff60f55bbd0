import AtomNetworking
import AtomNetworkingTesting
import Testing

@testable import AtomCommands

@Suite final class StormTapTests {
    private let stopwatch = Stopwatch()
    /// An exchange goes on as long as somebody has it.
    private var exchanges: [any TransportExchange] = []

    /// A tap over a wire that answers within `start`, or when the clock is
    /// advanced.
    private func tap(_ requests: Int, _ answers: ScriptedAnswer...) -> (tap: StormTap, wire: ScriptedTransport) {
        let wire = ScriptedTransport(answers, delivery: .immediate, onProblem: { Issue.record($0) })
        return (StormTap(requests: requests, stopwatch, over: wire), wire)
    }

    private func start(_ number: Int?, on tap: StormTap) throws {
        var fields = HeaderFields()
        if let number { fields.append(name: "X-Request-ID", value: String(number)) }
        let request = try TransportRequest(
            base: BaseURL(scheme: .http, host: "localhost"), path: URLPath("/"), headerFields: fields)
        exchanges.append(tap.start(request) { _ in })
    }

    @Test func theAttemptsOfARequestAreItsOwn() throws {
        let (tap, wire) = tap(
            2, .delayed(.seconds(1), .status(401)), .delayed(.seconds(1), .status(200)), .status(200))
        tap.begin(1, at: 0)
        tap.begin(2, at: 0)
        try start(1, on: tap)
        try start(2, on: tap)
        wire.clock.advance(by: .seconds(1))
        try start(1, on: tap)
        tap.end(2, at: 9, .answered)
        tap.end(1, at: 10, .answered)
        let rows = tap.timeline(until: 11).rows
        #expect(rows.map(\.number) == [2, 1])
        #expect(rows.map { $0.attempts.map(\.status) } == [[200], [401, 200]])
        #expect(rows.allSatisfy { $0.attempts.allSatisfy { $0.end != nil } })
        #expect(rows.map(\.end) == [9, 10] && tap.timeline(until: 11).end == 11)
        try wire.verify()
    }

    @Test func a401EndsWithItsHead() throws {
        let (tap, wire) = tap(1, .chunks([], status: 401, ending: .never))
        tap.begin(1, at: 0)
        try start(1, on: tap)
        tap.end(1, at: 10, .failed)
        #expect(tap.timeline(until: 10).rows.first?.attempts.first?.end != nil)
        try wire.verify()
    }

    @Test func whatComesAfterTheEndIsNotCounted() throws {
        let (tap, wire) = tap(1, .delayed(.seconds(1), .status(200)), .status(200))
        tap.begin(1, at: 0)
        try start(1, on: tap)
        tap.end(1, at: 10, .cancelled)
        wire.clock.advance(by: .seconds(1))
        try start(1, on: tap)
        tap.end(1, at: 20, .answered)
        let timeline = tap.timeline(until: 10)
        #expect(timeline.requestCount == 1 && timeline.cancelledCount == 1)
        #expect(timeline.rows.first?.attempts.count == 1)
        #expect(timeline.rows.first?.attempts.first?.end == nil)
        try wire.verify()
    }

    @Test func whatHasNoNumberIsARefresh() throws {
        let (tap, wire) = tap(
            1, .delayed(.seconds(1), .status(200)), .delayed(.seconds(1), .status(400)),
            .delayed(.seconds(1), .chunks([], ending: .never)),
            .delayed(.seconds(1), .failure(.networkConnectionLost)))
        for _ in 0..<4 { try start(nil, on: tap) }
        wire.clock.advance(by: .seconds(1))
        let timeline = tap.timeline(until: 100)
        // The third one isn't over.
        #expect(timeline.refreshes.map(\.isSuccessful) == [true, false, false, false])
        #expect(timeline.refreshes.map { $0.end == 100 } == [false, false, false, true])
        #expect(timeline.requestCount == 0 && timeline.refreshCount == 4)
        try wire.verify()
    }

    @Test func theLimitIsThatOfTheTransportBelow() throws {
        let base = ServiceConfiguration().makeDefaultTransport()
        let limit = try #require(base.exchangesPerOrigin)
        #expect(StormTap(requests: 1, stopwatch, over: base).exchangesPerOrigin == limit)
    }
}
