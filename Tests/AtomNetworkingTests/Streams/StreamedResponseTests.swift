import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A stream over a transport that the test plays, by a clock that it holds.
@Suite(.limited) struct StreamedResponseTests {
    private let time = ManualClock()
    private let transport = ScriptedTransport.held()

    private func service(
        _ endpoint: any Requestable = PathEndpoint(), chance: Double = 0, log: RequestLog? = nil
    ) -> Service {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 10, resource: 100))
        configuration.transport = transport
        configuration.observers = log.map { [$0] } ?? []
        return Atom(configuration, time: time, random: { chance }).enqueue(endpoint)
    }

    /// A stream whose head has arrived, and its exchange.
    private func stream(canPause: Bool) async throws -> (stream: ResponseStream<Data>, exchange: ScriptedExchange) {
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

    private struct Prompt: Requestable {
        var method: HTTPMethod { .post }
        let body = RequestBody.stream(contentType: "text/plain", length: nil, isRepeatable: false) {
            AsyncStream(unfolding: { nil as Data? })
        }
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    }

    @Test func aBodyThatCanBeReadOnceIsNotSentAgain() async throws {
        async let events = service(Prompt()).serverSentEvents(reconnection: .automatic())
        let exchange = await transport.exchange(0)
        let reader = try #require(exchange.request.transportRequest.body?.makeReader())
        defer { reader.close() }
        var buffer = [UInt8](repeating: 0, count: 8)
        _ = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
        let type = HeaderFields([.init(name: "Content-Type", value: "text/event-stream")])
        exchange.send(
            .response(TransportResponse(statusCode: 200, headerFields: type)), .data(Data("data: a\n\n".utf8)),
            .finished)
        var texts: [String] = []
        for try await event in try await events { texts.append(event.data) }
        #expect(texts == ["a"])
        #expect(transport.requests.count == 1)
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

    // MARK: Reconnecting

    private static let events = HeaderFields([.init(name: "Content-Type", value: "text/event-stream")])

    private func send(_ text: String, over exchange: ScriptedExchange, ends: Bool = true) {
        exchange.send(.response(TransportResponse(statusCode: 200, headerFields: Self.events)), .data(Data(text.utf8)))
        if ends { exchange.send(.finished) }
    }

    /// Reads events to the end.
    private func reading(
        _ reconnection: Reconnection = .automatic(), chance: Double = 0, log: RequestLog? = nil
    ) -> Task<AtomError?, Never> {
        let service = service(chance: chance, log: log)
        return Task {
            do throws(AtomError) {
                var events = try await service.serverSentEvents(reconnection: reconnection).makeAsyncIterator()
                while try await events.next() != nil {}
                return nil
            } catch { return error }
        }
    }

    @Test(arguments: [("0", 1_000), ("2500", 2_500), ("86400000", 600_000)])
    func aServersWordHasAFloorAndACap(retry: String, milliseconds: Int) async throws {
        let task = reading()
        let first = await transport.exchange(0)
        #expect(first.request.headerFields["Cache-Control"] == "no-cache")
        send("retry: \(retry)\ndata: a\n\n", over: first)
        try await alarm(in: .milliseconds(milliseconds))
        task.cancel()
        #expect(await task.value?.isCancelled == true)
    }

    @Test func retryAfterHasACap() async throws {
        let task = reading()
        send("data: a\n\n", over: await transport.exchange(0))
        try await alarm(in: .seconds(3))
        time.advance(by: .seconds(3))
        await transport.exchange(1).answer("busy", status: 503, headers: [("Retry-After", "86400")])
        try await alarm(in: .seconds(600))
        task.cancel()
        #expect(await task.value?.isCancelled == true)
    }

    @Test func pausesAreSpread() async throws {
        let task = reading(chance: 0.5)
        send("data: a\n\n", over: await transport.exchange(0))
        try await alarm(in: .milliseconds(3_750))
        task.cancel()
        #expect(await task.value?.isCancelled == true)
    }

    @Test func theLogHasALineForEachPause() async throws {
        let lines = Locked<[String]>([])
        let task = reading(
            .automatic(maximumAttempts: 2), chance: 0.25,
            log: RequestLog(from: .notice) { level, line in lines.with { $0.append("\(level) \(line)") } })
        send("data: a\n\n", over: await transport.exchange(0))
        try await alarm(in: .milliseconds(3_375))
        time.advance(by: .seconds(4))
        await transport.exchange(1).answer("busy", status: 503)
        try await alarm(in: .milliseconds(6_750))
        task.cancel()
        #expect(await task.value?.isCancelled == true)
        let again = "notice ↻ GET https://api.example.com/x: the stream connects again in"
        let pauses = lines.value.filter { $0.contains("the stream connects") }
        #expect(pauses.first == "\(again) 3.38 seconds. The server has ended the connection.")
        #expect(pauses.last?.hasPrefix("\(again) 6.75 seconds. The server answered HTTP 503") == true, "\(pauses)")
        #expect(pauses.count == 2)
    }

    @Test func aConnectionThatEndsAtOnceCountsWhateverItBrings() async throws {
        let task = reading(.automatic(after: .milliseconds(10), maximumAttempts: 3))
        for (number, delay) in [10, 20, 40].enumerated() {
            send("data: a\n\n", over: await transport.exchange(number))
            try await alarm(in: .milliseconds(delay))
            time.advance(by: .milliseconds(delay))
        }
        send("data: a\n\n", over: await transport.exchange(3))
        #expect(await task.value == nil)
        #expect(transport.exchanges.count == 4)
    }

    @Test func aStreamThatWasAnsweredIsNotSaidToBeUnsent() async throws {
        let task = reading(.automatic(after: .milliseconds(10), maximumAttempts: 1))
        send("data: a\n\n", over: await transport.exchange(0))
        try await alarm(in: .milliseconds(10))
        time.advance(by: .milliseconds(10))
        // What was not sent is sent again once, at once.
        for number in 1...2 { await transport.exchange(number).fail(.cannotConnectToHost, delivery: .notSent) }
        let error = try #require(await task.value)
        #expect(error.isConnectivityFailure)
        #expect(error.delivery == .answered)
    }

    @Test(arguments: [": quiet\n", ""])
    func aConnectionThatLastsCountsAsGoodWhateverItBrings(text: String) async throws {
        let task = reading(.automatic(after: .seconds(3), maximumAttempts: 1))
        for number in 0..<4 {
            let exchange = await transport.exchange(number)
            exchange.send(.response(TransportResponse(statusCode: 200, headerFields: Self.events)))
            if !text.isEmpty { exchange.send(.data(Data(text.utf8))) }
            time.advance(by: .seconds(3))
            exchange.send(.finished)
            try await alarm(in: .seconds(3))
            time.advance(by: .seconds(3))
        }
        let last = await transport.exchange(4)
        last.send(.response(TransportResponse(statusCode: 204)), .finished)
        #expect(await task.value == nil)
    }

    @Test func whatNoRetryMendsEndsTheStreamAtOnce() async throws {
        let task = reading()
        send("data: a\n\n", over: await transport.exchange(0))
        try await alarm(in: .seconds(3))
        time.advance(by: .seconds(3))
        await transport.exchange(1).fail(.serverCertificateUntrusted)
        let error = await task.value
        #expect(error?.attempts == [.connection(.serverCertificateUntrusted)])
        #expect(transport.exchanges.count == 2)
    }

    // MARK: Readers

    @Test func aSecondIteratorMayBeMadeWhileTheStreamReconnects() async throws {
        let service = service()
        async let opening = service.serverSentEvents(reconnection: .automatic())
        let first = await transport.exchange(0)
        first.send(.response(TransportResponse(statusCode: 200, headerFields: Self.events)))
        let stream = try await opening
        let reader = Task { try await stream.first { _ in false } }
        first.send(.data(Data("id: 1\ndata: a\n\n".utf8)), .finished)
        try await alarm(in: .seconds(3))
        time.advance(by: .seconds(3))
        for _ in 0..<100 {
            var second = stream.makeAsyncIterator()
            await #expect(throws: AtomError.self) { try await second.next() }
        }
        let next = await transport.exchange(1)
        #expect(next.request.headerFields["Last-Event-ID"] == "1")
        next.send(.response(TransportResponse(statusCode: 204)), .finished)
        #expect(try await reader.value == nil)
    }

    @Test(arguments: ["parts", "lines", "values", "events"])
    func nothingComesAfterAnError(kind: String) async throws {
        let service = service()
        let task = Task { () -> [Bool] in
            func read<Element>(_ stream: ResponseStream<Element>) async throws -> [Bool] {
                var iterator = stream.makeAsyncIterator()
                guard try await iterator.next() != nil else { return [] }
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: AtomError.self) { try await iterator.next() }
                return [try await iterator.next() == nil, try await iterator.next() == nil]
            }
            return switch kind {
            case "parts": try await read(service.bytes())
            case "lines": try await read(service.lines())
            case "values": try await read(service.jsonLines(of: Int.self))
            default: try await read(service.serverSentEvents())
            }
        }
        let text = kind == "events" ? "data: 1\n\n" : "1\n"
        send(String(repeating: text, count: 3), over: await transport.exchange(0))
        #expect(try await task.value == [true, true])
    }

    @Test(arguments: ["lines", "values", "events"])
    func aCancelledReaderGetsNothingMore(kind: String) async throws {
        let service = service()
        let task = Task { () -> (Int, AtomError?) in
            var count = 0
            func read<Stream: AsyncSequence>(_ stream: Stream) async throws {
                for try await _ in stream {
                    count += 1
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            do {
                switch kind {
                case "lines": try await read(service.lines())
                case "values": try await read(service.jsonLines(of: Int.self))
                default: try await read(service.serverSentEvents())
                }
                return (count, nil)
            } catch { return (count, error as? AtomError) }
        }
        let text = kind == "events" ? "data: 1\n\n" : "1\n"
        send(String(repeating: text, count: 1_000), over: await transport.exchange(0))
        let (count, error) = await task.value
        #expect(count == 1)
        #expect(error?.isCancelled == true)
    }

    @Test func aHeadOfAnAttemptThatWasLetGoOfChangesNothing() async throws {
        let transport = ScriptedTransport.held(endsOnCancel: false)
        var configuration = ServiceConfiguration(timeout: ServiceTimeout(request: 10, resource: 100))
        configuration.transport = transport
        configuration.retryPolicy = .standard
        let service = Atom(configuration, time: time, random: { 0 }).enqueue(PathEndpoint())
        async let opening = service.bytes()
        let silent = await transport.exchange(0)
        time.advance(by: .seconds(10))
        let exchange = await transport.exchange(1)
        for each in [silent, exchange] { each.canPause = true }
        exchange.send(.response(TransportResponse(statusCode: 200)))
        silent.send(.response(TransportResponse(statusCode: 203)))
        let stream = try await opening
        #expect(stream.response.statusCode == 200)
        for _ in 0..<5 { exchange.send(.data(Self.part)) }
        #expect(exchange.pauseCalls == [.pause])
        #expect(silent.pauseCalls == [])
    }
}
