import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

/// A transport whose events come from the test.
private final class ManualTransport: Transport, @unchecked Sendable {
    private struct Exchange: TransportExchange {
        func cancel() {}
    }

    private let lock = NSLock()
    private var receivers: [@Sendable (TransportEvent) -> Void] = []

    var exchangesPerOrigin: Int? { 4 }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        lock.withLock { receivers.append(receive) }
        return Exchange()
    }

    /// Sends an event of an exchange, by its position in the order of starts.
    func send(_ event: TransportEvent, of index: Int) {
        lock.withLock { receivers[index] }(event)
    }

    func answer(_ status: Int, of index: Int) {
        send(.response(TransportResponse(statusCode: status)), of: index)
        send(.finished, of: index)
    }
}

@Suite struct StormTapTests {
    private let base = ManualTransport()
    private let stopwatch = Stopwatch()

    private func tap(_ requests: Int) -> StormTap { StormTap(requests: requests, stopwatch, over: base) }

    private func start(_ number: Int?, on tap: StormTap) throws {
        var fields = HeaderFields()
        if let number { fields.append(name: "X-Request-ID", value: String(number)) }
        let request = try TransportRequest(
            base: BaseURL(scheme: .http, host: "localhost"), path: URLPath("/"), headerFields: fields)
        _ = tap.start(request) { _ in }
    }

    @Test func theAttemptsOfARequestAreItsOwn() throws {
        let tap = tap(2)
        tap.begin(1, at: 0)
        tap.begin(2, at: 0)
        try start(1, on: tap)
        try start(2, on: tap)
        base.answer(401, of: 0)
        base.answer(200, of: 1)
        try start(1, on: tap)
        base.answer(200, of: 2)
        tap.end(2, at: 9, .answered)
        tap.end(1, at: 10, .answered)
        let rows = tap.timeline(until: 11).rows
        #expect(rows.map(\.number) == [2, 1])
        #expect(rows.map { $0.attempts.map(\.status) } == [[200], [401, 200]])
        #expect(rows.allSatisfy { $0.attempts.allSatisfy { $0.end != nil } })
        #expect(rows.map(\.end) == [9, 10] && tap.timeline(until: 11).end == 11)
    }

    @Test func a401EndsWithItsHead() throws {
        let tap = tap(1)
        tap.begin(1, at: 0)
        try start(1, on: tap)
        base.send(.response(TransportResponse(statusCode: 401)), of: 0)
        tap.end(1, at: 10, .failed)
        #expect(tap.timeline(until: 10).rows.first?.attempts.first?.end != nil)
    }

    @Test func whatComesAfterTheEndIsNotCounted() throws {
        let tap = tap(1)
        tap.begin(1, at: 0)
        try start(1, on: tap)
        tap.end(1, at: 10, .cancelled)
        base.answer(200, of: 0)
        try start(1, on: tap)
        base.answer(200, of: 1)
        tap.end(1, at: 20, .answered)
        let timeline = tap.timeline(until: 10)
        #expect(timeline.requestCount == 1 && timeline.cancelledCount == 1)
        #expect(timeline.rows.first?.attempts.count == 1)
        #expect(timeline.rows.first?.attempts.first?.end == nil)
    }

    @Test func whatHasNoNumberIsARefresh() throws {
        let tap = tap(1)
        for _ in 0..<4 { try start(nil, on: tap) }
        base.answer(200, of: 0)
        base.answer(400, of: 1)
        base.send(.response(TransportResponse(statusCode: 200)), of: 2)
        base.send(.failed(TransportFailure(AtomError.unexpected)), of: 3)
        let timeline = tap.timeline(until: 100)
        // The third one isn't over.
        #expect(timeline.refreshes.map(\.isSuccessful) == [true, false, false, false])
        #expect(timeline.refreshes.map { $0.end == 100 } == [false, false, false, true])
        #expect(timeline.requestCount == 0 && timeline.refreshCount == 4)
    }

    @Test func theLimitIsThatOfTheTransportBelow() {
        #expect(tap(1).exchangesPerOrigin == 4)
    }
}
