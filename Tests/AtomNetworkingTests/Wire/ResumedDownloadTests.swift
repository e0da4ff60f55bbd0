import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A partial file is continued only if it is the beginning of the same file, for
/// the same person.
@Suite(.limited) struct ResumedDownloadTests {
    private static let size = 100_000

    /// Another content for each seed, with the same length.
    private static func content(_ seed: String) -> Data {
        let step = seed.utf8.reduce(1) { ($0 &* 31 &+ Int($1)) % 251 }
        // In blocks: each byte of a closure costs much with the thread sanitizer, and servers ask for this often.
        let block = Data((0..<251).map { UInt8(($0 + step) % 256) })
        var content = Data(capacity: size + block.count)
        while content.count < size { content.append(block) }
        return content.prefix(size)
    }

    /// A part of the content with the entity tag that everything has.
    private static func part(
        of data: Data, for request: LoopbackServer.Request, cut: Locked<Bool>
    ) -> LoopbackServer.Response {
        var (start, status, headers) = (0, 200, [("ETag", "\"v\"")])
        if let range = request["Range"], request["If-Range"] == "\"v\"",
            let first = Int(range.dropFirst("bytes=".count).dropLast()), first < data.count
        {
            (start, status) = (first, 206)
            headers.append(("Content-Range", "bytes \(first)-\(data.count - 1)/\(data.count)"))
        }
        let body = data[start...]
        let cuts = cut.with { cut in
            defer { cut = false }
            return cut
        }
        guard cuts else { return .status(status, headers: headers, body: body) }
        return .truncated(declaredLength: body.count, body: body.prefix(40_000), status: status, headers: headers)
    }

    /// Downloads until the connection is lost, and says what is left.
    private func begin(_ atom: Atom, _ endpoint: any Requestable, to file: URL, identity: String? = nil) async {
        await #expect(throws: AtomError.self) {
            try await atom.enqueue(endpoint).download(to: file, isResumable: true, identity: identity)
        }
        let partial = try? Data(contentsOf: file.appendingPathExtension("partial"))
        #expect(partial?.count == 40_000)
    }

    @Test("A file that is given up isn't removed if it is another download's by now")
    func theFileOfAnother() throws {
        let folder = try TransferFolder()
        let path = try folder.file("a").path
        let file = try DownloadFile(path, size: 0, isKept: true, mode: 0o600) {}
        try file.append(Data("mine".utf8))
        try FileManager.default.removeItem(atPath: path)
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: path))
        #expect(file.giveUp(isUseless: true), "its notes are the other one's")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("theirs".utf8))
    }

    private static func token(_ name: String, refresh: String) -> TokenCredential {
        TokenCredential(accessToken: name, expiresAt: .distantFuture, refreshToken: refresh)
    }

    private static func bearer(
        _ server: LoopbackServer, _ tokens: any TokenCredentialWritable
    ) throws
        -> AuthenticationMethod
    {
        .bearer(
            try AuthorizationEndpoint(scheme: .http, host: server.host, port: server.port, path: "/token"),
            ClientCredential(id: "client", secret: "secret"), tokens)
    }

    // MARK: The same file

    @Test(
        "A partial file or notes that another user has made are not gone on with", .enabled(if: geteuid() == 0),
        arguments: ["partial", "partial.json"])
    func anotherUsersFile(_ name: String) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content("x"), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: TransportUnderTest.all[0])
        await begin(atom, server.endpoint("/"), to: file)
        try #require(chown(file.path + "." + name, 4_321, 4_321) == 0)
        try await atom.enqueue(server.endpoint("/")).download(to: file, isResumable: true)
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        #expect(try Data(contentsOf: file) == Self.content("x"))
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.ownerAccountID] as? NSNumber == 0)
    }

    @Test(
        arguments: [
            ("/f", "file=1", "/f", "file=2"), ("/1234567890123", "", "/1234567890124", ""),
            ("/0123456789abcdef0123456789abcdef", "", "/0123456789abcdef0123456789abcdee", ""), ("/a", "", "/b", ""),
        ], TransportUnderTest.all)
    func anotherURLIsAnotherFile(
        _ place: (String, String, String, String), over transport: TransportUnderTest
    ) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content($0.target), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        func endpoint(_ path: String, _ query: String) -> WireEndpoint {
            var endpoint = server.endpoint(path)
            let item = query.split(separator: "=").map(String.init)
            if item.count == 2 { endpoint.queryItems = [QueryItem(name: item[0], value: item[1])] }
            return endpoint
        }
        await begin(atom, endpoint(place.0, place.1), to: file)
        try await atom.enqueue(endpoint(place.2, place.3)).download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Self.content(server.requests[1].target))
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        #expect(folder.names == ["a"])
    }

    @Test(arguments: TransportUnderTest.all)
    func anotherBodyOrMethodIsAnotherFile(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content($0.method + $0.text), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let methods: [HTTPMethod] = [.post(Data("june".utf8)), .post(Data("july".utf8)), .get]
        for (first, second) in zip(methods, methods.dropFirst()) {
            cut.set(true)
            await begin(atom, server.endpoint("/", method: first), to: file)
            try await atom.enqueue(server.endpoint("/", method: second)).download(to: file, isResumable: true)
            let request = try #require(server.requests.last)
            #expect(request["Range"] == nil)
            #expect(try Data(contentsOf: file) == Self.content(request.method + request.text))
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func whatTheAppCallsTheSameGoesOn(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content("film"), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        var endpoint = server.endpoint("/film")
        endpoint.queryItems = [QueryItem(name: "Expires", value: "1")]
        await begin(atom, endpoint, to: file, identity: "film 7")
        endpoint.queryItems = [QueryItem(name: "Expires", value: "2")]
        let response = try await atom.enqueue(endpoint).download(to: file, isResumable: true, identity: "film 7")
        #expect(response.statusCode == 206)
        #expect(try Data(contentsOf: file) == Self.content("film"))

        cut.set(true)
        await begin(atom, endpoint, to: file, identity: "film 7")
        try await atom.enqueue(endpoint).download(to: file, isResumable: true, identity: "film 8")
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=23616-", nil, nil])
    }

    @Test(arguments: TransportUnderTest.all)
    func bytesThatDifferAreNeverJoined(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let (cut, seed) = (Locked(true), Locked("old"))
        let server = try LoopbackServer { Self.part(of: Self.content(seed.value), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        await begin(atom, server.endpoint("/"), to: file)
        seed.set("new")
        let response = try await atom.enqueue(server.endpoint("/")).download(to: file, isResumable: true)
        #expect(response.statusCode == 200)
        #expect(try Data(contentsOf: file) == Self.content("new"))
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=23616-", nil])
        #expect(folder.names == ["a"])
    }

    @Test(
        arguments: [
            "bytes 1-99/100", "bytes 5-99/100", "nonsense", "bytes 0-98/99", "bytes 0-99/*", "bytes 0-60/100",
            "bytes 0-29/30", "", "no tag",
        ], TransportUnderTest.all)
    func anotherRangeThanTheOneAskedForIsAskedForAgainAsAWhole(
        range: String, over transport: TransportUnderTest
    ) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let server = try LoopbackServer { request in
            switch request.receivedAt {
            case 0: return .truncated(declaredLength: 100, body: Data(count: 50), headers: [("ETag", "\"v\"")])
            case 1:
                let headers =
                    range == "no tag"
                    ? [("Content-Range", "bytes 0-99/100")]
                    : [("ETag", "\"v\"")] + (range.isEmpty ? [] : [("Content-Range", range)])
                return .status(206, headers: headers, body: Data(repeating: 1, count: 100))
            default: return .status(200, headers: [("ETag", "\"w\"")], body: Data(repeating: 2, count: 80))
            }
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        await #expect(throws: AtomError.self) { try await service.download(to: file, isResumable: true) }
        try await service.download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Data(repeating: 2, count: 80))
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=0-", nil])
        #expect(folder.names == ["a"])
    }

    @Test("A rest that the server calls the whole is asked for again as one", arguments: TransportUnderTest.all)
    func restAsAWhole(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            guard request["Range"] != nil else { return Self.part(of: Self.content("a"), for: request, cut: cut) }
            return .status(200, headers: [("ETag", "\"v\"")], body: Self.content("a")[23_616...])
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        await begin(atom, server.endpoint("/"), to: file)
        let response = try await atom.enqueue(server.endpoint("/")).download(to: file, isResumable: true)
        #expect(response.statusCode == 200)
        #expect(try Data(contentsOf: file) == Self.content("a"))
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=23616-", nil])
        #expect(folder.names == ["a"])
    }

    @Test(arguments: TransportUnderTest.all)
    func onlyAGetIsAskedForAgain(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            request["Range"] == nil
                ? Self.part(of: Self.content("a"), for: request, cut: cut) : .text("no", status: 416)
        }
        defer { server.stop() }
        let endpoint = server.endpoint("/", method: .post(Data("june".utf8)))
        let atom = Atom.forTest(over: transport)
        await begin(atom, endpoint, to: file)
        do throws(AtomError) {
            try await atom.enqueue(endpoint).download(to: file, isResumable: true)
            Issue.record("It succeeded")
        } catch {
            guard case .transfer(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.reason == .incompleteResponse)
        }
        #expect(server.requestCount == 2)
        #expect(folder.names == [])
    }

    @Test(arguments: ["bytes */40000", "bytes */100000", "bytes */10", nil], TransportUnderTest.all)
    func aRangeThatIsRefusedIsAskedForAgainAsAWhole(
        length: String?, over transport: TransportUnderTest
    ) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            guard request["Range"] != nil else { return Self.part(of: Self.content("a"), for: request, cut: cut) }
            return .text("no", status: 416, headers: length.map { [("Content-Range", $0)] } ?? [])
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        await begin(atom, server.endpoint("/"), to: file)
        let result = await withCheckedContinuation { continuation in
            atom.enqueue(server.endpoint("/")).download(to: file, isResumable: true) {
                continuation.resume(returning: $0)
            }
        }
        #expect(result.response?.statusCode == 200)
        #expect(try Data(contentsOf: file) == Self.content("a"))
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=23616-", nil])
        #expect(folder.names == ["a"])
    }

    @Test("A complete partial file is gone on with, and a longer one begins anew", arguments: TransportUnderTest.all)
    func aPartialFileThatIsCompleteOrTooLong(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content("a"), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let partial = file.appendingPathExtension("partial")
        for (size, status) in [(Self.size, 206), (Self.size + 1, 200)] {
            cut.set(true)
            await begin(atom, server.endpoint("/"), to: file)
            try (Self.content("a") + [0]).prefix(size).write(to: partial)
            let response = try await atom.enqueue(server.endpoint("/")).download(to: file, isResumable: true)
            #expect(response.statusCode == status)
            #expect(try Data(contentsOf: file) == Self.content("a"))
            #expect(folder.names == ["a"])
        }
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=83616-", nil, nil])
    }

    @Test(arguments: TransportUnderTest.all)
    func aConnectionThatIsLostAmongKnownBytesLosesNothing(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            guard request.receivedAt == 1 else { return Self.part(of: Self.content("a"), for: request, cut: cut) }
            return .truncated(
                declaredLength: 76_384, body: Self.content("a")[23_616...].prefix(1_000), status: 206,
                headers: [("ETag", "\"v\""), ("Content-Range", "bytes 23616-99999/100000")])
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for _ in 0..<2 { await begin(atom, server.endpoint("/"), to: file) }
        try await atom.enqueue(server.endpoint("/")).download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Self.content("a"))
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=23616-", "bytes=23616-"])
    }

    @Test(arguments: TransportUnderTest.all)
    func theStatusOfARangeNeedsNotBeAcceptable(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content("a"), for: $0, cut: cut) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        var endpoint = server.endpoint("/")
        endpoint.acceptableStatusCodes = 200...200
        await begin(atom, endpoint, to: file)
        let response = try await atom.enqueue(endpoint).download(to: file, isResumable: true)
        #expect(response.statusCode == 206)
        #expect(try Data(contentsOf: file) == Self.content("a"))
    }

    @Test(arguments: TransportUnderTest.all)
    func onlyOneAtATimeWritesAPartialFile(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let gate = LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            request.receivedAt == 0
                ? .streamed(
                    [.generate(length: 10_000, chunk: 1_000), .wait(gate), .generate(length: 10_000, chunk: 1_000)],
                    headers: [("ETag", "\"v\"")], length: 20_000)
                : .status(200, headers: [("ETag", "\"v\"")], body: Data(count: 20_000))
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        async let first = service.download(to: file, isResumable: true)
        #expect(await eventually { folder.names.contains("a.partial.json") })
        do throws(AtomError) {
            try await service.download(to: file, isResumable: true)
            Issue.record("It succeeded")
        } catch {
            guard case .transfer(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.reason == .destinationUnusable)
        }
        gate.open()
        _ = try await first
        #expect(try Data(contentsOf: file).count == 20_000)
        #expect(folder.names == ["a"])
    }

    // MARK: Redirects

    @Test(arguments: TransportUnderTest.all)
    func aDownloadByWayOfAnotherOriginGoesOn(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let (cut, place) = (Locked(true), Locked("/store/1?sig=a"))
        let store = try LoopbackServer { Self.part(of: Self.content($0.path), for: $0, cut: cut) }
        defer { store.stop() }
        let port = store.port
        let server = try LoopbackServer { _ in .redirect(302, location: "http://127.0.0.1:\(port)\(place.value)") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let endpoint = server.endpoint(
            "/report", headers: ["X-Api-Key": "k", "If-Range": "mine", "Authorization": "Bearer t"])
        await begin(atom, endpoint, to: file)
        let response = try await atom.enqueue(endpoint).download(to: file, isResumable: true)
        #expect(response.statusCode == 206)
        #expect(try Data(contentsOf: file) == Self.content("/store/1"))
        // Another place, also by the query alone, is another file.
        for next in ["/store/1?sig=b", "/store/2?sig=b"] {
            cut.set(true)
            await begin(atom, endpoint, to: file)
            place.set(next)
            try await atom.enqueue(endpoint).download(to: file, isResumable: true)
            #expect(try Data(contentsOf: file) == Self.content(String(next.prefix(8))))
        }
        // With an identity the query doesn't count, and the path does.
        cut.set(true)
        await begin(atom, endpoint, to: file, identity: "report")
        place.set("/store/2?sig=c")
        try await atom.enqueue(endpoint).download(to: file, isResumable: true, identity: "report")
        cut.set(true)
        await begin(atom, endpoint, to: file, identity: "report")
        place.set("/store/3?sig=c")
        try await atom.enqueue(endpoint).download(to: file, isResumable: true, identity: "report")
        #expect(try Data(contentsOf: file) == Self.content("/store/3"))
        #expect(
            store.requests.map { $0["Range"] != nil } == [
                false, true, false, false, false, false, false, true, false, false,
            ])
        #expect(store.requests.allSatisfy { $0["X-Api-Key"] == nil && $0["Authorization"] == nil })
        #expect(store.requests.allSatisfy { $0["If-Range"] == ($0["Range"] == nil ? nil : "\"v\"") })
    }

    @Test(arguments: TransportUnderTest.all)
    func aStreamOfEventsGoesOnAtAnotherOrigin(over transport: TransportUnderTest) async throws {
        let abroad = try LoopbackServer { request in
            request["Last-Event-ID"] == nil
                ? .chunked(
                    [Data("retry: 1\nid: 9\ndata: a\n\n".utf8)], headers: [("Content-Type", "text/event-stream")])
                : .empty(204)
        }
        defer { abroad.stop() }
        let port = abroad.port
        let home = try LoopbackServer { _ in .redirect(307, location: "http://127.0.0.1:\(port)/") }
        defer { home.stop() }
        let time = ManualClock()
        let service = Atom.forTest(over: transport, time: time).enqueue(
            home.endpoint("/", headers: ["X-Api-Key": "k", "If-None-Match": "e"]))
        let stream = try await service.serverSentEvents(reconnection: .automatic())
        try await time.skippingPauses(upTo: .seconds(10)) { for try await _ in stream {} }
        #expect(abroad.requests.map { $0["Last-Event-ID"] } == [nil, "9"])
        #expect(abroad.requests.allSatisfy { $0["Cache-Control"] != nil && $0["X-Api-Key"] == nil })
        #expect(abroad.requests.allSatisfy { $0["If-None-Match"] == nil })

        // The app's own fields of the same names stay at home.
        let own = Atom.forTest(over: transport).enqueue(
            home.endpoint("/", headers: ["Cache-Control": "mine", "Last-Event-ID": "mine"]))
        _ = try await own.serverSentEvents()
        #expect(home.requests.last?["Cache-Control"] == "mine")
        #expect(abroad.requests.last?["Cache-Control"] == nil && abroad.requests.last?["Last-Event-ID"] == nil)
    }

    // MARK: The same person

    @Test(arguments: TransportUnderTest.all)
    func anotherPersonBeginsAnew(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            Self.part(of: Self.content(request["Authorization"] ?? ""), for: request, cut: cut)
        }
        defer { server.stop() }
        let tokens = RecordingTokens(Self.token("A", refresh: "RA"))
        let method = try Self.bearer(server, tokens)
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = method }
        func download() async throws {
            try await atom.enqueue(server.endpoint("/me")).download(to: file, isResumable: true)
        }
        await begin(atom, server.endpoint("/me"), to: file)
        try await download()
        #expect(try Data(contentsOf: file) == Self.content("Bearer A"))

        // By the app's variable, by a sign-in, and after a sign-out.
        cut.set(true)
        await begin(atom, server.endpoint("/me"), to: file)
        tokens.put(Self.token("B", refresh: "RB"))
        try await download()
        #expect(try Data(contentsOf: file) == Self.content("Bearer B"))
        cut.set(true)
        await begin(atom, server.endpoint("/me"), to: file)
        try await atom.signIn(with: Self.token("C", refresh: "RC"))
        try await download()
        #expect(try Data(contentsOf: file) == Self.content("Bearer C"))
        cut.set(true)
        await begin(atom, server.endpoint("/me"), to: file)
        try await atom.signOut()
        await #expect(throws: AtomError.self) { try await download() }
        try await atom.signIn(with: Self.token("D", refresh: "RD"))
        try await download()
        #expect(try Data(contentsOf: file) == Self.content("Bearer D"))
        #expect(server.requests.map { $0["Range"] != nil } == [false, true] + Array(repeating: false, count: 6))
    }

    /// What is known of a person after a launch.
    @Test(
        arguments: [
            (("A1", "R"), ("A2", "R"), true), (("A1", "R1"), ("A1", "R2"), false), (("A1", ""), ("A1", ""), true),
            (("A1", ""), ("A2", ""), false), (("A1", "R1"), ("A2", "R2"), false),
        ], TransportUnderTest.all)
    func afterALaunchTheRefreshTokenTells(
        _ example: ((String, String), (String, String), Bool), over transport: TransportUnderTest
    ) async throws {
        let (before, after, goesOn) = example
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content("a"), for: $0, cut: cut) }
        defer { server.stop() }
        for (access, refresh) in [before, after] {
            // In a store, which is read when the request has been made already.
            let store = InMemoryTokenCredentialStore(Self.token(access, refresh: refresh))
            let endpoint = try AuthorizationEndpoint(scheme: .http, host: server.host, port: server.port, path: "/t")
            let atom = Atom.forTest(over: transport) {
                $0.authenticationMethod = .bearer(endpoint, ClientCredential(id: "c", secret: "s"), store)
            }
            if access == before.0, server.requestCount == 0 {
                await begin(atom, server.endpoint("/me"), to: file)
            } else {
                try await atom.enqueue(server.endpoint("/me")).download(to: file, isResumable: true)
            }
        }
        #expect(server.requests.map { $0["Range"] != nil } == [false, goesOn])
        #expect(try Data(contentsOf: file) == Self.content("a"))
    }

    @Test(arguments: [false, true], TransportUnderTest.all)
    func aRefreshIsTheSamePerson(launchesAgain: Bool, over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            if request.path == "/token" { return .json(#"{"access_token":"A2","refresh_token":"R2","expires_in":60}"#) }
            if request["Authorization"] == "Bearer A1", !cut.value { return .challenge("Bearer") }
            return Self.part(of: Self.content("a"), for: request, cut: cut)
        }
        defer { server.stop() }
        let method = try Self.bearer(server, RecordingTokens(Self.token("A1", refresh: "R1")))
        let again = try Self.bearer(server, RecordingTokens(Self.token("A1", refresh: "R1")))
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = method }
        await begin(atom, server.endpoint("/me"), to: file)
        let next = launchesAgain ? Atom.forTest(over: transport) { $0.authenticationMethod = again } : atom
        let response = try await next.enqueue(server.endpoint("/me")).download(to: file, isResumable: true)
        #expect(response.statusCode == 206)
        #expect(try Data(contentsOf: file) == Self.content("a"))
        let requests = server.requests.filter { $0.path == "/me" }
        #expect(requests.map { $0["Authorization"] } == ["Bearer A1", "Bearer A1", "Bearer A2"])
        #expect(requests.map { $0["Range"] != nil } == [false, true, true])
    }

    @Test(arguments: TransportUnderTest.all)
    func aSignOutBetweenTwoAttemptsSendsNoRangeOfTheOldPersonWithANewToken(
        over transport: TransportUnderTest
    ) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let gate = LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            if request.path == "/token" { return .json(#"{"access_token":"A2","expires_in":60}"#).after(gate) }
            if request["Authorization"] == "Bearer A1", !cut.value { return .challenge("Bearer") }
            return Self.part(of: Self.content(request["Authorization"] ?? ""), for: request, cut: cut)
        }
        defer { server.stop() }
        let method = try Self.bearer(server, RecordingTokens(Self.token("A1", refresh: "R1")))
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = method }
        await begin(atom, server.endpoint("/me"), to: file)
        let first = Task { try await atom.enqueue(server.endpoint("/me")).download(to: file, isResumable: true) }
        #expect(await eventually { server.requests.contains { $0.path == "/token" } })
        try await atom.signOut()
        try await atom.signIn(with: Self.token("B", refresh: "RB"))
        gate.open()
        let result = await first.result
        #expect(throws: AtomError.self) { try result.get() }
        try await atom.enqueue(server.endpoint("/me")).download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Self.content("Bearer B"))
        #expect(!server.requests.contains { $0["Range"] != nil && $0["Authorization"] != "Bearer A1" })
    }

    /// How people tell who they are without a session.
    enum Proof: CaseIterable { case basic, authorization, cookie, key, jar }

    @Test(arguments: Proof.allCases, TransportUnderTest.all)
    func anotherCredentialIsAnotherPerson(proof: Proof, over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { request in
            if request.path == "/login" { return .json("{}", headers: [("Set-Cookie", "sid=\(request.query ?? "")")]) }
            let person = ["Authorization", "Cookie", "X-Api-Key"].compactMap { request[$0] }.joined()
            return Self.part(of: Self.content(person), for: request, cut: cut)
        }
        defer { server.stop() }
        let jar = Atom.forTest(over: transport)
        for (person, isCut, asksForRest) in [
            ("a", true, false), ("a", false, true), ("a", true, false), ("b", false, false),
        ] {
            var endpoint = server.endpoint("/me")
            var atom = jar
            switch proof {
            case .basic:
                atom = Atom.forTest(over: transport) {
                    $0.authenticationMethod = .basic(BasicCredential(password: person, username: "me"))
                }
            case .authorization: endpoint.headerItems = ["Authorization": "Token \(person)"]
            case .cookie: endpoint.headerItems = ["Cookie": "sid=\(person)"]
            case .key: endpoint.headerItems = ["X-Api-Key": person]
            case .jar:
                var login = server.endpoint("/login")
                login.queryItems = [QueryItem(name: "as", value: person)]
                _ = await atom.outcome(of: login)
            }
            cut.set(isCut)
            if isCut {
                await begin(atom, endpoint, to: file)
            } else {
                try await atom.enqueue(endpoint).download(to: file, isResumable: true)
            }
            let request = try #require(server.requests.last)
            #expect((request["Range"] != nil) == asksForRest)
            guard !isCut else { continue }
            let proof = ["Authorization", "Cookie", "X-Api-Key"].compactMap { request[$0] }.joined()
            #expect(try Data(contentsOf: file) == Self.content(proof))
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func theNotesHoldNoSecret(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let cut = Locked(true)
        let server = try LoopbackServer { Self.part(of: Self.content("a"), for: $0, cut: cut) }
        defer { server.stop() }
        let method = try Self.bearer(server, RecordingTokens(Self.token("ACCESS", refresh: "REFRESH")))
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = method }
        var endpoint = server.endpoint("/SECRET", headers: ["X-Api-Key": "KEY"])
        endpoint.queryItems = [QueryItem(name: "a", value: "QUERY")]
        await begin(atom, endpoint, to: file)
        let notes = try String(contentsOf: file.appendingPathExtension("partial.json"), encoding: .utf8)
        for secret in ["ACCESS", "REFRESH", "SECRET", "KEY", "QUERY"] {
            #expect(!notes.contains(secret))
        }
    }
}
