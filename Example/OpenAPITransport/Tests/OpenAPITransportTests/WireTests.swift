import AtomNetworking
import AtomNetworkingTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import OpenAPITransport
import Testing

/// What goes over the wire, and what comes back.
@Suite(.timeLimit(.minutes(5))) struct WireTests {
    /// Accepts the token that a refresh brings.
    private static func accepting(_ response: LoopbackServer.Response) -> LoopbackServer.Handler {
        { $0["Authorization"] == "Bearer new" ? response : .challenge("Bearer") }
    }

    // MARK: The request

    @Test(arguments: [
        "/x", "/", "/x/", "/x?a=1&a=2", "/x?ids=1,2", "/x?flag", "/x?", "/x?at=a%2Cb", "/x?b=%5b", "/x?c=a+b",
        "/x?d=%C3%A9", "/a%2Fb?e=%20",
    ])
    func pathAndQueryAreSentAsTheyAre(target: String) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        _ = try await Wire(server).send(target)
        #expect(server.requests.map(\.target) == [target])
        #expect(server.requests.first?["Authorization"] == "Bearer old")
    }

    @Test(arguments: ["", "/", "/api/v1", "/api/v1/"])
    func thePathIsBelowThatOfTheServer(path: String) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        _ = try await Wire(server, path: path).send("/x?ids=1,2")
        let prefix = path.hasSuffix("/") ? path.dropLast() : path[...]
        #expect(server.requests.map(\.target) == [prefix + "/x?ids=1,2"])
    }

    @Test(arguments: ["/a/../b", "/a//b", "/a b", "//other.example.com/x", "x"])
    func aPathThatIsReadInSeveralWaysIsNotSent(target: String) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let error = await failure { try await Wire(server).send(target) }
        #expect(error?.refusal == .invalidURLPath)
        #expect(server.requestCount == 0)
    }

    @Test(arguments: ["/", "ftp://127.0.0.1", "http://127.0.0.1/?key=1", "http://user:secret@127.0.0.1"])
    func aServerURLThatIsNoneIsNotUsed(url: String) async throws {
        let transport = AtomTransport(Atom())
        let error = await failure {
            try await transport.send(
                HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/x"), body: nil,
                baseURL: try #require(URL(string: url)), operationID: "")
        }
        #expect(error?.refusal == .invalidBaseURL)
        #expect(!"\(String(describing: error))".contains("secret"))
    }

    /// The second one the SDK itself would write in another way.
    static let targets = ["/open", "/open?ids=1,2"]

    @Test(arguments: targets)
    func whatIsNotSignedCarriesNoTokenAndWaitsForNone(target: String) async throws {
        let gate = LoopbackServer.Gate()
        let server = try LoopbackServer(routes: [
            "/token": { _ in Wire.newToken.after(gate) }, "/open": { _ in .json("{}") },
            "/signed": Self.accepting(.json("{}")),
        ])
        defer { server.stop() }
        let wire = try Wire(server) { if $0 == target { $1.requiresAuthorization = false } }
        async let signed = wire.send("/signed")
        #expect(await server.waitForRequests(2), "the first attempt and the refresh")
        _ = try await wire.send(target)
        #expect(server.requests.last?.target == target && server.requests.last?["Authorization"] == nil)
        gate.open()
        #expect(try await signed.0.status == .ok)
    }

    @Test(arguments: targets)
    func theOptionsAreThoseOfTheOperation(target: String) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        _ = try await Wire(server) {
            if $0 == target { $1.idempotency = .byKey }
        }.send(target)
        #expect(server.requests.first?["Idempotency-Key"] != nil)

        let wire = try Wire(server) {
            if $0 == target { $1.timeout = ServiceTimeout(request: -1) }
        }
        #expect(await failure { try await wire.send(target) }?.refusal?.violation.subject == "request: -1.0")
    }

    @Test func aTokenIsNotSentOverPlainHTTPToOtherMachines() async throws {
        let tokens = TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "first")
        let transport = AtomTransport(
            Atom(
                serviceConfiguration: ServiceConfiguration(
                    authenticationMethod: .bearer(
                        try AuthorizationEndpoint(host: "example.com", path: "/token"), ClientCredential(id: "app"),
                        InMemoryTokenCredentialStore(tokens)))))
        let error = await failure {
            try await transport.send(
                HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/x"), body: nil,
                baseURL: try #require(URL(string: "http://example.com")), operationID: "")
        }
        let isRefused = if case .originNotAllowed = error?.refusal { true } else { false }
        #expect(isRefused)
    }

    @Test func anAuthorizationOfTheClientsOwnWins() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        _ = try await Wire(server).send(.get, "/x", fields: [.authorization: "Basic eA=="])
        #expect(server.requests.first?.values(for: "Authorization") == ["Basic eA=="])
    }

    @Test func methodFieldsAndBodyAreThoseOfTheRequest() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        var fields: HTTPFields = [.contentType: "text/plain", .accept: "application/json", .contentLength: "5"]
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Tag")), value: "a"))
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Tag")), value: "b"))
        _ = try await Wire(server).send(.put, "/x", body: "hello", fields: fields)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT" && request.text == "hello")
        #expect(request.values(for: "Content-Type") == ["text/plain"])
        #expect(request.values(for: "Content-Length") == ["5"])
        #expect(request.values(for: "Accept") == ["application/json"])
        #expect(request.values(for: "X-Tag") == ["a", "b"])
    }

    @Test func theSDKDoesNotNoteTheLengthThatTheClientSets() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.logHandler = { continuation.yield($0) }
        let transport = AtomTransport(Atom(serviceConfiguration: configuration))
        _ = try await transport.send(
            HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/x", headerFields: [.contentLength: "5"]),
            body: "hello", baseURL: server.url(), operationID: "")
        continuation.finish()
        let text = await lines.reduce(into: "") { $0 += $1 + "\n" }
        #expect(text.contains("POST") && !text.contains("left out"))
    }

    // MARK: The body of a request

    @Test func aBodyThatCanBeReadAgainIsSentAgainAfterA401() async throws {
        let server = try LoopbackServer(routes: ["/token": { _ in Wire.newToken }, "/x": Self.accepting(.json("{}"))])
        defer { server.stop() }
        // Larger than what is sent from memory.
        let parts = Array(repeating: [UInt8](repeating: 7, count: 300_000), count: 10)
        let body = HTTPBody(AsyncParts(parts: parts), length: .known(3_000_000), iterationBehavior: .multiple)
        let (response, _) = try await Wire(server).send(.post, "/x", body: body)
        #expect(response.status == .ok)
        let sent = server.requests.filter { $0.path == "/x" }
        #expect(sent.map { $0["Authorization"] } == ["Bearer old", "Bearer new"])
        #expect(sent.map(\.bodyLength) == [3_000_000, 3_000_000])
    }

    @Test func aBodyThatCanBeReadOnceIsNotSentAgain() async throws {
        let server = try LoopbackServer(routes: ["/token": { _ in Wire.newToken }, "/x": Self.accepting(.json("{}"))])
        defer { server.stop() }
        let body = HTTPBody(
            AsyncParts(parts: [[1, 2, 3]]), length: .unknown, iterationBehavior: .single)
        let error = await failure { try await Wire(server).send(.post, "/x", body: body) }
        #expect(error?.transfer?.reason == .bodyNotRepeatable)
        #expect(error?.transfer?.response?.statusCode == 401)
    }

    @Test(arguments: [1 << 20, 1 << 20 + 1])
    func aSignerSeesTheBytesOfASmallBody(size: Int) async throws {
        struct SizeSigner: RequestSigner {
            func sign(_ request: inout SignableRequest) throws {
                try request.setHeader("X-In-Memory", to: "\(request.body?.data?.count ?? 0)")
            }
        }
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        var configuration = ServiceConfiguration()
        configuration.signers = [SizeSigner()]
        let transport = AtomTransport(Atom(serviceConfiguration: configuration))
        _ = try await transport.send(
            HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/x"),
            body: HTTPBody([UInt8](repeating: 7, count: size)), baseURL: server.url(), operationID: "")
        let request = try #require(server.requests.first)
        #expect(request.bodyLength == size)
        #expect(request["X-In-Memory"] == (size > 1 << 20 ? "0" : "\(size)"))
    }

    @Test func aBodyOfGETIsRefused() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let error = await failure { try await Wire(server).send(.get, "/x", body: "hello") }
        let isRefused = if case .invalidMethod = error?.refusal { true } else { false }
        #expect(isRefused && server.requestCount == 0)
    }

    @Test func aStreamIsSentBeforeItsEnd() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let (parts, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        let call = Task {
            await failure {
                try await Wire(server).send(.post, "/x", body: HTTPBody(parts, length: .unknown))
            }
        }
        continuation.yield(ArraySlice(repeating: 7, count: 1_000_000))
        #expect(await server.waitForConnections(1))
        call.cancel()
        #expect(await call.value?.delivery == .maybeSent)
        #expect(await server.waitForDisconnects(1))
        #expect(server.incompleteRequests == 1)
    }

    @Test(arguments: [4, 2], [IterationBehavior.single, .multiple])
    func aBodyOfAnotherLengthIsAnError(length: Int64, behavior: IterationBehavior) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let body = HTTPBody(AsyncParts(parts: [[1, 2, 3]]), length: .known(length), iterationBehavior: behavior)
        let error = await failure { try await Wire(server).send(.post, "/x", body: body) }
        #expect(error?.transfer?.reason == .bodyLengthChanged)
        #expect(server.requestCount == 0)
    }

    // MARK: The response

    @Test(arguments: [400, 404, 418, 422, 500, 503, 599, 304, 300])
    func anyStatusIsAResponse(status: Int) async throws {
        let server = try LoopbackServer { _ in .text("words", status: status).adding("X-Tag", "a") }
        defer { server.stop() }
        let (response, body) = try await Wire(server).send("/x")
        #expect(response.status.code == status)
        #expect(response.headerFields[try #require(HTTPField.Name("x-tag"))] == "a")
        #expect(try await body?.text == (status == 304 ? nil : "words"))
    }

    @Test func a401AfterARefreshIsAResponse() async throws {
        let server = try LoopbackServer(routes: [
            "/token": { _ in Wire.newToken }, "/x": { _ in .text("no", status: 401) },
        ])
        defer { server.stop() }
        let (response, body) = try await Wire(server).send("/x")
        #expect(response.status == .unauthorized)
        #expect(try await body?.text == "no")
        #expect(server.requests.map(\.path) == ["/x", "/token", "/x"])
    }

    @Test(arguments: [true, false])
    func whatHasNoBodyHasNone(collects: Bool) async throws {
        let server = try LoopbackServer { $0.path == "/head" ? .json("{}") : .empty($0.path == "/204" ? 204 : 205) }
        defer { server.stop() }
        let wire = try Wire(server) { $1.collectsResponse = collects }
        for _ in 1...100 {
            #expect(try await wire.send(.head, "/head").1 == nil)
            #expect(try await wire.send("/204").1 == nil)
            #expect(try await wire.send("/205").1 == nil)
        }
        // What was read to its end leaves its connection to the next.
        #expect(server.connectionCount == 1)
    }

    @Test func theLengthIsKnownIfTheServerSaysIt() async throws {
        let server = try LoopbackServer { request in
            request.path == "/known" ? .text("words") : .chunked([Data("wo".utf8), Data("rds".utf8)])
        }
        defer { server.stop() }
        let wire = try Wire(server)
        let known = try await wire.send("/known").1
        #expect(known?.length == .known(5) && known?.iterationBehavior == .single)
        let unknown = try await wire.send("/unknown").1
        #expect(unknown?.length == .unknown)
        #expect(try await unknown?.text == "words")
    }

    @Test func theLengthOfACompressedBodyIsNotThatOnTheWire() async throws {
        // “words”, 20 times.
        let zipped = try #require(Data(base64Encoded: "H4sIAAAAAAACAyvPL0opLqctAQDIwNP2ZAAAAA=="))
        let server = try LoopbackServer { _ in .status(200, headers: [("Content-Encoding", "gzip")], body: zipped) }
        defer { server.stop() }
        let body = try #require(try await Wire(server).send("/x").1)
        #expect(body.length == .unknown)
        #expect(try await body.text == String(repeating: "words", count: 20))
    }

    @Test func aReaderThatDoesNotReadHoldsTheServerBack() async throws {
        let length: Int64 = 100_000_000
        let server = try LoopbackServer { _ in .generated(length: length) }
        defer { server.stop() }
        let wire = try Wire(server)
        let slow = try #require(try await wire.send("/slow").1)
        // As much goes through another connection meanwhile.
        var fastCount = 0
        for try await part in try #require(try await wire.send("/fast").1) { fastCount += part.count }
        #expect(fastCount == Int(length))
        #expect(server.requestsInProgress == 1)
        var slowCount = 0
        for try await part in slow { slowCount += part.count }
        #expect(slowCount == Int(length))
    }

    @Test func whoStopsReadingClosesTheConnection() async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "begun"), .hang]) }
        defer { server.stop() }
        let wire = try Wire(server)
        var body = try await wire.send("/x").1
        var parts = body?.makeAsyncIterator()
        #expect(try await parts?.next() == ArraySlice("begun".utf8))
        (parts, body) = (nil, nil)
        #expect(await server.waitForDisconnects(1))
    }

    @Test func aCancelledReaderEndsAsCancelled() async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "begun"), .hang]) }
        defer { server.stop() }
        let body = try #require(try await Wire(server).send("/x").1)
        let reader = Task { await failure { try await body.text } }
        #expect(await server.waitForRequestsInProgress(1))
        reader.cancel()
        #expect(await reader.value?.cancelledDelivery == .answered)
        #expect(await server.waitForDisconnects(1))
    }

    @Test func aSignOutEndsTheBodyThatIsRead() async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "begun"), .hang]) }
        defer { server.stop() }
        let wire = try Wire(server)
        let body = try #require(try await wire.send("/x").1)
        try await wire.atom.signOut()
        let error = await failure { try await body.text }
        let isSignedOut = if case .signedOut = error?.authentication { true } else { false }
        #expect(isSignedOut)
    }

    @Test func aStreamThatBreaksOffFailsInItsReader() async throws {
        let server = try LoopbackServer { _ in .text("begun and never ended").cut(at: .bodyByte(5)) }
        defer { server.stop() }
        let (response, body) = try await Wire(server).send("/x")
        #expect(response.status == .ok)
        let error = await failure { try await body?.text }
        #expect(error?.connectionCode == .networkConnectionLost)
    }

    @Test(arguments: targets)
    func aCollectedResponseThatBreaksOffIsAskedForAgain(target: String) async throws {
        let server = try LoopbackServer(
            handler: LoopbackServer.inTurn([.text("begun").cut(at: .bodyByte(2)), .text("whole")]))
        defer { server.stop() }
        let wire = try Wire(server) {
            $1.collectsResponse = true
            $1.retryPolicy = RetryPolicy(baseDelay: .zero)
        }
        #expect(try await wire.send(target).1?.text == "whole")
        #expect(server.requestCount == 2)
    }

    // MARK: A request of HTTPTypes

    @Test func anAtomSendsARequestOfHTTPTypes() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let request = HTTPRequest(
            method: .post, scheme: "http", authority: "\(server.host):\(server.port)", path: "/x?ids=1,2",
            headerFields: [.contentType: "text/plain"])
        let atom = try Wire(server).atom
        let response = try await atom.enqueue(request, body: .data(Data("hello".utf8))).resume()
        #expect(HTTPResponse(response)?.status == .ok)
        let sent = try #require(server.requests.first)
        #expect(sent.method == "POST" && sent.target == "/x?ids=1,2" && sent.text == "hello")
        #expect(sent.values(for: "Content-Type") == ["text/plain"] && sent["Authorization"] == "Bearer old")

        try await atom.enqueue(request, requiresAuthorization: false).resume()
        #expect(server.requests.last?["Authorization"] == nil)
    }

    @Test func aRequestWithoutASchemeIsRefused() async throws {
        let request = HTTPRequest(method: .get, scheme: nil, authority: "127.0.0.1", path: "/")
        let error = await failure { try await Atom().enqueue(request).resume() }
        #expect(error?.refusal == .invalidBaseURL)
    }
}

/// A transport with a session, and the server that it sends to.
private struct Wire {
    let atom: Atom
    let transport: AtomTransport
    let url: URL

    /// The response of the token endpoint.
    static let newToken = LoopbackServer.Response.json(
        #"{"access_token": "new", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "second"}"#)

    init(
        _ server: LoopbackServer, path: String = "", adjusting adjust: @escaping AtomTransport.Adjustment = { _, _ in }
    ) throws {
        let tokens = TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "first")
        let endpoint = try AuthorizationEndpoint(scheme: .http, host: server.host, port: server.port, path: "/token")
        atom = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .bearer(
                    endpoint, ClientCredential(id: "app"), InMemoryTokenCredentialStore(tokens))))
        transport = AtomTransport(atom, adjusting: adjust)
        url = server.url(path)
    }

    /// Sends a request, whose path is also the identifier of the operation.
    func send(
        _ method: HTTPRequest.Method, _ path: String, body: HTTPBody? = nil, fields: HTTPFields = [:]
    ) async throws -> (HTTPResponse, HTTPBody?) {
        try await transport.send(
            HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields), body: body,
            baseURL: url, operationID: path)
    }

    func send(_ path: String) async throws -> (HTTPResponse, HTTPBody?) { try await send(.get, path) }
}

/// A body in parts.
private struct AsyncParts: AsyncSequence, Sendable {
    let parts: [[UInt8]]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<[UInt8]>

        mutating func next() async -> ArraySlice<UInt8>? { rest.popFirst().map { $0[...] } }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: parts[...]) }
}

extension HTTPBody {
    fileprivate var text: String { get async throws { try await String(collecting: self, upTo: .max) } }
}
