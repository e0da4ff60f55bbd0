import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// The requirements of every ``Transport``.
@Suite(.timeLimit(.minutes(10))) struct TransportContractConcurrencyTests {
    private func request(
        _ server: LoopbackServer, _ path: String = "/x", method: String = "GET", body: Data? = nil
    ) throws -> TransportRequest {
        try TransportRequest(
            method: method, base: BaseURL(scheme: .http, host: server.host, port: server.port), path: URLPath(path),
            body: body)
    }

    private func start(
        _ transport: any Transport, _ request: TransportRequest
    ) -> (recorder: EventRecorder, exchange: any TransportExchange) {
        let recorder = EventRecorder()
        return (recorder, transport.start(request) { recorder.receive($0) })
    }

    @Test("Every answer has one head, then its body, then one end", arguments: ContractSubject.all)
    func order(subject: ContractSubject) async throws {
        let answers: [LoopbackServer.Response] = [
            .json("{}"), .empty(204), .generated(length: 300_000, chunked: true), .challenge(#"Basic realm="x""#),
            .redirect(302, location: "/y"), .empty(302), .empty(304), .text("x", status: 500),
            .raw("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        ]
        let server = try LoopbackServer { answers[$0.receivedAt] }
        defer { server.stop() }
        let transport = subject.make()
        for answer in answers.indices {
            let (recorder, _) = start(transport, try request(server))
            #expect(await eventually { recorder.terminals > 0 })
            #expect(recorder.violations == [] && recorder.kinds.last == .finished, "answer \(answer)")
        }
        #expect(server.requestCount == answers.count, "no redirect is followed, no challenge answered")
    }

    @Test("Every failure is one last event", arguments: ContractSubject.all)
    func failures(subject: ContractSubject) async throws {
        let answers: [LoopbackServer.Response] = [
            .closeImmediately, .reset, .raw("what?\r\n"), .truncated(declaredLength: 9, body: Data("x".utf8)),
        ]
        let server = try LoopbackServer { answers[$0.receivedAt % answers.count] }
        defer { server.stop() }
        let transport = subject.make()
        for _ in answers {
            let (recorder, _) = start(transport, try request(server))
            #expect(await eventually { recorder.terminals > 0 })
            #expect(recorder.violations == [] && recorder.kinds.last == .failed)
            #expect(recorder.failure?.delivery != .notSent)
        }
    }

    @Test("A cancelled exchange ends once, and never inside the call", arguments: ContractSubject.all)
    func cancellation(subject: ContractSubject) async throws {
        let server = try LoopbackServer { $0.path == "/hang" ? .hang : .streamed([.write(text: "a"), .hang]) }
        defer { server.stop() }
        let transport = subject.make()
        for path in ["/hang", "/drip"] {
            let (recorder, exchange) = start(transport, try request(server, path))
            if path == "/drip" { #expect(await eventually { recorder.kinds.contains(.data) }) }
            for _ in 0..<3 { recorder.cancel(exchange) }
            #expect(await eventually { recorder.terminals > 0 })
            recorder.cancel(exchange)
            #expect(recorder.violations == [] && recorder.kinds.last == .failed)
        }
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test("Cancelling after the end does nothing", arguments: ContractSubject.all)
    func late(subject: ContractSubject) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = subject.make()
        let (recorder, exchange) = start(transport, try request(server))
        #expect(await eventually { recorder.terminals > 0 })
        DispatchQueue.concurrentPerform(iterations: 20) { _ in exchange.cancel() }
        let (second, _) = start(transport, try request(server))
        #expect(await eventually { second.terminals > 0 })
        #expect(recorder.violations == [] && recorder.kinds.last == .finished)
        #expect(second.violations == [] && second.kinds.last == .finished)
    }

    @Test("Cancelling as it ends is one end all the same", arguments: ContractSubject.all)
    func race(subject: ContractSubject) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = subject.make()
        for _ in 0..<300 {
            let recorder = EventRecorder()
            let handle = Locked<(any TransportExchange)?>(nil)
            let exchange = transport.start(try request(server)) { event in
                recorder.receive(event)
                handle.value?.cancel()
            }
            handle.with { $0 = exchange }
            #expect(await eventually { recorder.terminals > 0 })
            #expect(recorder.violations == [])
        }
    }

    @Test("A body is sent completely and reported", arguments: ContractSubject.all)
    func upload(subject: ContractSubject) async throws {
        let body = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0) })
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let (recorder, _) = start(subject.make(), try request(server, method: "PUT", body: body))
        #expect(await eventually { recorder.terminals > 0 })
        #expect(server.requests.first?.body == body)
        #expect(recorder.sent == body.count && recorder.violations == [])
    }

    @Test("Exchanges outlive their released transport", arguments: ContractSubject.all)
    func lifetime(subject: ContractSubject) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .text("here").after(gate) }
        defer { server.stop() }
        let (recorder, _) = start(subject.make(), try request(server))
        #expect(await server.waitForRequests(1))
        gate.open()
        #expect(await eventually { recorder.terminals > 0 })
        #expect(recorder.body == Data("here".utf8) && recorder.violations == [])
    }

    @Test("Started one after the other they arrive one after the other", arguments: ContractSubject.all)
    func startOrder(subject: ContractSubject) async throws {
        // Each exchange keeps its connection until all have arrived.
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let transport = subject.make()
        let recorders = try (0..<6).map { start(transport, try request(server, "/\($0)")).recorder }
        #expect(await server.waitForRequests(6))
        gate.open()
        #expect(await eventually { recorders.allSatisfy { $0.terminals > 0 } })
        #expect(recorders.allSatisfy { $0.violations == [] })
        // Connections are numbered in the order of arrival; each has its own
        // thread, which reads its requests.
        let arrived = server.requests.sorted { $0.connection < $1.connection }.map(\.path)
        let order = (0..<6).map { "/\($0)" }
        #expect((subject.opensConnectionsInOrder ? arrived : arrived.sorted()) == order)
    }

    @Test("Two events at a time are noticed, and one inside cancel")
    func recorder() {
        final class Canceller: TransportExchange {
            let recorder: EventRecorder
            init(_ recorder: EventRecorder) { self.recorder = recorder }
            func cancel() { recorder.receive(.failed(TransportFailure(URLError(.cancelled)))) }
        }
        let inner = Locked<EventRecorder?>(nil)
        let overlapping = EventRecorder { inner.value?.receive(.data(Data())) }
        inner.with { $0 = overlapping }
        overlapping.receive(.response(TransportResponse(statusCode: 200)))
        inner.with { $0 = nil }
        overlapping.receive(.finished)
        #expect(overlapping.violations == ["two events at a time"])
        let cancelled = EventRecorder()
        cancelled.cancel(Canceller(cancelled))
        #expect(cancelled.violations == ["an event inside cancel"])
    }

    @Test("Two threads that send events at the same time are noticed")
    func overlap() {
        let inner = Locked<EventRecorder?>(nil)
        // While this thread receives an event, another one sends the next.
        let recorder = EventRecorder {
            let hasSent = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                inner.value?.receive(.finished)
                hasSent.signal()
            }
            hasSent.wait()
        }
        inner.with { $0 = recorder }
        recorder.receive(.response(TransportResponse(statusCode: 200)))
        inner.with { $0 = nil }
        #expect(recorder.violations == ["two events at a time"])
    }
}
