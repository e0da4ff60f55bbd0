import AsyncHTTPClient
import AsyncHTTPClientTransport
import AtomNetworkingTesting
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Starts a request on a transport and records its events.
func start(
    _ transport: any Transport, _ server: LoopbackServer, _ path: String = "/x", method: String = "GET",
    headerFields: HeaderFields = HeaderFields(), body: Data? = nil, needsFreshConnection: Bool = false
) throws -> (recorder: EventRecorder, exchange: any TransportExchange) {
    let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
    let request = TransportRequest(
        method: method, target: TargetURL(base: base, path: try URLPath(path), queryItems: []),
        headerFields: headerFields, body: body.map(TransportBody.data), idleTimeout: .seconds(60),
        needsFreshConnection: needsFreshConnection)
    let recorder = EventRecorder()
    return (recorder, transport.start(request) { recorder.receive($0) })
}

extension EventRecorder {
    /// Waits for the last event; `nil` after thirty seconds.
    func end() async -> Kind? {
        await eventually { terminals > 0 } ? kinds.last : nil
    }

    /// The head of the response.
    var response: TransportResponse? {
        for case .response(let response) in events { return response }
        return nil
    }
}

@Suite(.timeLimit(.minutes(5))) struct ConnectionConcurrencyTests {
    @Test func requestsOneAfterTheOtherUseOneConnection() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        for _ in 0..<50 {
            let (recorder, _) = try start(transport, server)
            #expect(await recorder.end() == .finished)
        }
        #expect(server.requestCount == 50 && server.connectionCount == 1)
    }

    @Test(arguments: [1, 3, 20])
    func noMoreConnectionsAreOpenedThanAskedFor(limit: Int) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(connectionsPerOrigin: limit)
        #expect(transport.exchangesPerOrigin == limit)
        let atom = Atom(.forTest(over: transport))
        async let outcomes = withTaskGroup(of: Bool.self) { group in
            for _ in 0..<(limit * 3) { group.addTask { await atom.outcome(of: server.endpoint()).error == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(await server.waitForRequestsInProgress(limit))
        gate.open()
        #expect(await outcomes == limit * 3)
        #expect(server.connectionCount == limit && server.mostRequestsAtOnce == limit)
    }

    @Test func aRequestForAFreshConnectionNeitherWaitsNorRidesAUsedOne() async throws {
        let gate = Gate()
        let server = try LoopbackServer { $0.path == "/held" ? .json("{}").after(gate) : .json("{}") }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(connectionsPerOrigin: 1)
        let (used, _) = try start(transport, server)
        #expect(await used.end() == .finished)
        // The only connection is first idle, then busy.
        let (idle, _) = try start(transport, server, "/fresh", needsFreshConnection: true)
        #expect(await idle.end() == .finished)
        let (held, _) = try start(transport, server, "/held")
        #expect(await server.waitForRequestsInProgress(1))
        let (busy, _) = try start(transport, server, "/fresh", needsFreshConnection: true)
        #expect(await busy.end() == .finished)
        #expect(server.requests.map(\.connection) == [0, 1, 0, 2])
        // No other request uses them.
        #expect(await server.waitForOpenConnections(atMost: 1))
        gate.open()
        #expect(await held.end() == .finished)
    }

    @Test func whatWasNotWrittenToAClosedConnectionGoesOutOnAnother() async throws {
        let server = try LoopbackServer { _ in .json("{}").closingSilently() }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        var finished = 0
        for _ in 0..<300 {
            let (recorder, _) = try start(transport, server, method: "POST", body: Data("x".utf8))
            // Rarely, the event loop learns of the close only after the head
            // was sent.
            if await recorder.end() == .finished {
                finished += 1
            } else {
                #expect(recorder.failure?.delivery == .maybeSent)
            }
            #expect(recorder.violations == [])
            #expect(await server.waitForOpenConnections(atMost: 0))
            #expect(server.requestCount == finished)
        }
        #expect(finished >= 270)
    }

    @Test func whatWasWrittenIsNeverSentTwice() async throws {
        let server = try LoopbackServer { $0.receivedAt % 2 == 0 ? .json("{}") : .closeImmediately }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        for round in 1...20 {
            let (first, _) = try start(transport, server)
            #expect(await first.end() == .finished)
            let (second, _) = try start(transport, server)
            #expect(await second.end() == .failed)
            #expect(second.failure?.delivery == .maybeSent)
            #expect(server.requestCount == round * 2)
        }
    }

    @Test func whatAnEndStartsGoesOutInOrderAndCanStillBeCancelled() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(connectionsPerOrigin: 1)
        let recorders = Locked<[EventRecorder]>([])
        let begin = { @Sendable (path: String) in
            guard let (recorder, exchange) = try? start(transport, server, path) else { return }
            if path == "/cancelled" { recorder.cancel(exchange) }
            recorders.with { $0.append(recorder) }
        }
        let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
        let first = try TransportRequest(base: base, path: URLPath("/0"))
        _ = transport.start(first) { event in
            guard case .finished = event else { return }
            for path in ["/1", "/cancelled", "/2"] { begin(path) }
            // Exchanges that another thread starts in the meantime come after
            // these.
            let isBegun = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                begin("/3")
                isBegun.signal()
            }
            isBegun.wait()
        }
        #expect(await eventually { recorders.value.count { $0.terminals > 0 } == 4 })
        #expect(recorders.value.allSatisfy { $0.violations == [] })
        #expect(recorders.value.map { $0.failure?.delivery } == [nil, .notSent, nil, nil])
        #expect(server.requests.map(\.path) == ["/0", "/1", "/2", "/3"])
    }

    @Test func connectionsAreClosedOnceNobodyNeedsTheTransport() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        var transport: AsyncHTTPClientTransport? = AsyncHTTPClientTransport()
        weak let released = transport
        let recorders = try (0..<5).compactMap { _ in try transport.map { try start($0, server).recorder } }
        #expect(await server.waitForRequestsInProgress(5))
        transport = nil
        #expect(released == nil)
        gate.open()
        for recorder in recorders { #expect(await recorder.end() == .finished) }
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test func aTransportThatWasNeverUsedGoesQuietly() {
        for _ in 0..<100 { _ = AsyncHTTPClientTransport() }
    }

    @Test func shuttingDownEndsWhatRunsAndRefusesWhatComes() async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        let (running, _) = try start(transport, server)
        #expect(await server.waitForRequestsInProgress(1))
        await transport.shutdown()
        #expect(await running.end() == .failed)
        #expect(running.failure?.delivery == .maybeSent && running.violations == [])
        #expect(await server.waitForOpenConnections(atMost: 0))
        for needsFreshConnection in [false, true] {
            let (late, exchange) = try start(transport, server, needsFreshConnection: needsFreshConnection)
            #expect(await late.end() == .failed)
            #expect(late.failure?.delivery == .notSent && late.violations == [])
            exchange.cancel()
        }
        #expect(server.requestCount == 1)
        await transport.shutdown()
    }

    @Test func withOneEventLoopItMeetsTheWholeContract() async throws {
        let oneLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await TransportContract.check(patience: .seconds(120)) {
            AsyncHTTPClientTransport(eventLoopGroup: oneLoop)
        }.get()
        try await oneLoop.shutdownGracefully()
    }

    @Test func itRunsOnEventLoopsOfTheAppsOwn() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try LoopbackServer { $0.path == "/held" ? .hang : .json("{}") }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(eventLoopGroup: group)
        let (recorder, _) = try start(transport, server)
        #expect(await recorder.end() == .finished)
        let (held, _) = try start(transport, server, "/held")
        #expect(await server.waitForRequestsInProgress(1))
        await transport.shutdown()
        try await group.shutdownGracefully()
        #expect(held.kinds.last == .failed && held.violations == [])
    }
}

@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    @Test func aShortTimeoutOfTheClientsOwnCutsNothingShort() async throws {
        let silent = try SilentListener()
        defer { silent.close() }
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .init(connect: .milliseconds(50), read: .milliseconds(50), write: .milliseconds(50))
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        let atom = Atom(.forTest(over: transport, request: 1.5, time: SystemTimeSource()))
        var endpoint = WireEndpoint(host: "127.0.0.1", port: silent.port)
        endpoint.scheme = .https
        let outcome = await atom.outcome(of: endpoint)
        #expect(outcome.urlError?.code == .timedOut)
        // The error is that of the service's deadline.
        #expect(outcome.error?.description.contains("nothing came or went") == true)
    }

    @Test func aSlowAnswerIsWaitedFor() async throws {
        let server = try LoopbackServer { _ in .json("{}").delayed(milliseconds: 300) }
        defer { server.stop() }
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .init(connect: nil, read: .milliseconds(20), write: .milliseconds(20))
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        let (recorder, _) = try start(transport, server)
        #expect(await recorder.end() == .finished)
    }
}

/// A port that accepts connections and never sends a byte.
private struct SilentListener {
    private let channel: any Channel

    init() throws {
        channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    func close() { channel.close(promise: nil) }
}
