import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A stream over a transport that the test plays, by a clock that it holds.
@Suite(.timeLimit(.minutes(5))) struct StreamedResponseTests {
    private let time = ManualClock()
    private let transport = ScriptedTransport.held()

    private func service(_ endpoint: PathEndpoint = PathEndpoint()) -> Service {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 10, resource: 100))
        configuration.transport = transport
        return Atom(configuration, time: time).enqueue(endpoint)
    }

    /// A stream whose head has arrived, and its exchange.
    private func stream(canPause: Bool) async throws -> (stream: ByteStream, exchange: ScriptedExchange) {
        async let stream = service().bytes()
        let exchange = await transport.exchange(0)
        if canPause { exchange.canPause = true }
        exchange.send(.response(TransportResponse(statusCode: 200)))
        return (try await stream, exchange)
    }

    private static let part = Data(repeating: 1, count: 64 << 10)

    @Test func aReaderThatDoesNotReadPausesTheTransportAndResumesItLater() async throws {
        let (stream, exchange) = try await stream(canPause: true)
        for _ in 0..<4 { exchange.send(.data(Self.part)) }
        #expect(exchange.pauseCalls == [])
        exchange.send(.data(Self.part))
        #expect(exchange.pauseCalls == [.pause])
        // What was on its way still arrives.
        exchange.send(.data(Self.part))
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<4 { #expect(try await iterator.next() == Self.part) }
        #expect(exchange.pauseCalls == [.pause])
        #expect(try await iterator.next() == Self.part)
        #expect(exchange.pauseCalls == [.pause, .resume])
        exchange.send(.finished)
        #expect(try await iterator.next() == Self.part)
        #expect(try await iterator.next() == nil)
    }

    @Test func reconnectingWaitsAsLongAsTheServerAsks() async throws {
        async let events = service().serverSentEvents(reconnection: .automatic(after: .seconds(1)))
        let first = await transport.exchange(0)
        let type = HeaderFields([.init(name: "Content-Type", value: "text/event-stream")])
        first.send(.response(TransportResponse(statusCode: 200, headerFields: type)))
        let stream = try await events
        async let event = stream.first { _ in true }
        first.send(.finished)
        try await alarm(in: .seconds(1))
        time.advance(by: .seconds(1))
        let second = await transport.exchange(1)
        second.answer("busy", status: 503, headers: [("Retry-After", "120")])
        try await alarm(in: .seconds(120))
        time.advance(by: .milliseconds(119_999))
        #expect(transport.requests.count == 2)
        time.advance(by: .milliseconds(1))
        let third = await transport.exchange(2)
        third.send(.response(TransportResponse(statusCode: 204)))
        third.send(.finished)
        #expect(try await event == nil)
    }

    /// Waits until an alarm is set that goes off after this time.
    private func alarm(in duration: Duration) async throws {
        while !time.hasAlarm(at: time.now.advanced(by: duration)) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func silenceDoesNotCountWhileTheReaderIsSlow() async throws {
        let (stream, exchange) = try await stream(canPause: true)
        for _ in 0..<5 { exchange.send(.data(Self.part)) }
        time.advance(by: .seconds(1_000))
        #expect(!exchange.isCancelled)
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<5 { #expect(try await iterator.next() == Self.part) }
        // From the resumption on it does.
        time.advance(by: .milliseconds(9_999))
        #expect(!exchange.isCancelled)
        time.advance(by: .milliseconds(1))
        #expect(exchange.isCancelled)
        await #expect(throws: AtomError.self) { try await iterator.next() }
    }

    @Test func whatATransportCannotHoldBackGoesThroughAFileInOrder() async throws {
        let (stream, exchange) = try await stream(canPause: false)
        let count = 100
        for number in 0..<count { exchange.send(.data(Data(repeating: UInt8(number), count: 50_000))) }
        exchange.send(.finished)
        var received = Data()
        for try await part in stream { received.append(part) }
        #expect(received.count == count * 50_000)
        var expected = Data()
        for number in 0..<count { expected.append(Data(repeating: UInt8(number), count: 50_000)) }
        #expect(received == expected)
    }

    @Test func whatHasArrivedBeforeAFailureIsReadFirst() async throws {
        let (stream, exchange) = try await stream(canPause: true)
        exchange.send(.data(Data("a".utf8)))
        exchange.fail(.networkConnectionLost)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        await #expect(throws: AtomError.self) { try await iterator.next() }
    }

    @Test func whoCancelsBeforeTheHeadHearsSo() async throws {
        let service = service()
        let task = Task { () -> AtomError? in
            do throws(AtomError) {
                _ = try await service.bytes()
                return nil
            } catch { return error }
        }
        let exchange = await transport.exchange(0)
        task.cancel()
        #expect(await task.value?.isCancelled == true)
        #expect(exchange.isCancelled)
    }

    @Test func aTransportThatAnswersInsideStartIsReadWhole() async throws {
        var configuration = ServiceConfiguration()
        configuration.transport = ScriptedTransport.held { exchange in
            exchange.send(.response(TransportResponse(statusCode: 200)))
            for _ in 0..<100 { exchange.send(.data(Self.part)) }
            exchange.send(.finished)
        }
        var count = 0
        for try await part in try await Atom(configuration, time: time).enqueue(PathEndpoint()).bytes() {
            count += part.count
        }
        #expect(count == 100 * Self.part.count)
    }

    @Test func reconnectionWaitsAsLongAsTheServerSaysAndTwiceAsLongEachTime() async throws {
        let service = service()
        let events = [("Content-Type", "text/event-stream")]
        let ids = Signal()
        let task = Task { () -> [String] in
            var seen: [String] = []
            let stream = try await service.serverSentEvents(reconnection: .automatic(maximumAttempts: 3))
            for try await event in stream {
                seen.append(event.id)
                ids.raise()
            }
            return seen
        }
        await transport.exchange(0).answer("retry: 2000\nid: 1\ndata: a\n\n", headers: events)
        await ids.wait()
        // Two seconds, then four and eight.
        for (number, delay) in [2, 4, 8].enumerated() {
            try await alarm(in: .seconds(delay))
            time.advance(by: .seconds(delay) - .milliseconds(1))
            #expect(transport.exchanges.count == number + 1)
            time.advance(by: .milliseconds(1))
            await transport.exchange(number + 1).answer("busy", status: 503)
        }
        let result = await task.result
        #expect(throws: AtomError.self) { try result.get() }
        #expect(transport.requests.dropFirst().allSatisfy { $0.headerFields["Last-Event-ID"] == "1" })
    }
}
