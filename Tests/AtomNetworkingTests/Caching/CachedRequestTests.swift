import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A request may be answered by a kept response", .limited)
struct CachedRequestTests {
    private func service(
        _ cache: ResponseCache = ResponseCache(), changing change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> SharingFixture {
        SharingFixture(changing: {
            $0.cache = cache
            change(&$0)
        })
    }

    @Test("A fresh response is used at once, by async calls and completions, and says how old it is")
    func fresh() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        #expect(await first.told() == "one from the server")
        service.time.advance(by: .seconds(10))
        #expect(await service.call(CachedEndpoint()).told() == "one from the cache, 10.0 seconds old")
        let response = try await service.atom.enqueue(CachedEndpoint()).resume()
        #expect(response.source == .cache(age: .seconds(10), isStale: false))
        #expect(response.headerFields["Age"] == "10" && response.url?.absoluteString == "https://api.example.com/x")
        let decoded = try await service.atom.enqueue(CachedEndpoint()).resume(decoding: String.self)
        #expect(decoded.model == "one" && decoded.response.source == .cache(age: .seconds(10), isStale: false))
        #expect(service.count == 1)
    }

    @Test("A completion is not called inside resume, though the response is there")
    func completion() async throws {
        let queue = DispatchQueue(label: "held")
        let service = service { $0.dispatchQueue = queue }
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        queue.suspend()
        let call = service.call(CachedEndpoint())
        #expect(call.count == 0 && service.count == 1)
        queue.resume()
        #expect(await call.status() == 200)
    }

    @Test("Without a cache, and for an endpoint that disables it, each request is sent")
    func disabled() async throws {
        let without = SharingFixture()
        let with = service()
        for (service, endpoint) in [(without, CachedEndpoint()), (with, CachedEndpoint(caching: .disabled))] {
            for number in 1...2 {
                let call = service.call(endpoint)
                try #require(service.count == number)
                try service.last.answerFresh("one")
                #expect(await call.told() == "one from the server")
            }
        }
    }

    @Test("A flag of the app's switches it off and on, and what was kept is still there")
    func flag() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        let second = service.call(CachedEndpoint(caching: .disabled))
        try service.last.answerFresh("two")
        #expect(await second.told() == "two from the server")
        #expect(await service.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
    }

    @Test("A stale response is asked about, and a 304 makes it fresh again")
    func revalidation() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one", headers: [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")])
        _ = await first.outcome()
        service.time.advance(by: .seconds(61))
        let second = service.call(CachedEndpoint())
        try #require(service.count == 2)
        #expect(try service.last.header("If-None-Match") == "\"1\"")
        #expect(try service.last.header("If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT")
        try service.last.answer(
            status: 304, headers: [("Cache-Control", "max-age=60"), ("ETag", "\"1\""), ("X-New", "yes")])
        let response = try await second.outcome().get()
        #expect(response.statusCode == 200 && response.body == "one" && response.headerFields["X-New"] == "yes")
        #expect(response.source == .revalidatedCache(age: .zero))
        service.time.advance(by: .seconds(59))
        #expect(await service.call(CachedEndpoint()).told() == "one from the cache, 59.0 seconds old")
        #expect(service.count == 2)
    }

    @Test("With revalidatingWithService each call asks, and a new response takes the place of the old one")
    func revalidating() async throws {
        let service = service()
        let endpoint = CachedEndpoint(caching: .revalidatingWithService)
        let first = service.call(endpoint)
        try service.last.answerFresh("one")
        _ = await first.outcome()
        let second = service.call(endpoint)
        #expect(try service.last.header("If-None-Match") == "\"1\"")
        try service.last.answerFresh("two", tag: "2")
        #expect(await second.told() == "two from the server")
        let third = service.call(endpoint)
        #expect(try service.last.header("If-None-Match") == "\"2\"")
        try service.last.answer(status: 304)
        #expect(try await third.outcome().get().body == "two")
    }

    @Test("A 304 for something else is asked again without conditions, once")
    func strange304() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        service.time.advance(by: .seconds(61))
        let second = service.call(CachedEndpoint())
        try service.last.answer(status: 304, headers: [("ETag", "\"other\"")])
        try #require(service.count == 3)
        #expect(try service.last.header("If-None-Match") == nil)
        try service.last.answer(status: 304)
        #expect(await second.error()?.response?.statusCode == 304)
        #expect(service.count == 3)
    }

    @Test("A 304 of the URL that a redirect leads to says nothing of what is kept")
    func redirected304() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        service.time.advance(by: .seconds(61))
        let second = service.call(CachedEndpoint())
        try service.last.redirect(to: "/other")
        try service.last.answer(status: 304, headers: [("ETag", "\"1\"")])
        try #require(service.count == 4)
        #expect(try service.last.header("If-None-Match") == nil)
        try service.last.answer("two")
        #expect(await second.told() == "two from the server")
    }

    @Test("A stale response is used at once while one request asks for the next callers")
    func staleWhileRevalidate() async throws {
        let service = service()
        let endpoint = CachedEndpoint(caching: .whileCacheFresh(staleWhileRevalidate: .seconds(30)))
        let first = service.call(endpoint)
        try service.last.answerFresh("one")
        _ = await first.outcome()
        service.time.advance(by: .seconds(70))
        for _ in 1...3 {
            #expect(await service.call(endpoint).told() == "one from the cache, 70.0 seconds old and stale")
        }
        try #require(service.count == 2)
        #expect(try service.last.header("If-None-Match") == "\"1\"")
        try service.last.answerFresh("two", tag: "2")
        #expect(await service.call(endpoint).told() == "two from the cache, 0.0 seconds old")
        service.time.advance(by: .seconds(70))
        _ = await service.call(endpoint).outcome()
        try service.last.fail(.networkConnectionLost)
        _ = await service.call(endpoint).outcome()
        #expect(service.count == 4)
        service.time.advance(by: .seconds(30))
        let last = service.call(endpoint)
        #expect(last.count == 0)
        try service.last.answer("three")
        #expect(await last.told() == "three from the server")
    }

    enum Trouble: CaseIterable, Sendable {
        case refused, lost, unavailable, timeout
    }

    @Test(
        "A server that can't be asked, or is in trouble, is stood in for as long as it may", arguments: Trouble.allCases
    )
    func staleIfError(trouble: Trouble) async throws {
        let service = service()
        let endpoint = CachedEndpoint(caching: .revalidatingWithService(staleIfError: .seconds(100)))
        let first = service.call(endpoint)
        try service.last.answerFresh("one")
        _ = await first.outcome()
        for (seconds, isUsed) in [(50, true), (100, true), (11, false)] {
            // The time of a timeout counts.
            service.time.advance(by: .seconds(trouble == .timeout ? seconds - 10 : seconds))
            let call = service.call(endpoint)
            let attempt = try service.last
            switch trouble {
            case .refused:
                attempt.fail(.cannotConnectToHost, delivery: .notSent)
                try service.last.fail(.cannotConnectToHost, delivery: .notSent)
            case .lost: attempt.fail(.networkConnectionLost)
            case .unavailable: attempt.answer(status: 503)
            case .timeout: service.time.advance(by: .seconds(10))
            }
            guard isUsed else {
                #expect(await call.error() != nil)
                continue
            }
            let response = try await call.outcome().get()
            guard case .cache(_, let isStale) = response.source else { throw Unexpected("another source") }
            #expect(response.body == "one" && isStale == (seconds != 50))
        }
    }

    @Test("A refusal, a cancelled call and a 404 are no reason for a stale response")
    func noError() async throws {
        let service = service()
        let endpoint = CachedEndpoint(caching: .revalidatingWithService(staleIfError: .seconds(1_000)))
        let first = service.call(endpoint)
        try service.last.answerFresh("one")
        _ = await first.outcome()
        let cancelled = service.call(endpoint)
        cancelled.cancel()
        #expect(await cancelled.error()?.isCancelled == true)
        let untrusted = service.call(endpoint)
        try service.last.fail(.serverCertificateUntrusted, delivery: .notSent)
        #expect(await untrusted.error() != nil)
        let gone = service.call(endpoint)
        try service.last.answer(status: 404)
        #expect(await gone.error()?.response?.statusCode == 404)
        // What the server has not any more is forgotten.
        let offline = service.call(endpoint)
        try service.last.fail(.networkConnectionLost)
        #expect(await offline.error()?.isConnectivityFailure == true)
    }

    @Test("With onlyIfCached nothing is sent")
    func onlyIfCached() async throws {
        let service = service()
        let endpoint = CachedEndpoint(caching: .onlyIfCached)
        let none = try #require(await service.call(endpoint).error())
        #expect(none.delivery == .notSent && none.request?.url == "https://api.example.com/x")
        guard case .session(let cause as URLError) = none else { throw Unexpected("another source") }
        #expect(cause.code == .resourceUnavailable)
        #expect(service.count == 0)
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        #expect(await service.call(endpoint).told().hasPrefix("one from the cache"))
        service.time.advance(by: .seconds(61))
        #expect(await service.call(endpoint).error() != nil)
        let lenient = CachedEndpoint(caching: .onlyIfCached(maxStale: .seconds(5)))
        #expect(await service.call(lenient).told() == "one from the cache, 61.0 seconds old and stale")
        #expect(service.count == 1)
    }

    @Test("Requests that ask about the same share an exchange, if their endpoint says so")
    func shared() async throws {
        let service = service()
        let endpoint = CachedEndpoint(sharesIdenticalRequests: true)
        let first = [service.call(endpoint), service.call(endpoint)]
        try #require(service.count == 1)
        try service.last.answerFresh("one")
        for call in first { #expect(await call.told() == "one from the server") }
        service.time.advance(by: .seconds(61))
        let second = [service.call(endpoint), service.call(endpoint)]
        try #require(service.count == 2)
        try service.last.answer(status: 304, headers: [("ETag", "\"1\"")])
        for call in second { #expect(await call.told().hasPrefix("one from the cache")) }
        #expect(service.counts == (0, 0))
    }

    @Test("Requests share with a clock that doesn't stand still, too")
    func sharedInTime() async throws {
        struct Moving: TimeSource {
            let clock: ManualClock
            let reads = Locked<Int64>(0)
            var now: MonotonicInstant {
                clock.now.advanced(
                    by: .nanoseconds(
                        reads.with {
                            $0 += 700
                            return $0
                        }))
            }
            var date: Date { clock.date }
            func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { clock.makeAlarm(ring: ring) }
        }
        let transport = ScriptedTransport.held()
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        configuration.cache = ResponseCache()
        let atom = Atom(configuration, time: Moving(clock: ManualClock()))
        let calls = (0..<3).map { _ in atom.call(CachedEndpoint(sharesIdenticalRequests: true)) }
        try #require(transport.exchanges.count == 1)
        transport.exchanges[0].answerFresh("one")
        for call in calls { #expect(await call.told() == "one from the server") }
    }

    @Test("A question is sent again after a failure, as any request")
    func retried() async throws {
        let service = service()
        let endpoint = CachedEndpoint(retryPolicy: RetryPolicy(maximumAttempts: 2, baseDelay: .zero))
        let first = service.call(endpoint)
        try service.last.answerFresh("one")
        _ = await first.outcome()
        service.time.advance(by: .seconds(61))
        let second = service.call(endpoint)
        try service.last.answer(status: 503)
        _ = await service.transport.exchange(2)
        #expect(try service.last.header("If-None-Match") == "\"1\"")
        try service.last.answer(status: 304)
        #expect(await second.told().hasPrefix("one from the cache"))
    }

    @Test("Cookies that came with a response are not in a kept one")
    func cookies() async throws {
        let service = service()
        let first = service.call(CachedEndpoint(pathText: "/other"))
        try service.last.answerFresh("one", headers: [("Set-Cookie", "a=1; Path=/login")])
        #expect(try await first.outcome().get().headerFields["Set-Cookie"] == "a=1; Path=/login")
        let kept = try await service.call(CachedEndpoint(pathText: "/other")).outcome().get()
        #expect(kept.source != .server && !kept.headerFields.contains("Set-Cookie"))
    }

    @Test("Nothing that came after a redirect is kept", arguments: ["/other", "https://other.example.com/x"])
    func redirects(location: String) async throws {
        let service = service()
        for _ in 1...2 {
            let call = service.call(CachedEndpoint())
            try service.last.redirect(to: location)
            try service.last.answerFresh("one")
            #expect(await call.told() == "one from the server")
        }
    }

    enum Change: CaseIterable, Sendable {
        case put, lost, progress, stream, events, download, failed
    }

    @Test(
        "A request that may change what is kept removes it, also as a stream or a download", arguments: Change.allCases)
    func unsafeMethods(change: Change) async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        let put = CachedEndpoint(method: .put(Data("new".utf8)), caching: .disabled)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("cached-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let changed: Task<Void, any Error>
        switch change {
        case .put, .lost, .failed: changed = Task { try await service.atom.enqueue(put).resume() }
        case .progress:
            changed = Task {
                _ = try await service.atom.enqueue(put).resume(progress: { _ in }, expecting: String.self)
            }
        case .stream: changed = Task { for try await _ in try await service.atom.enqueue(put).bytes() {} }
        case .events: changed = Task { for try await _ in try await service.atom.enqueue(put).serverSentEvents() {} }
        case .download: changed = Task { try await service.atom.enqueue(put).download(to: file) }
        }
        let exchange = await service.transport.exchange(1)
        switch change {
        case .lost: exchange.fail(.networkConnectionLost)
        case .failed: exchange.answer(status: 409)
        case .events: exchange.answer(headers: [("Content-Type", "text/event-stream")])
        default: exchange.answer("done")
        }
        _ = await changed.result
        let after = service.call(CachedEndpoint())
        if change == .failed { return #expect(await after.told().hasPrefix("one from the cache")) }
        try #require(service.count == 3)
        try service.last.answerFresh("two")
        #expect(await after.told() == "two from the server")
    }

    @Test(
        "A change that was redirected removes what both URLs have, whatever the last status is", arguments: [200, 404])
    func redirectedChange(status: Int) async throws {
        let service = service()
        for path in ["/x", "/list", "/other"] {
            let call = service.call(CachedEndpoint(pathText: path))
            try service.last.answerFresh(path)
            _ = await call.outcome()
        }
        let form = service.call(CachedEndpoint(method: .post(Data("new".utf8)), caching: .disabled))
        try service.last.redirect(303, to: "/list")
        // It speaks of the list, and not of what was posted.
        try service.last.answer(status: status, headers: [("Location", "/other")])
        _ = await form.outcome()
        for path in ["/x", "/list"] {
            let count = service.count
            let call = service.call(CachedEndpoint(pathText: path))
            try #require(service.count == count + 1)
            try service.last.answer("new")
            #expect(await call.told() == "new from the server")
        }
        #expect(await service.call(CachedEndpoint(pathText: "/other")).told().hasPrefix("/other from the cache"))
    }

    @Test("A status that is about one request only leaves what is kept", arguments: [401, 408, 429])
    func ofOneRequest(status: Int) async throws {
        let service = service()
        let endpoint = CachedEndpoint(caching: .revalidatingWithService(staleIfError: .seconds(1_000)))
        let first = service.call(endpoint)
        try service.last.answerFresh("one")
        _ = await first.outcome()
        let refused = service.call(endpoint)
        try service.last.answer(status: status)
        #expect(await refused.error()?.response?.statusCode == status)
        let offline = service.call(endpoint)
        try service.last.fail(.networkConnectionLost)
        #expect(await offline.told().hasPrefix("one from the cache"))
    }

    @Test("One URL has no more than 32 variants, and a Vary with too many names keeps nothing")
    func variants() async throws {
        let cache = ResponseCache()
        let service = service(cache)
        for number in 0..<40 {
            let call = service.call(CachedEndpoint(headerItems: [.init(name: "X-Number", value: "\(number)")]))
            try service.last.answerFresh("\(number)")
            _ = await call.outcome()
        }
        #expect(cache.extent.count == 32)
        let names = (0...64).map { "X-\($0)" }.joined(separator: ",")
        let call = service.call(CachedEndpoint(pathText: "/many"))
        try service.last.answerFresh("many", headers: [("Vary", names)])
        _ = await call.outcome()
        #expect(cache.extent.count == 32)
    }

    @Test("A response that was on its way when it was changed isn't kept")
    func changedMeanwhile() async throws {
        let service = service()
        let old = service.call(CachedEndpoint())
        let put = service.call(CachedEndpoint(method: .put(Data("new".utf8)), caching: .disabled))
        service.transport.exchanges[1].answer("done")
        _ = await put.outcome()
        service.transport.exchanges[0].answerFresh("old")
        #expect(await old.told() == "old from the server")
        let after = service.call(CachedEndpoint())
        try #require(service.count == 3)
        try service.last.answerFresh("new")
        #expect(await after.told() == "new from the server")
        // Another URL has not changed.
        let other = service.call(CachedEndpoint(pathText: "/other"))
        try service.last.answerFresh("other")
        _ = await other.outcome()
        #expect(await service.call(CachedEndpoint(pathText: "/other")).told().hasPrefix("other from the cache"))
    }

    @Test("An error that says how long it holds is an error from the cache, too")
    func errors() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answer("none", status: 404, headers: [("Cache-Control", "max-age=60")])
        #expect(await first.error()?.response?.statusCode == 404)
        let kept = try #require(await service.call(CachedEndpoint()).error())
        #expect(kept.response?.source == .cache(age: .zero, isStale: false) && kept.response?.body == "none")
        #expect(kept.request?.attempts == 0 && kept.request?.url == "https://api.example.com/x")
        #expect(service.count == 1)
    }

    @Test("A 401 is never kept, whatever it and the endpoint say")
    func unauthorized() async throws {
        let service = service()
        for _ in 1...2 {
            let call = service.call(CachedEndpoint(acceptableStatusCodes: 200...499))
            try service.last.answer("no", status: 401, headers: [("Cache-Control", "max-age=60")])
            #expect(await call.told() == "no from the server")
        }
    }

    @Test("HEAD is answered from a kept GET, and updates or removes it")
    func head() async throws {
        let service = service()
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one", headers: [("Content-Length", "3")])
        _ = await first.outcome()
        let kept = try await service.call(CachedEndpoint(method: .head)).outcome().get()
        #expect(kept.source != .server && kept.data.isEmpty && kept.headerFields["Content-Length"] == "3")
        service.time.advance(by: .seconds(61))
        let asked = service.call(CachedEndpoint(method: .head))
        try service.last.answer(
            headers: [("Cache-Control", "max-age=60"), ("ETag", "\"1\""), ("Content-Length", "3"), ("X-New", "yes")])
        #expect(await asked.told() == " from the server")
        let updated = try await service.call(CachedEndpoint()).outcome().get()
        #expect(updated.body == "one" && updated.headerFields["X-New"] == "yes")
        service.time.advance(by: .seconds(61))
        let other = service.call(CachedEndpoint(method: .head))
        try service.last.answer(headers: [("ETag", "\"2\""), ("Content-Length", "5")])
        _ = await other.outcome()
        let again = service.call(CachedEndpoint(caching: .revalidatingWithService))
        #expect(try service.last.header("If-None-Match") == nil)
        again.cancel()
    }

    @Test("Fields that choose whose or what make another response of it, and traces don't")
    func choosing() async throws {
        let service = service()
        func call(_ items: [HeaderItem], vary: String? = nil) async throws -> String {
            let call = service.call(CachedEndpoint(headerItems: items))
            let before = service.count
            if call.count == 0, service.transport.exchanges.last?.isOver == false {
                try service.last.answerFresh("\(before)", headers: vary.map { [("Vary", $0)] } ?? [])
            }
            return await call.told()
        }
        #expect(try await call([.init(name: "X-User", value: "ann")]) == "1 from the server")
        #expect(try await call([.init(name: "X-User", value: "bob")]) == "2 from the server")
        #expect(
            try await call([.init(name: "x-user", value: "ann"), .init(name: "traceparent", value: "1")]).hasPrefix(
                "1 from the cache"))
        #expect(
            try await call([.init(name: "Accept-Language", value: "en")], vary: "Accept-Language")
                == "3 from the server")
        #expect(
            try await call([.init(name: "Accept-Language", value: "de")], vary: "accept-language")
                == "4 from the server")
        #expect(try await call([.init(name: "Accept-Language", value: "en")]).hasPrefix("3 from the cache"))
        #expect(try await call([.init(name: "Authorization", value: "Token 1")]) == "5 from the server")
        #expect(try await call([.init(name: "Authorization", value: "Token 2")]) == "6 from the server")
        #expect(try await call([.init(name: "Authorization", value: "Token 1")]).hasPrefix("5 from the cache"))
    }

    @Test("What was asked for with cookies is not for a request with others, or without")
    func withCookies() async throws {
        let service = service()
        let login = service.call(CachedEndpoint(pathText: "/login", caching: .disabled))
        try service.last.answer(headers: [("Set-Cookie", "sid=ann; Path=/")])
        _ = await login.outcome()
        let ann = service.call(CachedEndpoint())
        #expect(try service.last.header("Cookie") == "sid=ann")
        try service.last.answerFresh("ann's")
        #expect(await ann.told() == "ann's from the server")
        #expect(await service.call(CachedEndpoint()).told().hasPrefix("ann's from the cache"))
        service.atom.removeCookies()
        let nobody = service.call(CachedEndpoint())
        try #require(service.count == 3)
        try service.last.answerFresh("nobody's")
        #expect(await nobody.told() == "nobody's from the server")
    }

    @Test(
        "A response whose request was sent with a cookie that came meanwhile is nobody else's",
        arguments: [false, true])
    func cookieMeanwhile(isGone: Bool) async throws {
        let service = SharingFixture(exchangesPerOrigin: 1, changing: { $0.cache = ResponseCache() })
        let login = service.call(CachedEndpoint(pathText: "/login", caching: .disabled))
        let waiting = service.call(CachedEndpoint())
        service.transport.exchanges[0].answer(headers: [("Set-Cookie", "sid=ann; Path=/")])
        _ = await login.outcome()
        #expect(try service.last.header("Cookie") == "sid=ann")
        // It came and went while the request was on its way.
        if isGone { service.atom.removeCookies() }
        try service.last.answerFresh("ann's")
        #expect(await waiting.told() == "ann's from the server")
        service.atom.removeCookies()
        let nobody = service.call(CachedEndpoint())
        try #require(service.count == 3)
        try service.last.answerFresh("nobody's")
        #expect(await nobody.told() == "nobody's from the server")
    }

    @Test("What only the app's signers sign is not kept")
    func signedByTheApp() async throws {
        struct Signer: RequestSigner {
            func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-Key", to: "1") }
        }
        let service = service { $0.signers = [Signer()] }
        for number in 1...2 {
            let call = service.call(CachedEndpoint())
            try #require(service.count == number)
            try service.last.answerFresh("one")
            #expect(await call.told() == "one from the server")
        }
        // Nothing is ever sent.
        let refused = try #require(await service.call(CachedEndpoint(caching: .onlyIfCached)).error())
        #expect(refused.delivery == .notSent && service.count == 2)
    }

    @Test("A credential in the URL makes a response somebody's, who is not on the disk")
    func credentialInURL() async throws {
        let storage = ScriptedStorage()
        let cache = ResponseCache(storage: storage)
        let service = service(cache)
        for (query, count) in [("?page=2", 1), ("?access_token=abc", 1), ("?X-Amz-Signature=abc", 1)] {
            let call = Call()
            var endpoint = try URLEndpoint("https://api.example.com/x\(query)")
            endpoint.caching = .whileCacheFresh
            call.keep(service.atom.enqueue(endpoint).resume { call.heard($0) })
            #expect(await eventually { service.transport.exchanges.last?.isOver == false })
            try service.last.answerFresh("one")
            _ = await call.outcome()
            await cache.settle()
            #expect(storage.count == count)
        }
        #expect(cache.extent.count == 3)
    }

    @Test("Observers hear a request of its own for each kept response")
    func observed() async throws {
        let observer = RecordingObserver()
        let service = service { $0.observers = [observer] }
        let first = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await first.outcome()
        let count = observer.events.count
        _ = await service.call(CachedEndpoint()).outcome()
        let heard = observer.events.dropFirst(count)
        #expect(
            heard.map { $0.description.drop { $0 != "]" } } == [
                "] GET https://api.example.com/x of CachedEndpoint",
                "] ⇤ HTTP 200 GET https://api.example.com/x, from the cache, 0.0 seconds old",
                "] ← HTTP 200, 0 bytes GET https://api.example.com/x in 0.0 seconds",
            ])
        // What asks behind a caller's back is a request of its own, and nobody gets its response.
        service.time.advance(by: .seconds(61))
        let before = observer.events.count
        let stale = CachedEndpoint(caching: .whileCacheFresh(staleWhileRevalidate: .seconds(60)))
        _ = await service.call(stale).outcome()
        try service.last.answer(status: 304, headers: [("ETag", "\"1\"")])
        #expect(Set(observer.events.dropFirst(before).map(\.requestID)).count == 2)
        #expect(Set(heard.map(\.requestID)).count == 1 && heard.first?.requestID != observer.events.first?.requestID)
    }
}
