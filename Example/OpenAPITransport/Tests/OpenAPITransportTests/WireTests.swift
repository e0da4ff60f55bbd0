import AtomNetworking
import AtomNetworkingTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import OpenAPITransport
import Testing

/// What goes over the wire, and what comes back.
@Suite(.limited) final class WireTests {
    /// The second one the SDK itself would write in another way.
    private static let targets = ["/x", "/x?ids=1,2"]
    private static let newToken = LoopbackServer.Response.json(
        #"{"access_token": "new", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "second"}"#)
    /// Refuses the token that a session begins with.
    private static let expired: LoopbackServer.Handler = {
        $0["Authorization"] == "Bearer old" ? .challenge("Bearer") : .json("{}")
    }

    /// They run until the end of the test.
    private var servers: [LoopbackServer] = []

    private func wire(
        _ handler: @escaping LoopbackServer.Handler = { _ in .json("{}") },
        configuration: ServiceConfiguration = ServiceConfiguration(), token: LoopbackServer.Response = newToken,
        adjusting adjust: @escaping AtomTransport.Adjustment = { _, _ in }
    ) throws -> Wire {
        let server = try LoopbackServer { $0.path == "/token" ? token : handler($0) }
        servers.append(server)
        let tokens = TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "first")
        let endpoint = try AuthorizationEndpoint(scheme: .http, host: server.host, port: server.port, path: "/token")
        var configuration = configuration
        configuration.authenticationMethod = .bearer(
            endpoint, ClientCredential(id: "app"), InMemoryTokenCredentialStore(tokens))
        let atom = Atom(serviceConfiguration: configuration)
        return Wire(server: server, atom: atom, transport: AtomTransport(atom, adjusting: adjust))
    }

    @Test(
        arguments: ["", "/", "/api/v1", "/api/v1/"],
        [
            "/x", "/", "/x/", "/x?a=1&a=2", "/x?ids=1,2", "/x?flag", "/x?", "/x?at=a%2Cb", "/x?b=%5b", "/x?c=a+b",
            "/x?d=%C3%A9", "/x?d=%E9", "/a%2Fb?e=%20", "",
        ])
    func pathAndQueryAreSentAsTheyAreBelowThePathOfTheServer(path: String, target: String) async throws {
        let wire = try wire()
        _ = try await wire.send(target, to: wire.server.url(path))
        let prefix = path.hasSuffix("/") ? path.dropLast() : path[...]
        let sent = "\(prefix)\(target)"
        #expect(wire.server.requests.map(\.target) == [sent.isEmpty ? "/" : sent])
        #expect(wire.server.requests.first?["Authorization"] == "Bearer old")
    }

    @Test(
        arguments: [
            ("http://127.0.0.1", "/a/..", nil, .invalidURLPath), ("http://127.0.0.1", "/./b", nil, .invalidURLPath),
            ("http://127.0.0.1", "//host/x", nil, .invalidURLPath), ("http://127.0.0.1", "x", nil, .invalidURLPath),
            ("/", "/x", nil, .invalidBaseURL), ("http://127.0.0.1/?key=1", "/x", nil, .invalidBaseURL),
            ("http://user:secret@127.0.0.1", "/x", nil, .invalidBaseURL),
            ("http://127.0.0.1", "/x", "a body of GET", .invalidMethod(.init(reason: ""))),
            ("http://example.com", "/x?a=%C3%A9", nil, .originNotAllowed(.init(reason: "no token goes there"))),
        ] as [(String, String, HTTPBody?, RequestableError)])
    func whatCannotBeSentIsRefused(url: String, path: String, body: HTTPBody?, refusal: RequestableError) async throws {
        let wire = try wire()
        let error = await #expect(throws: AtomError.self) {
            try await wire.send(path, to: URL(string: url), body: body)
        }
        #expect(error?.refusal == refusal)
        #expect(!"\(String(describing: error))".contains("secret"))
    }

    @Test(arguments: targets)
    func theOptionsAreThoseOfTheOperation(target: String) async throws {
        let gate = LoopbackServer.Gate()
        let inTurn = LoopbackServer.inTurn([.text("begun").cut(at: .bodyByte(2)), .text("whole")])
        let wire = try wire(
            { $0.path == "/x" ? inTurn($0) : Self.expired($0) }, token: Self.newToken.after(gate),
            adjusting: { operationID, options in
                guard operationID == target else { return }
                options.requiresAuthorization = false
                options.idempotency = .byKey
                options.retryPolicy = RetryPolicy(baseDelay: .zero)
                options.collectsResponse = true
            })
        async let signed = wire.send("/signed")
        #expect(await wire.server.waitForRequests(2), "the first attempt and the refresh")
        #expect(try await wire.send(target).1?.text == "whole")
        let sent = wire.server.requests.dropFirst(2)
        #expect(sent.map(\.target) == [target, target])
        #expect(sent.allSatisfy { $0["Authorization"] == nil && $0["Idempotency-Key"] != nil })
        gate.open()
        #expect(try await signed.0.status == .ok)

        let hasty = try self.wire(adjusting: { $1.timeout = ServiceTimeout(request: -1) })
        let error = await #expect(throws: AtomError.self) { try await hasty.send(target) }
        #expect(error?.refusal == .invalidTimeout(.init(reason: "")))
    }

    @Test func methodFieldsAndBodyAreThoseOfTheRequest() async throws {
        let (log, continuation) = AsyncStream.makeStream(of: String.self)
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.logHandler = { continuation.yield($0) }
        let wire = try wire(configuration: configuration)
        let tag = try #require(HTTPField.Name("X-Tag"))
        _ = try await wire.send(
            as: .put, body: "hello",
            fields: [.contentLength: "5", .authorization: "Basic eA==", tag: "a", tag: "b"])
        let request = try #require(wire.server.requests.first)
        #expect(request.method == "PUT" && request.text == "hello")
        #expect(request.values(for: "Content-Length") == ["5"])
        #expect(request.values(for: "Authorization") == ["Basic eA=="])
        #expect(request.values(for: "X-Tag") == ["a, b"])
        continuation.finish()
        let text = await log.reduce(into: "") { $0 += $1 }
        #expect(text.contains("PUT") && !text.contains("left out"), "the SDK notes a length that it drops")
    }

    @Test(arguments: [1 << 20, 1 << 20 + 1])
    func aBodyThatCanBeReadAgainIsSentAgainAfterA401(size: Int) async throws {
        struct SizeSigner: RequestSigner {
            func sign(_ request: inout SignableRequest) throws {
                try request.setHeader("X-In-Memory", to: "\(request.body?.data?.count ?? 0)")
            }
        }
        var configuration = ServiceConfiguration()
        configuration.signers = [SizeSigner()]
        let wire = try wire(Self.expired, configuration: configuration)
        let response = try await wire.send(as: .post, body: HTTPBody([UInt8](repeating: 7, count: size))).0
        #expect(response.status == .ok)
        let sent = wire.server.requests.filter { $0.path == "/x" }
        #expect(sent.map { $0["Authorization"] } == ["Bearer old", "Bearer new"])
        #expect(sent.map(\.bodyLength) == [Int64(size), Int64(size)])
        #expect(sent.allSatisfy { $0["X-In-Memory"] == (size > 1 << 20 ? "0" : "\(size)") })
    }

    @Test(
        arguments: [
            (.single, .unknown, .bodyNotRepeatable), (.single, .known(4), .bodyLengthChanged),
            (.single, .known(2), .bodyLengthChanged), (.multiple, .known(4), .bodyLengthChanged),
            (.multiple, .known(2), .bodyLengthChanged),
        ] as [(IterationBehavior, HTTPBody.Length, TransferError.Reason)])
    func aBodyIsAsSaid(times: IterationBehavior, length: HTTPBody.Length, reason: TransferError.Reason) async throws {
        let wire = try wire(Self.expired)
        let body = HTTPBody([1, 2, 3] as [UInt8], length: length, iterationBehavior: times)
        let error = await #expect(throws: AtomError.self) { try await wire.send(as: .post, body: body) }
        let transfer = if case .transfer(let error) = error { error } else { nil as TransferError? }
        #expect(transfer?.reason == reason)
        #expect(transfer?.response?.statusCode == (reason == .bodyNotRepeatable ? 401 : nil))
        #expect(wire.server.requests.count { $0.path == "/x" } == (reason == .bodyNotRepeatable ? 1 : 0))
    }

    @Test func aStreamIsSentBeforeItsEndAndUntilItIsCancelled() async throws {
        let wire = try wire()
        let (parts, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        let call = Task { try await wire.send(as: .post, body: HTTPBody(parts, length: .unknown)) }
        continuation.yield(ArraySlice(repeating: 7, count: 1_000_000))
        #expect(await wire.server.waitForConnections(1))
        call.cancel()
        let error = await #expect(throws: AtomError.self) { try await call.value }
        #expect(error?.isCancelled == true && error?.delivery == .maybeSent)
        #expect(await wire.server.waitForDisconnects(1))
        #expect(wire.server.incompleteRequests == 1)
    }

    @Test(arguments: [
        (300, 1), (304, 1), (400, 1), (401, 2), (404, 1), (418, 1), (422, 1), (500, 3), (503, 3), (599, 1),
    ])
    func anyStatusIsAResponseAfterAllAttempts(status: Int, attempts: Int) async throws {
        let words = LoopbackServer.Response.text("words", status: status).adding("X-Tag", "a")
        let wire = try wire({ _ in words }, adjusting: { $1.retryPolicy = RetryPolicy(baseDelay: .zero) })
        let (response, body) = try await wire.send()
        #expect(response.status.code == status)
        #expect(response.headerFields[try #require(HTTPField.Name("x-tag"))] == "a")
        #expect(try await body?.text == (status == 304 ? nil : "words"))
        #expect(wire.server.requests.count { $0.path == "/x" } == attempts)
    }

    @Test(arguments: [true, false])
    func whatHasNoBodyHasNone(collects: Bool) async throws {
        let wire = try wire(
            { $0.method == "HEAD" ? .json("{}") : .empty($0.path == "/204" ? 204 : 205) },
            adjusting: { $1.collectsResponse = collects })
        for _ in 1...100 {
            #expect(try await wire.send(as: .head).1 == nil)
            #expect(try await wire.send("/204").1 == nil)
            #expect(try await wire.send("/205").1 == nil)
        }
        // What was read to its end leaves its connection to the next.
        #expect(wire.server.connectionCount == 1)
    }

    private static let zipped = Data(base64Encoded: "H4sIAAAAAAACAyvPL0opLocTALX/0ToPAAAA") ?? Data()

    @Test(
        arguments: [
            (.text("words"), .known(5), "words"), (.chunked([Data("wo".utf8), Data("rds".utf8)]), .unknown, "words"),
            // Its length on the wire is another one.
            (.status(200, headers: [("Content-Encoding", "gzip")], body: zipped), .unknown, "wordswordswords"),
        ] as [(LoopbackServer.Response, HTTPBody.Length, String)])
    func aBodyHasItsLength(in response: LoopbackServer.Response, length: HTTPBody.Length, text: String) async throws {
        let wire = try wire { _ in response }
        let body = try #require(try await wire.send().1)
        #expect(body.length == length && body.iterationBehavior == .single)
        #expect(try await body.text == text)
    }

    @Test func aReaderThatDoesNotReadHoldsTheServerBack() async throws {
        let length = 100_000_000
        let wire = try wire { _ in .generated(length: Int64(length)) }
        let slow = try #require(try await wire.send("/slow").1)
        // As much goes through another connection meanwhile.
        let fast = try #require(try await wire.send("/fast").1)
        #expect(try await fast.reduce(0) { $0 + $1.count } == length)
        #expect(wire.server.requestsInProgress == 1)
        #expect(try await slow.reduce(0) { $0 + $1.count } == length)
    }

    @Test func whoStopsReadingClosesTheConnection() async throws {
        let wire = try wire { _ in .streamed([.write(text: "begun"), .hang]) }
        var body = try await wire.send().1
        var parts = body?.makeAsyncIterator()
        #expect(try await parts?.next() == ArraySlice("begun".utf8))
        (parts, body) = (nil, nil)
        #expect(await wire.server.waitForDisconnects(1))
    }

    @Test(arguments: [true, false])
    func aReaderEndsWithItsTaskAndWithItsSession(isCancelled: Bool) async throws {
        let wire = try wire { _ in .streamed([.write(text: "begun"), .hang]) }
        let body = try #require(try await wire.send().1)
        let reader = Task { try await body.text }
        if isCancelled { reader.cancel() } else { try await wire.atom.signOut() }
        let error = await #expect(throws: AtomError.self) { try await reader.value }
        let isSignedOut = if case .authentication(.signedOut) = error { true } else { false }
        #expect(error?.isCancelled == isCancelled && isSignedOut == !isCancelled)
        #expect(error?.delivery == .answered)
        #expect(await wire.server.waitForDisconnects(1))
    }

    @Test func aStreamThatBreaksOffFailsInItsReader() async throws {
        let wire = try wire { _ in .text("begun and never ended").cut(at: .bodyByte(5)) }
        let body = try await wire.send().1
        let error = await #expect(throws: AtomError.self) { try await body?.text }
        #expect(error?.isConnectivityFailure == true)
    }

    @Test func anAtomSendsARequestOfHTTPTypes() async throws {
        let wire = try wire()
        var request = HTTPRequest(
            method: .post, scheme: "http", authority: "\(wire.server.host):\(wire.server.port)", path: "/x?ids=1,2",
            headerFields: [.contentType: "text/plain"])
        try await wire.atom.enqueue(request, body: .data(Data("hello".utf8))).resume()
        let sent = try #require(wire.server.requests.first)
        #expect(sent.method == "POST" && sent.target == "/x?ids=1,2" && sent.text == "hello")
        #expect(sent.values(for: "Content-Type") == ["text/plain"] && sent["Authorization"] == "Bearer old")

        try await wire.atom.enqueue(request, requiresAuthorization: false).resume()
        #expect(wire.server.requests.last?["Authorization"] == nil)
        request.scheme = nil
        let error = await #expect(throws: AtomError.self) { try await wire.atom.enqueue(request).resume() }
        #expect(error?.refusal == .invalidBaseURL)
    }
}

/// A transport with a session, and the server that it sends to.
private struct Wire {
    let server: LoopbackServer
    let atom: Atom
    let transport: AtomTransport

    /// Sends a request, whose target is also the identifier of the operation.
    func send(
        _ target: String = "/x", as method: HTTPRequest.Method = .get, to url: URL? = nil, body: HTTPBody? = nil,
        fields: HTTPFields = [:]
    ) async throws -> (HTTPResponse, HTTPBody?) {
        try await transport.send(
            HTTPRequest(method: method, scheme: nil, authority: nil, path: target, headerFields: fields), body: body,
            baseURL: url ?? server.url(""), operationID: target)
    }
}

extension HTTPBody {
    fileprivate var text: String { get async throws { try await String(collecting: self, upTo: .max) } }
}

extension AtomError {
    /// Why the request was never sent.
    fileprivate var refusal: RequestableError? { if case .requestable(let error) = self { error } else { nil } }
}
