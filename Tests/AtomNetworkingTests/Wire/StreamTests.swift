import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses that are read while they arrive.
@Suite(.limited) struct StreamTests {
    private static let events = [("Content-Type", "text/event-stream; charset=utf-8")]

    private func text(_ part: String) -> Data { Data(part.utf8) }

    @Test(arguments: TransportUnderTest.all)
    func thePartsAreThereBeforeTheEnd(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .drip([Data("one".utf8), Data("two".utf8)], gate: gate) }
        defer { server.stop() }
        let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).bytes()
        #expect(stream.response.statusCode == 200)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one".utf8))
        gate.open()
        var rest = Data()
        while let part = try await iterator.next() { rest.append(part) }
        #expect(rest == Data("two".utf8))
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: TransportUnderTest.all)
    func aLargeBodyArrivesWhole(over transport: TransportUnderTest) async throws {
        let size: Int64 = 8 << 20
        let server = try LoopbackServer { _ in .generated(length: size) }
        defer { server.stop() }
        var count: Int64 = 0
        var isIntact = true
        for try await part in try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).bytes() {
            if part.first != LoopbackServer.Response.generatedByte(at: count) { isIntact = false }
            count += Int64(part.count)
        }
        #expect(count == size && isIntact)
    }

    /// That silence doesn't count meanwhile is shown with a clock that the test
    /// holds.
    @Test(arguments: TransportUnderTest.all)
    func aReaderThatIsSlowGetsEverything(over transport: TransportUnderTest) async throws {
        let size = 64 << 20
        let server = try LoopbackServer { _ in
            .streamed(
                (0..<(size >> 20)).map { _ in .write(Data(repeating: 7, count: 1 << 20)) }, length: Int64(size))
        }
        defer { server.stop() }
        let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).bytes()
        var count = 0
        for try await part in stream {
            count += part.count
            for _ in 0..<20 { await Task.yield() }
        }
        #expect(count == size)
    }

    @Test(arguments: TransportUnderTest.all)
    func anErrorsBodyIsCollected(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("busy", status: 503) }
        defer { server.stop() }
        do {
            _ = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).lines()
            Issue.record("It succeeded")
        } catch {
            guard case .response(let response) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(response.data == text("busy"))
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func leavingTheLoopClosesTheConnection(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "a\nb\n"), .hang]) }
        defer { server.stop() }
        let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).lines()
        for try await line in stream where line == "a" { break }
        #expect(await server.waitForDisconnects(1))
        _ = stream
    }

    @Test(arguments: TransportUnderTest.all)
    func releasingTheStreamClosesTheConnection(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "a"), .hang]) }
        defer { server.stop() }
        do { _ = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).bytes() }
        #expect(await server.waitForDisconnects(1))
    }

    @Test(arguments: TransportUnderTest.all)
    func cancellingTheTaskEndsTheStream(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "a"), .hang]) }
        defer { server.stop() }
        let hasPart = Signal()
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let task = Task { () -> Bool in
            do {
                for try await _ in try await service.bytes() { hasPart.raise() }
                return false
            } catch {
                return (error as? AtomError)?.isCancelled == true
            }
        }
        await hasPart.wait()
        task.cancel()
        #expect(await task.value)
        #expect(await server.waitForDisconnects(1))
    }

    @Test(arguments: TransportUnderTest.all)
    func aCancelledTaskReadsNoFurther(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .streamed([.generate(length: 1 << 28, chunk: 1 << 16), .hang]) }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let task = Task { () -> Int in
            var parts = 0
            do {
                for try await _ in try await service.bytes() {
                    parts += 1
                    if parts == 5 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            } catch {}
            return parts
        }
        #expect(await task.value == 5)
        #expect(await server.waitForDisconnects(1))
    }

    @Test(arguments: TransportUnderTest.all)
    func aStreamIsReadOnce(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("a") }
        defer { server.stop() }
        let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).bytes()
        var first = stream.makeAsyncIterator()
        var second = stream.makeAsyncIterator()
        await #expect(throws: AtomError.self) { try await second.next() }
        #expect(try await first.next() == Data("a".utf8))
    }

    @Test(arguments: TransportUnderTest.all)
    func a401ThatTheEndpointAcceptsIsRead(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("who?", status: 401) }
        defer { server.stop() }
        var endpoint = server.endpoint("/")
        endpoint.acceptableStatusCodes = 200...499
        let stream = try await Atom.forTest(over: transport).enqueue(endpoint).lines()
        #expect(stream.response.statusCode == 401)
        var lines: [String] = []
        for try await line in stream { lines.append(line) }
        #expect(lines == ["who?"])
    }

    @Test(arguments: TransportUnderTest.all)
    func aLostConnectionIsAnErrorInTheLoop(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .truncated(declaredLength: 10, body: Data("ab\nc".utf8)) }
        defer { server.stop() }
        var lines: [String] = []
        do {
            for try await line in try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).lines() {
                lines.append(line)
            }
            Issue.record("It succeeded")
        } catch {
            #expect(error.delivery == .answered)
        }
        #expect(lines == ["ab"])
    }

    @Test(arguments: TransportUnderTest.all)
    func silenceEndsAStream(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "a"), .hang]) }
        defer { server.stop() }
        let time = ManualClock()
        let service = Atom.forTest(over: transport, request: 3, time: time).enqueue(server.endpoint("/"))
        let stream = try await service.bytes()
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == text("a"))
        // Again and again: while its reader is told of a part, the transport is behind, and silence doesn't count.
        let clock = Task {
            while !Task.isCancelled {
                time.advance(by: .seconds(3))
                await Task.yield()
            }
        }
        defer { clock.cancel() }
        do {
            _ = try await iterator.next()
            Issue.record("It succeeded")
        } catch {
            guard case .session(let cause) = error else {
                Issue.record("\(error)")
                return
            }
            #expect((cause as? URLError)?.code == .timedOut)
            #expect(error.delivery == .answered)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func theResourceTimeoutEndsAtTheHead(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .streamed([.write(text: "a"), .wait(gate), .write(text: "b")]) }
        defer { server.stop() }
        let time = ManualClock()
        let stream = try await Atom.forTest(over: transport, request: 60, resource: 2, time: time)
            .enqueue(server.endpoint("/")).bytes()
        time.advance(by: .seconds(30))
        gate.open()
        var text = ""
        for try await part in stream { text += String(decoding: part, as: UTF8.self) }
        #expect(text == "ab")
    }

    @Test(arguments: TransportUnderTest.all)
    func linesAreSplitWhereverThePartsEnd(over transport: TransportUnderTest) async throws {
        let bytes: [[UInt8]] = [Array("a\r".utf8), Array("\n\nb".utf8), Array("c\rd\r\n".utf8), [0xC3], [0xA9]]
        let server = try LoopbackServer { _ in .chunked(bytes.map { Data($0) }) }
        defer { server.stop() }
        var lines: [String] = []
        for try await line in try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).lines() {
            lines.append(line)
        }
        #expect(lines == ["a", "", "bc", "d", "é"])
    }

    @Test(arguments: TransportUnderTest.all)
    func jsonLinesAreDecoded(over transport: TransportUnderTest) async throws {
        struct Seat: Decodable, Sendable, Equatable { let row: Int }
        let server = try LoopbackServer { _ in .chunked([Data("{\"row\":1}\n\n{\"ro".utf8), Data("w\":2}\r\n".utf8)]) }
        defer { server.stop() }
        var seats: [Seat] = []
        let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).jsonLines(of: Seat.self)
        for try await seat in stream { seats.append(seat) }
        #expect(seats == [Seat(row: 1), Seat(row: 2)])
    }

    @Test(arguments: TransportUnderTest.all)
    func aLineThatIsNotJSONEndsTheStream(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("1\nx\n2\n") }
        defer { server.stop() }
        var numbers: [Int] = []
        do {
            let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).jsonLines(of: Int.self)
            for try await number in stream { numbers.append(number) }
            Issue.record("It succeeded")
        } catch {
            guard case .decoder = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(numbers == [1])
    }

    // MARK: Server-sent events

    @Test(arguments: TransportUnderTest.all)
    func eventsArriveOneByOne(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in
            .chunked(
                [Data("data: a\n\nid: 7\nevent: gate\ndata: b\ndata: c\n\n: x\n\ndata: d".utf8)], headers: Self.events)
        }
        defer { server.stop() }
        var events: [ServerSentEvent] = []
        let stream = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).serverSentEvents()
        for try await event in stream { events.append(event) }
        #expect(events == [ServerSentEvent(data: "a"), ServerSentEvent(type: "gate", data: "b\nc", id: "7")])
        #expect(server.requests.first?["Accept"] == "text/event-stream")
    }

    @Test(arguments: TransportUnderTest.all)
    func somethingElseThanEventsIsAnError(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        do {
            _ = try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).serverSentEvents()
            Issue.record("It succeeded")
        } catch {
            guard case .transfer(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.reason == .unexpectedMediaType)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aStreamGoesOnAfterItsLastEvent(over transport: TransportUnderTest) async throws {
        let count = Locked(0)
        let server = try LoopbackServer { _ in
            switch count.with({
                $0 += 1
                return $0
            }) {
            case 1: .chunked([Data("retry: 1\nid: 1\ndata: a\n\n".utf8)], headers: Self.events)
            case 2: .text("busy", status: 503)
            case 3: .chunked([Data("id: 2\ndata: b\n\n".utf8)], headers: Self.events)
            default: .empty(204)
            }
        }
        defer { server.stop() }
        var ids: [String] = []
        let time = ManualClock()
        let service = Atom.forTest(over: transport, time: time).enqueue(server.endpoint("/"))
        let stream = try await service.serverSentEvents(reconnection: .automatic(after: .seconds(60)))
        try await time.skippingPauses(upTo: .seconds(10)) { for try await event in stream { ids.append(event.id) } }
        #expect(ids == ["1", "2"])
        #expect(server.requests.map { $0["Last-Event-ID"] } == [nil, "1", "1", "2"])
    }

    @Test(arguments: TransportUnderTest.all)
    func noContentEndsAStreamAtOnce(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .empty(204) }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        for try await _ in try await service.serverSentEvents(reconnection: .automatic()) { Issue.record("an event") }
        #expect(server.requestCount == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func anIDThatCannotBeSentBeginsNothingAnew(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request["Last-Event-ID"] == nil
                ? .chunked([Data("retry: 1\nid: 4\ndata: a\n\nid: 5\u{1}\ndata: b\n\n".utf8)], headers: Self.events)
                : .empty(204)
        }
        defer { server.stop() }
        let time = ManualClock()
        let service = Atom.forTest(over: transport, time: time).enqueue(server.endpoint("/"))
        let stream = try await service.serverSentEvents(reconnection: .automatic(maximumAttempts: 1))
        var ids: [String] = []
        try await time.skippingPauses(upTo: .seconds(10)) { for try await event in stream { ids.append(event.id) } }
        #expect(ids == ["4", "5\u{1}"])
        #expect(server.requests.map { $0["Last-Event-ID"] } == [nil, "4"])
    }

    @Test(arguments: TransportUnderTest.all)
    func anIDWithoutAnEventCounts(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request["Last-Event-ID"] == nil
                ? .chunked([Data("retry: 1\ndata: a\n\nid: 9\n\n".utf8)], headers: Self.events) : .empty(204)
        }
        defer { server.stop() }
        let time = ManualClock()
        let service = Atom.forTest(over: transport, time: time).enqueue(server.endpoint("/"))
        let stream = try await service.serverSentEvents(reconnection: .automatic())
        try await time.skippingPauses(upTo: .seconds(10)) { for try await _ in stream {} }
        #expect(server.requests.map { $0["Last-Event-ID"] } == [nil, "9"])
    }

    @Test(arguments: TransportUnderTest.all)
    func aStreamThatBringsNothingGivesUp(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .chunked([Data("retry: 1\n\n".utf8)], headers: Self.events) }
        defer { server.stop() }
        let time = ManualClock()
        let service = Atom.forTest(over: transport, time: time).enqueue(server.endpoint("/"))
        let stream = try await service.serverSentEvents(
            reconnection: .automatic(after: .milliseconds(1), maximumAttempts: 3))
        try await time.skippingPauses(upTo: .seconds(10)) { for try await _ in stream { Issue.record("an event") } }
        #expect(server.requestCount == 4)
    }

    @Test(arguments: TransportUnderTest.all)
    func a401AtTheHeadIsRefreshedFor(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/token": .json(#"{"access_token":"new","token_type":"Bearer","expires_in":3600}"#)
            default:
                request["Authorization"] == "Bearer new" ? .text("a\nb\n") : .text("expired", status: 401)
            }
        }
        defer { server.stop() }
        let authorization = try AuthorizationEndpoint(
            scheme: .http, host: server.host, port: server.port, path: "/token")
        let store = InMemoryTokenCredentialStore(
            TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "r"))
        let atom = Atom.forTest(over: transport) {
            $0.authenticationMethod = .bearer(authorization, ClientCredential(id: "app"), store)
        }
        var lines: [String] = []
        for try await line in try await atom.enqueue(server.endpoint("/")).lines() { lines.append(line) }
        #expect(lines == ["a", "b"])
        #expect(server.requests.map(\.path) == ["/", "/token", "/"])
    }

    @Test(arguments: TransportUnderTest.all)
    func aStreamTakesNoSlot(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request.path == "/stream" ? .streamed([.write(text: "a"), .hang]) : .text("b")
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumExchangesPerOrigin = 1 }
        let stream = try await atom.enqueue(server.endpoint("/stream")).bytes()
        #expect(await atom.outcome(of: server.endpoint("/")).text == "b")
        _ = stream
    }
}
