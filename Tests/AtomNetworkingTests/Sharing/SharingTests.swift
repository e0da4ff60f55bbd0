import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Identical requests in flight share one exchange", .limited)
struct SharingTests {
    private struct Seat: Model { let row: Int }
    private struct Name: Model { let name: String }

    // MARK: Who shares

    @Test("Async calls and completions share, and each decodes what it expects")
    func sharedByAll() async throws {
        let service = SharingFixture()
        let first = service.call()
        async let seat = service.atom.enqueue(SharedEndpoint()).resume(expecting: Seat.self)
        async let name = service.atom.enqueue(SharedEndpoint()).resume(expecting: Name.self)
        async let response = service.atom.enqueue(SharedEndpoint()).resume()
        let count = Locked<Int?>(nil)
        let counted = Signal()
        service.atom.enqueue(SharedEndpoint()).resume(expecting: [String: Int].self) { result in
            if case .failure(.decoder) = result { count.set(-1) }
            counted.raise()
        }
        #expect(await service.atom.hasSharers(5))
        #expect(service.count == 1)
        try service.last.answer(#"{"row":12,"name":"Ada"}"#, headers: [("X-Number", "7")])
        let (row, person, number) = try await (seat.row, name.name, response.headerFields["X-Number"])
        #expect(row == 12 && person == "Ada" && number == "7")
        #expect(await first.status() == 200)
        await counted.wait()
        #expect(count.value == -1, "one caller's model doesn't fit, which harms nobody else")
        #expect(service.counts == (0, 0))
        #expect(service.lines.value.count { $0.contains("⇉ GET https://api.example.com/x, shared with request ") } == 4)
    }

    @Test("Completions are told in the order in which their requests joined")
    func inOrder() async throws {
        let service = SharingFixture()
        let told = Locked<[Int]>([])
        let isOver = Signal()
        for number in 0..<20 {
            service.atom.enqueue(SharedEndpoint()).resume { _ in
                told.with { $0.append(number) }
                if number == 19 { isOver.raise() }
            }
        }
        try service.last.answer()
        await isOver.wait()
        #expect(told.value == Array(0..<20))
    }

    @Test("A request after the end of the exchange is sent")
    func afterTheEnd() async throws {
        let service = SharingFixture { $0.answer() }
        for number in 1...3 {
            #expect(await service.call().status() == 200)
            #expect(service.count == number)
        }
        #expect(service.counts == (0, 0))
    }

    @Test("Spellings that mean the same share")
    func sameMeaning() throws {
        let service = SharingFixture(changing: { $0.retryPolicy = .standard })
        for endpoint in [
            SharedEndpoint(headerItems: ["X-A": "1", "x-b": "2"]),
            SharedEndpoint(headerItems: ["x-a": "1", "X-B": "2"]),
            SharedEndpoint(headerItems: ["X-A": "1", "X-B": "2"], retryPolicy: RetryPolicy()),
            SharedEndpoint(headerItems: ["X-A": "1", "X-B": "2"], timeout: ServiceTimeout(request: 10, resource: 30)),
            SharedEndpoint(headerItems: ["X-A": "1", "X-B": "2", "Host": "left.out"], idempotency: .byMethod),
        ] { _ = service.call(endpoint) }
        #expect(service.count == 1)
        try service.last.answer()
    }

    @Test("Whatever differs has its own exchange")
    func differences() async throws {
        let service = SharingFixture()
        let base = SharedEndpoint(headerItems: ["X-A": "1", "X-B": "2"])
        var others = [SharedEndpoint](repeating: base, count: 15)
        others[0].pathText = "/X"
        others[1].queryItems = ["page": "1"]
        others[2].headerItems = ["X-A": "1", "X-B": "3"]
        others[3].headerItems = ["X-B": "2", "X-A": "1"]
        others[4].headerItems = ["X-A": "1"]
        others[5].headerItems = ["X-A": "1", "X-B": "2", "Authorization": "own"]
        others[6].requiresAuthorization = false
        others[7].acceptableStatusCodes = 200...404
        others[8].timeout = ServiceTimeout(request: 9, resource: 30)
        others[9].timeout = ServiceTimeout(request: 10, resource: 31)
        others[10].retryPolicy = .standard
        others[11].idempotency = .declared
        others[12].idempotency = .byKey
        // The same text for Swift, but other bytes.
        others[13].headerItems = ["X-A": "\u{E9}", "X-B": "2"]
        others[14].headerItems = ["X-A": "e\u{301}", "X-B": "2"]
        _ = service.call(base)
        for (number, endpoint) in others.enumerated() {
            _ = service.call(endpoint)
            #expect(service.count == number + 2, "number \(number)")
        }
        // A key is new each time.
        _ = service.call(others[12])
        #expect(service.count == others.count + 2)
        for exchange in service.transport.exchanges { exchange.answer() }
        #expect(service.counts == (0, 0))
    }

    @Test("Without the property, and with another method, each request is sent")
    func notShared() async throws {
        let service = SharingFixture()
        let endpoints = [
            SharedEndpoint(sharesIdenticalRequests: false), SharedEndpoint(method: .head),
            SharedEndpoint(method: .post), SharedEndpoint(method: .delete),
        ]
        for endpoint in endpoints {
            _ = service.call(endpoint)
            _ = service.call(endpoint)
        }
        #expect(service.count == 2 * endpoints.count && service.counts == (0, 0))
        // One that doesn't share isn't joined either.
        _ = service.call()
        #expect(service.count == 2 * endpoints.count + 1)
        for exchange in service.transport.exchanges { exchange.answer() }
    }

    @Test("Downloads, streams and requests with progress are sent")
    func transfers() async throws {
        let service = SharingFixture()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let first = service.call()
        async let download = service.atom.enqueue(SharedEndpoint()).download(to: file)
        await service.transport.exchange(1).answer("x")
        let downloaded = try await download
        #expect(downloaded.statusCode == 200)
        let progress = Signal()
        service.atom.enqueue(SharedEndpoint()).resume(
            expecting: Data.self, progress: { _ in }, completion: { _ in progress.raise() })
        await service.transport.exchange(2).answer("y")
        await progress.wait()
        async let bytes = service.atom.enqueue(SharedEndpoint()).bytes()
        await service.transport.exchange(3).answer("z")
        let stream = try await bytes
        #expect(stream.response.statusCode == 200)
        #expect(first.count == 0)
        try #require(service.transport.exchanges.first).answer()
        #expect(await first.status() == 200)
        #expect(service.count == 4)
    }

    // MARK: How it is said

    @Test("The property is read anew for each value of a type")
    func property() throws {
        struct Plain: PathlessEndpoint { let sharesIdenticalRequests: Bool }
        struct Bare: PathlessEndpoint {}
        for value in [false, true, false] {
            let description = try RequestDescription(of: Plain(sharesIdenticalRequests: value))
            #expect(description.sharesIdenticalRequests == value)
        }
        #expect(try !RequestDescription(of: Bare()).sharesIdenticalRequests)
        #expect(!Bare().sharesIdenticalRequests)
    }

    @Test("Atom 5's name for the property counts too", arguments: [false, true], [nil, false, true])
    func atomsName(isGet: Bool, allows: Bool?) {
        struct Silent: PathlessEndpoint { var method: HTTPMethod }
        struct Saying: PathlessEndpoint {
            var method: HTTPMethod
            let allowsDeduplication: Bool
        }
        let method = isGet ? HTTPMethod.get : .delete
        let endpoint: any Requestable =
            allows.map { Saying(method: method, allowsDeduplication: $0) } ?? Silent(method: method)
        for service in [SharingFixture(), SharingFixture(changing: { $0.adapters = [Untouched()] })] {
            _ = service.call(endpoint)
            _ = service.call(endpoint)
            #expect(service.count == (isGet && allows == true ? 1 : 2))
            for exchange in service.transport.exchanges { exchange.answer() }
        }
    }

    private struct Untouched: RequestAdapter {
        func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws {}
    }

    @Test("An adapter and a link can say it too")
    func adaptersAndLinks() throws {
        struct Sharing: RequestAdapter {
            func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws {
                request.sharesIdenticalRequests.toggle()
            }
        }
        let service = SharingFixture(changing: { $0.adapters = [Sharing()] })
        _ = service.call(SharedEndpoint(sharesIdenticalRequests: false))
        _ = service.call(SharedEndpoint(sharesIdenticalRequests: false))
        #expect(service.count == 1)
        _ = service.call(SharedEndpoint())
        _ = service.call(SharedEndpoint())
        #expect(service.count == 3)

        let linked = SharingFixture()
        let response = AtomResponse(statusCode: 200, url: URL(string: "https://api.example.com/list"))
        var link = try LinkedEndpoint("/x", in: response)
        _ = linked.call(link)
        _ = linked.call(link)
        #expect(linked.count == 2)
        link.sharesIdenticalRequests = true
        _ = linked.call(link)
        _ = linked.call(link)
        #expect(linked.count == 3)
        for exchange in service.transport.exchanges + linked.transport.exchanges { exchange.answer() }
    }

    @Test("A link that the app's signers don't touch does not share with an endpoint that they do")
    func untrustedLinks() throws {
        let service = SharingFixture(changing: {
            $0.authenticationMethod = .basic(BasicCredential(password: "secret", username: "ada"))
        })
        var link = try LinkedEndpoint(
            "https://api.example.com/x",
            in: AtomResponse(statusCode: 200, url: URL(string: "https://elsewhere.example.com/list")))
        link.sharesIdenticalRequests = true
        _ = service.call(link)
        _ = service.call(link)
        #expect(service.count == 1)
        _ = service.call(SharedEndpoint(requiresAuthorization: false))
        #expect(service.count == 2)
        for exchange in service.transport.exchanges {
            #expect(exchange.request.headerFields["Authorization"] == nil)
            exchange.answer()
        }
    }

    @Test("What only the app's signers sign is nobody else's", arguments: [false, true])
    func signedByTheApp(hasSession: Bool) throws {
        struct Signer: RequestSigner {
            let name: Locked<String>
            func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-User", to: name.value) }
        }
        let name = Locked("Ada")
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
        let tokens = InMemoryTokenCredentialStore(.issued(0))
        let service = SharingFixture(changing: {
            $0.signers = [Signer(name: name)]
            if hasSession { $0.authenticationMethod = .bearer(endpoint, ClientCredential(id: "app"), tokens) }
        })
        _ = service.call(SharedEndpoint(requiresAuthorization: false))
        name.with { $0 = "Bo" }
        _ = service.call(SharedEndpoint(requiresAuthorization: false))
        // Whoever is signed in is known.
        #expect(service.count == (hasSession ? 1 : 2))
        for exchange in service.transport.exchanges { exchange.answer() }
    }

    // MARK: What else is theirs

    @Test("Cookies that were set meanwhile make another request of it")
    func cookies() async throws {
        let service = SharingFixture()
        let first = service.call()
        _ = service.call()
        let login = service.call(SharedEndpoint(pathText: "/login", method: .post))
        try service.last.answer(headers: [("Set-Cookie", "sid=Ada; Path=/")])
        #expect(await login.status() == 200)
        let second = service.call()
        #expect(service.count == 3)
        #expect(try service.last.request.headerFields["Cookie"] == "sid=Ada")
        _ = service.call()
        #expect(service.count == 3, "with the same cookie they share")
        for exchange in service.transport.exchanges { exchange.answer() }
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
    }

    @Test("A joined request has the deadline of the exchange, and all hear of it")
    func deadline() async throws {
        let service = SharingFixture(changing: { $0.timeout = ServiceTimeout(request: 100, resource: 30) })
        let first = service.call()
        service.time.advance(by: .seconds(29))
        let second = service.call()
        #expect(service.count == 1)
        service.time.advance(by: .seconds(1))
        for call in [first, second] {
            guard case .session(let error)? = await call.error() else { throw Unexpected("no error of the wire") }
            #expect((error as? URLError)?.code == .timedOut)
        }
        #expect(service.transport.cancelled == 1 && service.counts == (0, 0))
        _ = service.call()
        #expect(service.count == 2)
        try service.last.answer()
    }

    @Test("Retries and redirects happen once, for all")
    func retries() async throws {
        let service = SharingFixture(changing: { $0.retryPolicy = .standard })
        let calls = (0..<3).map { _ in service.call() }
        try service.last.answer(status: 503)
        let late = service.call()
        service.time.advance(by: .seconds(1))
        try service.last.redirect(to: "/elsewhere")
        #expect(service.count == 3)
        let later = service.call()
        try service.last.answer("[]")
        for call in calls + [late, later] {
            let response = try await call.outcome().get()
            #expect(response.body == "[]" && response.url?.path == "/elsewhere")
        }
        #expect(service.count == 3 && service.counts == (0, 0))
    }

    @Test("All get the same error, and a refusal is posted for each of them")
    func refusals() async throws {
        let service = SharingFixture()
        let id = "sharing-\(UUID())"
        let posts = Locked(0)
        let observer = NotificationCenter.default.addObserver(
            forName: Atom.didFailToAuthorizeRequest, object: nil, queue: nil
        ) { note in
            guard case .response(let response)? = note.userInfo?["error"] as? AtomError, response.body == id else {
                return
            }
            posts.with { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let call = service.call()
        let decoded = Signal()
        service.atom.enqueue(SharedEndpoint()).resume(expecting: Seat.self, completion: { _ in decoded.raise() })
        async let outcome = service.atom.enqueue(SharedEndpoint()).outcome()
        #expect(await service.atom.hasSharers(3))
        try service.last.answer(id, status: 401)
        guard case .response(let response)? = await call.error() else { throw Unexpected("no response") }
        #expect(response.statusCode == 401)
        await decoded.wait()
        let awaited = await outcome
        #expect(awaited.error != nil)
        #expect(await eventually { posts.value == 3 })
        #expect(service.count == 1)
    }
}

private protocol PathlessEndpoint: Requestable {}

extension PathlessEndpoint {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

extension SharingTests {
    @Test func observersHearWhoseExchangeItIs() async throws {
        let observer = RecordingObserver()
        let service = SharingFixture(changing: { $0.observers = [observer] })
        let calls = [service.call(), service.call()]
        try service.last.answer("{}")
        for call in calls { #expect(await call.status() == 200) }
        let first = try #require(observer.events.first?.requestID)
        let joined = observer.events.filter { $0.requestID != first }
        #expect(
            joined.map { $0.description.drop { $0 != "]" } } == [
                "] GET https://api.example.com/x of SharedEndpoint",
                "] ⇉ GET https://api.example.com/x, shared with request \(first)",
                "] ← HTTP 200, 0 bytes GET https://api.example.com/x in 0.0 seconds",
            ])
        #expect(observer.events.count { if case .sent = $0.kind { true } else { false } } == 1)
        #expect(observer.summaries.map(\.attempts) == [1, 0])
    }

    @Test func whoAsksAgainWhenTheEndIsHeardStartsAnotherExchange() async throws {
        let service = Guarded<SharingFixture?>(nil)
        let again = Call()
        let observer = RecordingObserver { event in
            guard case .finished(let summary) = event.kind, summary.failure != nil else { return }
            guard let fixture = service.withLock({ $0.take() }) else { return }
            again.keep(fixture.atom.enqueue(SharedEndpoint()).resume { again.heard($0) })
        }
        let fixture = SharingFixture(changing: { $0.observers = [observer] })
        service.withLock { $0 = fixture }
        let call = fixture.call()
        try fixture.last.answer(status: 500)
        #expect(await call.error() != nil)
        try #require(fixture.count == 2)
        try fixture.last.answer("{}")
        #expect(await again.status() == 200)
    }
}
