import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Bodies that are read while they are sent.
@Suite(.limited) struct UploadTests {
    private static func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }) }

    /// Parts of a stream.
    private static func parts(_ parts: [Data], then error: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for part in parts { continuation.yield(part) }
            continuation.finish(throwing: error)
        }
    }

    private struct Lost: Error {}

    private func endpoint(_ server: LoopbackServer, _ body: RequestBody, _ path: String = "/up") -> WireEndpoint {
        var endpoint = server.endpoint(path, method: .post)
        endpoint.body = body
        return endpoint
    }

    @Test(arguments: [0, 1, 70_000, 3_000_000], TransportUnderTest.all)
    func aFileArrivesAsItIs(size: Int, over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let content = Self.bytes(size)
        let file = try folder.file("picture.png", content)
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let endpoint = endpoint(server, .file(file, contentType: "image/png"))
        let outcome = await Atom.forTest(over: transport).outcome(of: endpoint)
        #expect(outcome.response?.statusCode == 200)
        let request = try #require(server.requests.first)
        #expect(request.body == content)
        #expect(request.values(for: "Content-Length") == ["\(size)"])
        #expect(request["Content-Type"] == "image/png")
        #expect(request["Transfer-Encoding"] == nil)
        #expect(folder.names == ["picture.png"])
    }

    @Test(arguments: [nil, Int64(200_000)], TransportUnderTest.all)
    func aStreamArrivesAsItIs(length: Int64?, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let content = Self.bytes(200_000)
        let parts = [content.prefix(1), Data(), content.dropFirst().prefix(99_999), content.dropFirst(100_000)]
        let body = RequestBody.stream(contentType: "text/csv", length: length) { Self.parts(parts) }
        let outcome = await Atom.forTest(over: transport).outcome(of: endpoint(server, body))
        #expect(outcome.response?.statusCode == 200)
        let request = try #require(server.requests.first)
        #expect(request.body == content)
        #expect(request["Content-Type"] == "text/csv")
        if length != nil { #expect(request.values(for: "Content-Length") == ["200000"]) }
    }

    @Test(arguments: TransportUnderTest.all)
    func aFormWithAFileArrives(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let content = Self.bytes(100_000)
        var form = MultipartForm()
        form.append("Zürich", name: "city")
        form.append(fileAt: try folder.file("a.bin", content), name: "file")
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: endpoint(server, .multipart(form)))
        #expect(outcome.response?.statusCode == 200)
        let request = try #require(server.requests.first)
        #expect(request["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request.values(for: "Content-Length") == ["\(request.body.count)"])
        #expect(request.body.range(of: content) != nil)
        #expect(request.body.range(of: Data("Zürich".utf8)) != nil)
    }

    @Test(arguments: TransportUnderTest.all)
    func whatIsWrongWithAFileIsToldBeforeAnythingIsSent(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        for file in [folder.url, try folder.file("missing")] {
            let error = await Atom.forTest(over: transport).outcome(of: endpoint(server, .file(file))).error
            guard case .requestable(.invalidBody)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error?.delivery == .notSent)
        }
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.all)
    func nothingIsLeftOfABodyThatWasWrittenToAFile(over transport: TransportUnderTest) async throws {
        let content = Data(UUID().uuidString.utf8)
        // Those of other tests are there, too.
        @Sendable func isInAFile() -> Result<Bool, any Error> {
            Result {
                let folder = FileManager.default.temporaryDirectory
                let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                let bodies = files.filter { $0.pathExtension == "body" }
                return bodies.contains { (try? Data(contentsOf: $0, options: .alwaysMapped)) == content }
            }
        }
        let wasInAFile = Locked<Result<Bool, any Error>>(.success(false))
        let server = try LoopbackServer { _ in
            // One look at a folder that others change may miss what is there.
            wasInAFile.with { found in
                for _ in 0..<5 where (try? found.get()) != true { found = isInAFile() }
            }
            return .json("{}")
        }
        defer { server.stop() }
        let body = RequestBody.stream { Self.parts([content]) }
        #expect(await Atom.forTest(over: transport).outcome(of: endpoint(server, body)).response?.statusCode == 200)
        #expect(try wasInAFile.value.get() == (transport.kind == .urlSession))
        #expect(server.requestCount == 1)
        #expect(await eventually { (try? isInAFile().get()) == false })
    }

    @Test(arguments: TransportUnderTest.all)
    func theErrorOfAStreamIsKept(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let body = RequestBody.stream { Self.parts([Self.bytes(10)], then: Lost()) }
        let error = await Atom.forTest(over: transport).outcome(of: endpoint(server, body)).error
        guard case .transfer(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .bodyFailed)
        #expect(failure.underlyingError is Lost)
    }

    @Test(arguments: [9, 11], TransportUnderTest.all)
    func aStreamOfAnotherLengthIsAnError(length: Int64, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let body = RequestBody.stream(length: length) { Self.parts([Self.bytes(10)]) }
        let error = await Atom.forTest(over: transport).outcome(of: endpoint(server, body)).error
        guard case .transfer(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .bodyLengthChanged)
    }

    #if os(Linux)
        /// Such a file says that it is empty.
        @Test(arguments: TransportUnderTest.all.filter { $0.kind == .curl })
        func aFileThatIsSaidToBeEmptyMustBe(over transport: TransportUnderTest) async throws {
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            let body = RequestBody.file(URL(fileURLWithPath: "/proc/self/status"), contentType: "text/plain")
            guard
                case .transfer(let failure)? = await Atom.forTest(over: transport).outcome(of: endpoint(server, body))
                    .error
            else {
                Issue.record("it was sent")
                return
            }
            #expect(failure.reason == .bodyLengthChanged && failure.delivery == .notSent)
            #expect(server.requestCount == 0)
        }
    #endif

    @Test(arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func aStreamThatIsAnnouncedAsEmptyMustBe(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let body = RequestBody.stream(length: 0) { Self.parts([Data(), Self.bytes(10)]) }
        guard case .transfer(let failure)? = await atom.outcome(of: endpoint(server, body)).error else {
            Issue.record("it was sent")
            return
        }
        #expect(failure.reason == .bodyLengthChanged)
        let lost = RequestBody.stream(length: 0) { Self.parts([], then: Lost()) }
        guard case .transfer(let failure)? = await atom.outcome(of: endpoint(server, lost)).error else {
            Issue.record("it was sent")
            return
        }
        #expect(failure.reason == .bodyFailed)
        #expect(server.requestCount == 0)
        let empty = RequestBody.stream(length: 0) { Self.parts([Data()]) }
        #expect(await atom.outcome(of: endpoint(server, empty)).response?.statusCode == 200)
        #expect(server.requests.map { $0.values(for: "Content-Length") } == [["0"]])
    }

    @Test(arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func anEmptyStreamWithoutAnEndIsCancelled(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let (isOpened, isClosed) = (Signal(), Signal())
        let body = RequestBody.stream(length: 0) {
            AsyncStream<Data> { continuation in
                continuation.onTermination = { _ in isClosed.raise() }
                isOpened.raise()
            }
        }
        let service = Atom.forTest(over: transport).enqueue(endpoint(server, body))
        let heard = Locked<AtomError?>(nil)
        let isOver = Signal()
        let task = service.resume { result in
            if case .failure(let error) = result { heard.set(error) }
            isOver.raise()
        }
        await isOpened.wait()
        task.cancel()
        await isOver.wait()
        await isClosed.wait()
        guard case .cancelled? = heard.value else {
            Issue.record("\(String(describing: heard.value))")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.all)
    func aStreamThatGoesOnAfterItsLengthIsAnError(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let body = RequestBody.stream(length: 3) { Self.parts([Data("abc".utf8), Data("def".utf8)]) }
        let error = await Atom.forTest(over: transport).outcome(of: endpoint(server, body)).error
        guard case .transfer(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .bodyLengthChanged)
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.all)
    func cancellationOfAFormEndsIt(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a", Self.bytes(3_000_000))
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for number in 0..<40 {
            var form = MultipartForm()
            form.append(fileAt: file, name: "file")
            let service = atom.enqueue(endpoint(server, .multipart(form)))
            let heard = Signal()
            let task = service.resume { _ in heard.raise() }
            DispatchQueue.global().async {
                for _ in 0..<(number * 200) { _ = DispatchTime.now() }
                task.cancel()
            }
            await heard.wait()
        }
    }

    // MARK: Sent again

    @Test(arguments: [307, 308], TransportUnderTest.all)
    func aRedirectSendsTheSameBytes(status: Int, over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let content = Self.bytes(50_000)
        let server = try LoopbackServer { request in
            request.path == "/up" ? .redirect(status, location: "/moved") : .json("{}")
        }
        defer { server.stop() }
        for body in [RequestBody.file(try folder.file("a", content)), .stream { Self.parts([content]) }] {
            let outcome = await Atom.forTest(over: transport).outcome(of: endpoint(server, body))
            #expect(outcome.response?.statusCode == 200)
        }
        let moved = server.requests.filter { $0.path == "/moved" }
        #expect(moved.map(\.body) == [content, content])
    }

    @Test(arguments: [true, false], TransportUnderTest.all)
    func anErrorIsTheCallersAndTheBodyIsSentOnce(isRepeatable: Bool, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("busy", status: 503) }
        defer { server.stop() }
        let body = RequestBody.stream(isRepeatable: isRepeatable) { Self.parts([Self.bytes(100_000)]) }
        let outcome = await Atom.forTest(over: transport).outcome(of: endpoint(server, body))
        #expect(outcome.response?.statusCode == 503)
        #expect(outcome.text == "busy")
        #expect(server.requests.map(\.body) == [Self.bytes(100_000)])
    }

    @Test(arguments: [false, true], TransportUnderTest.all)
    func aBodyThatCanBeReadOnceIsSentOnce(isCut: Bool, over transport: TransportUnderTest) async throws {
        // Foundation on Linux hands a redirect over when its body has ended.
        if isCut, transport.kind != .curl { return }
        let server = try LoopbackServer { request in
            guard request.path == "/up" else { return .json("{}") }
            return isCut
                ? .truncated(declaredLength: 9, body: Data(count: 1), status: 307, headers: [("Location", "/moved")])
                : .redirect(307, location: "/moved")
        }
        defer { server.stop() }
        let body = RequestBody.stream(isRepeatable: false) { Self.parts([Self.bytes(10)]) }
        let error = await Atom.forTest(over: transport).outcome(of: endpoint(server, body)).error
        guard case .transfer(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .bodyNotRepeatable)
        #expect(failure.response?.statusCode == 307)
        #expect(failure.delivery == .answered)
        #expect(server.requestCount == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func theSameBodyIsNotBegunTwice(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let endpoint = endpoint(server, .stream(isRepeatable: false) { Self.parts([Self.bytes(10)]) })
        let atom = Atom.forTest(over: transport)
        #expect(await atom.outcome(of: endpoint).response?.statusCode == 200)
        let error = await atom.outcome(of: endpoint).error
        guard case .transfer(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .bodyNotRepeatable)
        #expect(failure.delivery == .notSent)
        #expect(server.requestCount == 1)
    }

    // MARK: Answers before the end of the body

    // AsyncHTTPClient sends the whole body before it ends a successful response.

    private func early(_ server: EarlyServer, body: RequestBody) -> WireEndpoint {
        WireEndpoint(host: "127.0.0.1", port: server.port, method: .post, body: body)
    }

    @Test(
        arguments: ["Content-Length: 2\r\n\r\nok", "Content-Length: 0\r\n\r\n"],
        TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func aCompleteAnswerEndsTheUpload(rest: String, over transport: TransportUnderTest) async throws {
        let content = Data(count: 32 << 20)
        for body in [RequestBody.data(content), .stream { Self.parts([content]) }] {
            let server = try EarlyServer("HTTP/1.1 201 Created\r\n" + rest)
            defer { server.stop() }
            // The server never reads on.
            let outcome = await Atom.forTest(over: transport).outcome(of: early(server, body: body))
            #expect(outcome.response?.statusCode == 201)
            #expect(outcome.text == (rest.hasSuffix("ok") ? "ok" : ""))
        }
    }

    @Test(arguments: [264, 300, 340, 400, 700], TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func anAnswerThatComesEarlyIsWhole(kilobytes: Int, over transport: TransportUnderTest) async throws {
        let length = kilobytes << 10
        let server = try EarlyServer(
            "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n" + String(repeating: "x", count: length))
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let stream = try await atom.enqueue(early(server, body: .data(Data(count: 32 << 20)))).bytes()
        // More than is kept for a reader who doesn't read yet.
        await server.hasAnswered.wait()
        var received = 0
        for try await part in stream { received += part.count }
        #expect(received == length)
    }

    @Test(arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func anUploadThatWasReadKeepsItsConnection(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for count in [1, 70_000, 300_000] {
            let content = Self.bytes(count)
            for body in [RequestBody.data(content), .stream(length: Int64(count)) { Self.parts([content]) }] {
                #expect(await atom.outcome(of: endpoint(server, body)).response?.statusCode == 200)
            }
        }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func whatIsSentAfterTheHeadCounts(over transport: TransportUnderTest) async throws {
        let server = try EarlyServer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        defer { server.stop() }
        let (time, observer) = (ManualClock(), RecordingObserver())
        let progress = Locked<Int64>(0)
        let atom = Atom.forTest(over: transport, request: 10, resource: 15, time: time) { $0.observers = [observer] }
        let size = 32 << 20
        let body = RequestBody.stream(length: Int64(size)) { Self.parts([Data(count: size)]) }
        async let response = atom.enqueue(early(server, body: body)).resume(
            progress: { told in progress.with { $0 = told.completed } }, expecting: String.self)
        await server.hasAnswered.wait()
        try #require(await eventually { observer.story().contains { $0.contains("200") } })
        for _ in 0..<5 {
            let before = progress.value
            // A report may be late by one round.
            time.advance(by: .seconds(4))
            await server.read(4 << 20)
            try #require(await eventually { progress.value > before }, "the idle time and the deadline are renewed")
        }
        await server.read(size - (20 << 20))
        server.write("2\r\nok\r\n0\r\n\r\n")
        #expect(try await response == "ok")
        #expect(progress.value == size)
    }

    /// A session whose token the server refuses once.
    private func signed(_ server: LoopbackServer, over transport: TransportUnderTest) throws -> Atom {
        let old = TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "r")
        let authorization = try AuthorizationEndpoint(
            scheme: .http, host: server.host, port: server.port, path: "/token")
        let store = InMemoryTokenCredentialStore(old)
        return Atom.forTest(over: transport) {
            $0.authenticationMethod = .bearer(authorization, ClientCredential(id: "app"), store)
        }
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/token": .json(#"{"access_token":"new","token_type":"Bearer","expires_in":3600}"#)
            default: request["Authorization"] == "Bearer new" ? .json("{}") : .text("expired", status: 401)
            }
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aFileIsSentAgainAfterA401(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let content = Self.bytes(500_000)
        let server = try Self.server()
        defer { server.stop() }
        let outcome = try await signed(server, over: transport).outcome(
            of: endpoint(server, .file(folder.file("a", content))))
        #expect(outcome.response?.statusCode == 200)
        #expect(server.requests.filter { $0.path == "/up" }.map(\.body) == [content, content])
    }

    @Test(arguments: TransportUnderTest.all)
    func a401ForABodyThatCanBeReadOnceIsTheCallersAndTheSessionKnows(over transport: TransportUnderTest) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let atom = try signed(server, over: transport)
        let body = RequestBody.stream(length: 10, isRepeatable: false) { Self.parts([Self.bytes(10)]) }
        let error = await atom.outcome(of: endpoint(server, body)).error
        guard case .transfer(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .bodyNotRepeatable)
        #expect(failure.response.map { String(decoding: $0.data, as: UTF8.self) } == "expired")
        #expect(error?.isAuthorizationFailure == true)
        #expect(server.requests.filter { $0.path == "/up" }.count == 1)
        // The rejected token isn't sent again.
        #expect(await atom.outcome(of: server.endpoint("/up")).response?.statusCode == 200)
        #expect(server.requests.filter { $0.path == "/up" }.count == 2)
    }

    // MARK: Progress

    @Test(arguments: TransportUnderTest.all)
    func progressCountsTheBytesOfAStreamOfUnknownLength(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("[]") }
        defer { server.stop() }
        let calls = Locked<[TransferProgress]>([])
        let body = RequestBody.stream { Self.parts([Data("abc".utf8)]) }
        let service = Atom.forTest(over: transport) { $0.dispatchQueue = DispatchQueue(label: "test") }
            .enqueue(endpoint(server, body))
        _ = try await service.resume(
            progress: { progress in calls.with { $0.append(progress) } }, expecting: [Int].self)
        #expect(await eventually { calls.value.last?.completed == 3 })
        #expect(calls.value.allSatisfy { $0.completed <= 3 })
    }

    @Test(arguments: TransportUnderTest.all)
    func progressEndsAtTheWholeBody(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let size = 4_000_000
        let server = try LoopbackServer { _ in .json("[]") }
        defer { server.stop() }
        let calls = Locked<[TransferProgress]>([])
        let service = Atom.forTest(over: transport) { $0.dispatchQueue = DispatchQueue(label: "test") }
            .enqueue(endpoint(server, .file(try folder.file("a", Self.bytes(size)))))
        let result = try await service.resume(
            progress: { progress in calls.with { $0.append(progress) } }, expecting: [Int].self)
        #expect(result == [])
        let isComplete = TransferProgress(completed: Int64(size), total: Int64(size))
        #expect(await eventually { calls.value.last == isComplete })
        #expect(calls.value.map(\.completed) == calls.value.map(\.completed).sorted())
        #expect(calls.value.allSatisfy { $0.total == Int64(size) && $0.completed <= Int64(size) })
    }
}
