import AsyncHTTPClient
import AsyncHTTPClientTransport
import AtomNetworking
import AtomNetworkingTesting
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A path of a server for tests.
struct WireEndpoint: Requestable {
    let base: BaseURL
    let text: String
    let method: HTTPMethod
    let acceptableStatusCodes = 200...399

    init(_ server: LoopbackServer, _ text: String = "/x", method: HTTPMethod = .get) throws(AtomError) {
        self.text = text
        self.method = method
        base = try BaseURL(scheme: .http, host: server.host, port: server.port)
    }

    func baseURL() throws(AtomError) -> BaseURL { base }
    func path() throws(AtomError) -> URLPath { try URLPath(text) }
}

extension Atom {
    init(over transport: any Transport) {
        var configuration = ServiceConfiguration(timeout: ServiceTimeout(request: 60, resource: 60))
        configuration.transport = transport
        configuration.dispatchQueue = .global()
        self.init(serviceConfiguration: configuration)
    }

    /// What a caller gets.
    func outcome(of endpoint: WireEndpoint) async -> Result<AtomResponse, AtomError> {
        do throws(AtomError) { return .success(try await enqueue(endpoint).resume()) } catch { return .failure(error) }
    }
}

extension Result where Failure == AtomError {
    var error: AtomError? { if case .failure(let error) = self { error } else { nil } }

    var urlError: URLError.Code? {
        if case .session(let error)? = error { (error as? URLError)?.code } else { nil }
    }
}

/// What the contract leaves open, through a service.
@Suite(.limited) struct ServiceConcurrencyTests {
    @Test(arguments: [1, 3, 20])
    func noMoreConnectionsAreOpenedThanAskedFor(limit: Int) async throws {
        let gate = LoopbackServer.Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let atom = Atom(over: AsyncHTTPClientTransport(connectionsPerOrigin: limit))
        let endpoint = try WireEndpoint(server)
        async let answered = withTaskGroup(of: Bool.self) { group in
            for _ in 0..<(limit * 3) { group.addTask { await atom.outcome(of: endpoint).error == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(await server.waitForRequestsInProgress(limit))
        gate.open()
        #expect(await answered == limit * 3)
        #expect(server.connectionCount == limit && server.mostRequestsAtOnce == limit)
    }

    /// The connection closes after the pool chose it, and before the loop writes.
    @Test func whatWasNotWrittenToAClosedConnectionGoesOutOnAnother() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let latest = NIOLockedValueBox<(any Channel)?>(nil)
        let configuration = HTTPClient.Configuration(http1_1ConnectionDebugInitializer: { channel in
            latest.withLockedValue { $0 = channel }
            return channel.eventLoop.makeSucceededVoidFuture()
        })
        let transport = AsyncHTTPClientTransport(configuration: configuration, eventLoopGroup: group)
        let endpoint = try WireEndpoint(server)
        let request = try TransportRequest(
            method: "POST", base: endpoint.base, path: endpoint.path(), body: Data(1...9))
        for round in 1...20 {
            #expect(await Atom(over: transport).outcome(of: endpoint).error == nil)
            let channel = try #require(latest.withLockedValue { $0 })
            let isChosen = DispatchSemaphore(value: 0)
            channel.eventLoop.execute {
                isChosen.wait()
                channel.close(promise: nil)
            }
            let error = await withCheckedContinuation { continuation in
                _ = transport.start(request) { event in
                    if case .finished = event { continuation.resume(returning: nil as TransportFailure?) }
                    if case .failed(let failure) = event { continuation.resume(returning: failure) }
                }
                isChosen.signal()
            }
            #expect(error == nil)
            #expect(server.requestCount == round * 2 && server.connectionCount == round + 1)
        }
        await transport.shutdown()
        try await group.shutdownGracefully()
    }

    @Test func whatWasWrittenIsNeverSentTwice() async throws {
        let server = try LoopbackServer { $0.receivedAt % 2 == 0 ? .json("{}") : .closeImmediately }
        defer { server.stop() }
        let atom = Atom(over: AsyncHTTPClientTransport())
        let endpoint = try WireEndpoint(server, method: .post)
        for round in 1...20 {
            #expect(await atom.outcome(of: endpoint).error == nil)
            #expect(await atom.outcome(of: endpoint).error?.delivery == .maybeSent)
            #expect(server.requestCount == round * 2)
        }
    }

    @Test func connectionsAreClosedOnceNobodyNeedsTheTransport() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        #expect(await Atom(over: AsyncHTTPClientTransport()).outcome(of: try WireEndpoint(server)).error == nil)
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test func shuttingDownEndsWhatRunsAndRefusesWhatComes() async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = AsyncHTTPClientTransport(eventLoopGroup: group)
        let atom = Atom(over: transport)
        let endpoint = try WireEndpoint(server, method: .post)
        async let running = atom.outcome(of: endpoint)
        #expect(await server.waitForRequestsInProgress(1))
        await transport.shutdown()
        #expect(await running.error?.delivery == .maybeSent)
        #expect(await server.waitForOpenConnections(atMost: 0))
        #expect(await atom.outcome(of: endpoint).error?.delivery == .notSent)
        #expect(server.requestCount == 1)
        await transport.shutdown()
        try await group.shutdownGracefully()
    }

    @Test func aShortTimeoutOfTheClientsOwnCutsNothingShort() async throws {
        let server = try LoopbackServer { _ in .json("{}").delayed(milliseconds: 300) }
        defer { server.stop() }
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .init(connect: nil, read: .milliseconds(20), write: .milliseconds(20))
        let atom = Atom(over: AsyncHTTPClientTransport(configuration: configuration))
        #expect(await atom.outcome(of: try WireEndpoint(server)).error == nil)
    }

    // MARK: Odd responses

    @Test(arguments: [
        ("HEAD", 200, "Content-Length: 34\r\n"), ("GET", 304, ""), ("GET", 204, ""),
        ("GET", 200, "Content-Length: 0\r\n"),
    ])
    func aCodingOfABodyThatIsNotThereIsNoFailure(method: String, status: Int, length: String) async throws {
        let wire = "HTTP/1.1 \(status) X\r\nContent-Encoding: gzip\r\n\(length)\r\n"
        let server = try LoopbackServer { _ in .script([.write(text: wire)]) }
        defer { server.stop() }
        let atom = Atom(over: AsyncHTTPClientTransport())
        let endpoint = try WireEndpoint(server, method: .token(method))
        for _ in 0..<5 {
            let response = try await atom.outcome(of: endpoint).get()
            #expect(response.statusCode == status && response.data.isEmpty)
        }
    }

    @Test(
        "A response whose codings can't be undone is refused, and the next one is another's own",
        arguments: [
            ("HTTP/1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "transfer coding"),
            ("HTTP/1.1", "Transfer-Encoding: gzip, chunked", "transfer coding"),
            ("HTTP/1.0", "Transfer-Encoding: chunked", "HTTP/1.0"),
        ])
    func codings(version: String, field: String, words: String) async throws {
        let wire = "\(version) 200 OK\r\n\(field)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        let server = try LoopbackServer { $0.path == "/next" ? .text("next") : .script([.write(text: wire)]) }
        defer { server.stop() }
        let atom = Atom(over: AsyncHTTPClientTransport())
        let outcome = await atom.outcome(of: try WireEndpoint(server))
        #expect(outcome.urlError == .cannotParseResponse && outcome.error?.delivery == .maybeSent)
        #expect(outcome.error?.description.contains(words) == true)
        #expect(try await atom.outcome(of: WireEndpoint(server, "/next")).get().data == Data("next".utf8))
    }

    @Test func aBodyThatWouldBeHalfDecodedIsRefused() async throws {
        // A packed text, said to be packed twice.
        let body = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11FIr8osAABKm7FcCwAAAA=="))
        let server = try LoopbackServer { _ in
            .status(200, headers: [("Content-Encoding", "gzip, gzip")], body: body)
        }
        defer { server.stop() }
        let outcome = await Atom(over: AsyncHTTPClientTransport()).outcome(of: try WireEndpoint(server))
        #expect(outcome.urlError == .cannotDecodeRawData && outcome.error?.delivery == .answered)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, and more than was announced",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 204 No Content\r\n\r\nhi",
    ])
    func whatComesAfterTheAnswerIsNobodys(wire: String) async throws {
        let server = try LoopbackServer { $0.path == "/next" ? .text("next") : .script([.write(text: wire)]) }
        defer { server.stop() }
        let atom = Atom(over: AsyncHTTPClientTransport())
        let (endpoint, next) = (try WireEndpoint(server), try WireEndpoint(server, "/next"))
        for _ in 0..<20 {
            let response = try await atom.outcome(of: endpoint).get()
            #expect(response.statusCode == 200 ? response.data.count == 2 : response.data.isEmpty)
            // A client that kept the rest would read it as the response to this request.
            let outcome = await atom.outcome(of: next)
            #expect(
                (try? outcome.get().data) == Data("next".utf8)
                    || [.networkConnectionLost, .badServerResponse].contains(outcome.urlError))
        }
    }
}
