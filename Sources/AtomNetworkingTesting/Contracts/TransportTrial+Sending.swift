import AtomNetworking
import Foundation

extension TransportTrial {
    func requestsKeepTheirOrder() async throws {
        // A server sees in which order connections are opened, so each exchange keeps its own until all have arrived.
        for _ in 0..<3 {
            let gate = LoopbackServer.Gate()
            try await with(
                { _ in .text("x").after(gate) },
                run: { server, transport in
                    let count = min(transport.exchangesPerOrigin ?? 6, 6)
                    guard count > 1 else { return findings.notOffered() }
                    let requests = try (0..<count).map { try request(server, "/\($0)") }
                    let recorders = requests.map { start($0, over: transport) }
                    await server.waitForRequests(count, seconds: patience.interval)
                    gate.open()
                    for recorder in recorders { _ = await recorder.hasEnded(within: patience) }
                    // Each connection has its own thread, which reads its request.
                    let arrived = server.requests.sorted { $0.connection < $1.connection }.map(\.path)
                    findings.expect(arrived == requests.map(\.target.path), "they arrived as \(arrived)")
                })
        }
    }

    func bodiesAreSent() async throws {
        try await with(
            { _ in .text("x") },
            run: { server, transport in
                for count in [0, 1, 100_000, 1_000_000] {
                    let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                    let recorder = await run(try request(server, method: "PUT", body: body), over: transport)
                    let arrived = server.requests.last?.body ?? Data()
                    findings.expect(arrived == body, "of \(count) bytes \(arrived.count) arrived, or others")
                    findings.expect(recorder.sent == Int64(count), "\(recorder.sent) of \(count) bytes were reported")
                }
                await run(try request(server, method: "POST"), over: transport)
                findings.expect(server.requests.last?.body.isEmpty ?? true, "a request without a body had one")
            })
    }

    func streamedBodiesAreSent() async throws {
        try await with(
            { _ in .text("x") },
            run: { server, transport in
                let part = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
                let counting = CountingTransport(base: transport)
                let atom = atom(over: counting)
                for length in [nil, Int64(part.count) * 10] {
                    let body = RequestBody.stream(contentType: "application/x-contract", length: length) {
                        Parts(part: part, count: 10)
                    }
                    counting.sent.withLock { $0 = 0 }
                    let outcome = await result(within: patience) {
                        _ = try await atom.enqueue(Upload(port: server.port, body: body)).resume()
                    }
                    let sent = counting.sent.withLock { $0 }
                    findings.expect(
                        (try? outcome?.get()) != nil,
                        "a stream of \(length ?? -1) bytes: \(outcome.map { "\($0)" } ?? "no end")")
                    let arrived = server.requests.last?.body ?? Data()
                    let expected = Data((0..<10).flatMap { _ in part })
                    findings.expect(
                        arrived == expected, "of \(expected.count) streamed bytes \(arrived.count) arrived, or others")
                    findings.expect(
                        sent == expected.count, "\(sent) of \(expected.count) streamed bytes were reported")
                }
                let count = server.requestCount
                let failing = RequestBody.stream(contentType: "application/x-contract") {
                    Parts(part: part, count: 3, error: CancellationError())
                }
                let outcome = await result(within: patience) {
                    _ = try await atom.enqueue(Upload(port: server.port, body: failing)).resume()
                }
                findings.expect(outcome != nil, "a stream that fails had no end")
                findings.expect(
                    (try? outcome?.get()) == nil && server.requestCount == count,
                    "a stream that fails was sent as complete"
                )
            })
    }

    func streamsAreReadOnDemand() async throws {
        // The system accepts connections for it, and nobody reads from them.
        let (listener, port) = try Socket.listening(ipv6: false, port: 0)
        defer { listener.discard() }
        let server = try LoopbackServer(keepsBodies: false) { _ in .text("x") }
        defer { server.stop() }
        let atom = atom(over: try make())
        // More than the buffers of a connection hold.
        let part = Data(repeating: 7, count: 1 << 18)
        let count = 256
        let (isBegun, isRead) = (Arrival<Bool>(), Arrival<Bool>())
        let unread = Task {
            let body = RequestBody.stream(contentType: "application/x-contract") {
                Parts(part: part, count: count) { given in
                    isBegun.arrive(true)
                    if given == count { isRead.arrive(true) }
                }
            }
            return try await atom.enqueue(Upload(port: port, body: body)).resume()
        }
        let hasBegun = await isBegun.wait(patience) ?? false
        findings.expect(hasBegun, "a stream wasn't read")
        // A sound transport never reads all of the first stream now; a faulty one
        // usually does beside others that are as long.
        for _ in 0..<2 where hasBegun {
            let outcome = await result(within: patience) {
                let body = RequestBody.stream(contentType: "application/x-contract") { Parts(part: part, count: count) }
                _ = try await atom.enqueue(Upload(port: server.port, body: body)).resume()
            }
            findings.expect((try? outcome?.get()) != nil, "a stream ended with: \(outcome.map { "\($0)" } ?? "no end")")
        }
        findings.expect(
            isRead.value == nil,
            "a stream of \(count) parts of \(part.count) bytes was read, and the server read none of it")
        unread.cancel()
        let end = await result(within: patience) { _ = try? await unread.value }
        findings.expect(end != nil, "an exchange that was cancelled while it sent a stream didn't end")
    }

    /// A service that leaves time to a check.
    private func atom(over transport: any Transport) -> Atom {
        var configuration = ServiceConfiguration(timeout: ServiceTimeout(request: 600, resource: 1_200))
        configuration.transport = transport
        return Atom(serviceConfiguration: configuration)
    }
}

private struct Upload: Requestable {
    let port: Int
    let body: RequestBody?
    var method: HTTPMethod { .put }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: port) }
}

/// Counts what it reports as sent.
private struct CountingTransport: Transport {
    let base: any Transport
    let sent = Guarded(0)

    init(base: any Transport) { self.base = base }

    var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        base.start(request) { [sent] event in
            if case .sent(let count) = event { sent.withLock { $0 += count } }
            receive(event)
        }
    }
}

/// The same part several times, then an end or an error.
private struct Parts: AsyncSequence, Sendable {
    let part: Data
    let count: Int
    var error: (any Error)?
    /// Hears how many parts have been given out.
    var gives: @Sendable (Int) -> Void = { _ in }

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: Parts
        var given = 0

        mutating func next() async throws -> Data? {
            guard given < parts.count else {
                if let error = parts.error { throw error }
                return nil
            }
            given += 1
            parts.gives(given)
            return parts.part
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: self) }
}
