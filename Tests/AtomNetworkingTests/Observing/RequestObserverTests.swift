import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What observers hear of requests, by a clock and a network that the test
/// holds.
@Suite(.limited) struct RequestObserverTests {
    private let observer = RecordingObserver()

    private func atom(_ session: SessionFixture, _ change: (inout ServiceConfiguration) -> Void = { _ in }) -> Atom {
        var configuration = session.configuration
        configuration.observers = [observer]
        change(&configuration)
        return Atom(configuration, time: session.time, random: { 0.5 })
    }

    /// The numbers of the app's attempts that were answered.
    private var answered: [Int] {
        observer.events.compactMap { event in
            if event.purpose == .service, case .answered(let head) = event.kind { head.attempt } else { nil }
        }
    }

    private func call(_ atom: Atom, _ path: String = "/x", signed: Bool = true) -> Call {
        let call = Call()
        call.keep(
            atom.enqueue(PathEndpoint(pathText: path, requiresAuthorization: signed)).resume { call.heard($0) })
        return call
    }

    @Test("An observer that keeps its events is freed with its service")
    func lifetime() async throws {
        let session = try SessionFixture(script: { $0.answer("{}") })
        weak let kept = try await {
            let observer = RecordingObserver()
            var configuration = session.configuration
            configuration.observers = [observer]
            try await Atom(configuration, time: session.time).enqueue(PathEndpoint()).resume()
            #expect(observer.summaries.count == 1)
            return observer
        }()
        #expect(await eventually { kept == nil })
    }

    @Test("An observer hears of each step of a request that is sent at once")
    func aRequestThatIsSentAtOnce() async throws {
        let session = try SessionFixture()
        let call = call(atom(session))
        session.time.advance(by: .milliseconds(20))
        let exchange = session.sent[0]
        exchange.send(.sent(7))
        exchange.send(.response(TransportResponse(statusCode: 200)))
        session.time.advance(by: .milliseconds(5))
        exchange.send(.data(Data("hello".utf8)))
        exchange.send(.finished)
        #expect(await call.status() == 200)
        #expect(
            observer.story() == [
                "GET https://api.example.com/x of PathEndpoint", "→ GET https://api.example.com/x",
                "← HTTP 200 GET https://api.example.com/x",
                "← HTTP 200, 5 bytes GET https://api.example.com/x in 0.025 seconds",
            ])
        let summary = try #require(observer.summaries.first)
        #expect(summary.bytesSent == 7 && summary.bytesReceived == 5 && summary.attempts == 1)
        #expect(summary.failure == nil && summary.duration == .milliseconds(25))
        #expect(observer.events.map(\.elapsed) == [.zero, .zero, .milliseconds(20), .milliseconds(25)])
        #expect(Set(observer.events.map(\.requestID)).count == 1)
        #expect(observer.events.last?.date == session.time.date)
        let request = try #require(observer.events.last?.request)
        #expect(observer.events.last?.endpoint == "PathEndpoint" && request.method == "GET" && request.bodyLength == 0)
        #expect(request.host == "api.example.com" && request.port == 443 && request.scheme == .https)
    }

    @Test func describedComesInTheCallersTaskBeforeTheSigners() async throws {
        enum Caller { @TaskLocal static var name: String? }
        struct Signer: RequestSigner {
            let sign: @Sendable (SignableRequest) -> Void
            func sign(_ request: inout SignableRequest) throws { sign(request) }
        }
        // The second request waits for the refresh of the first, and both are sent by another task.
        let session = try SessionFixture(lifetime: 0)
        let log = Guarded<[String]>([])
        let observer = RecordingObserver { event in
            guard event.purpose == .service, case .described = event.kind else { return }
            log.withLock { $0.append("described \(event.request?.url.suffix(2) ?? "") \(Caller.name ?? "nobody")") }
        }
        let atom = atom(session) { configuration in
            configuration.observers = [observer]
            configuration.signers = [
                Signer { request in
                    let described = observer.events.first { $0.requestID == request.requestID }
                    log.withLock { $0.append("signed \(described?.request?.url.suffix(2) ?? "")") }
                }
            ]
        }
        let first = Caller.$name.withValue("a") { call(atom, "/a") }
        let second = Caller.$name.withValue("b") { call(atom, "/b") }
        #expect(log.withLock { $0 } == ["described /a a", "described /b b"])
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        await session.transport.exchange(2).answer()
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
        let third = Caller.$name.withValue("c") { call(atom, "/c", signed: false) }
        await session.transport.exchange(3).answer()
        #expect(await third.status() == 200)
        #expect(
            log.withLock { $0 } == [
                "described /a a", "described /b b", "signed /a", "signed /b", "described /c c", "signed /c",
            ])
    }

    @Test("An observer hears that a request waits for a refresh, and of the refresh itself")
    func waitingForARefresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = call(atom(session))
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        #expect(
            observer.story(at: "/x") == [
                "GET https://api.example.com/x of PathEndpoint", "waits for the session: GET https://api.example.com/x",
                "goes on: GET https://api.example.com/x", "→ GET https://api.example.com/x",
                "← HTTP 200 GET https://api.example.com/x",
                "← HTTP 200, 0 bytes GET https://api.example.com/x in 0.0 seconds",
            ])
        #expect(
            observer.story(of: .token) == [
                "POST https://auth.example.com/token", "→ POST https://auth.example.com/token",
                "← HTTP 200 POST https://auth.example.com/token",
                "← HTTP 200, 60 bytes POST https://auth.example.com/token in 0.0 seconds",
            ])
        // The session goes on after its callers have been told.
        #expect(
            await eventually {
                observer.events.count { if case .refreshed(failure: nil) = $0.kind { true } else { false } } == 1
            })
        let numbers = observer.events.compactMap { if case .sent(let sent) = $0.kind { sent.attempt } else { nil } }
        #expect(numbers == [1, 1])
    }

    @Test("An observer hears of a refresh that fails and of its request's failure")
    func aRefreshThatFails() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = call(atom(session))
        await session.refresh().deny("invalid_grant")
        _ = await call.error()
        #expect(observer.story(at: "/x").last?.hasPrefix("✗ GET https://api.example.com/x in 0.0 seconds: ") == true)
        #expect(observer.summaries.last?.failure?.kind == .authentication)
        #expect(observer.summaries.last?.attempts == 0)
        // The session goes on after its callers have been told.
        #expect(
            await eventually {
                observer.events.contains { if case .refreshed(.some) = $0.kind { true } else { false } }
            })
    }

    @Test func a401IsRetried() async throws {
        let session = try SessionFixture()
        let call = call(atom(session))
        session.sent[0].answer("no", status: 401)
        await session.refresh().grant(1)
        await session.transport.exchange(2).answer("yes")
        #expect(await call.status() == 200)
        #expect(
            observer.story(at: "/x") == [
                "GET https://api.example.com/x of PathEndpoint", "→ GET https://api.example.com/x",
                "← HTTP 401 GET https://api.example.com/x",
                "↻ GET https://api.example.com/x: HTTP 401 Unauthorized, to be sent again at once",
                "waits for the session: GET https://api.example.com/x", "goes on: GET https://api.example.com/x",
                "→ GET https://api.example.com/x, attempt 2", "← HTTP 200 GET https://api.example.com/x",
                "← HTTP 200, 5 bytes in 2 attempts GET https://api.example.com/x in 0.0 seconds",
            ])
        #expect(answered == [1, 2])
        #expect(observer.summaries.last?.bytesReceived == 5)
    }

    @Test("An observer hears that a request waits for a slot and then goes on") func waitingForASlot() async throws {
        let session = try SessionFixture()
        let atom = atom(session) { $0.maximumExchangesPerOrigin = 1 }
        let calls = [call(atom, "/0"), call(atom, "/1")]
        session.sent[0].answer()
        #expect(
            observer.story(at: "/1").prefix(3) == [
                "GET https://api.example.com/1 of PathEndpoint", "waits for its turn: GET https://api.example.com/1",
                "goes on: GET https://api.example.com/1",
            ])
        session.sent[1].answer()
        for call in calls { #expect(await call.status() == 200) }
        #expect(!observer.story(at: "/0").contains { $0.contains("waits for its turn") })
    }

    @Test func redirectsHideTheQuery() async throws {
        let session = try SessionFixture()
        let call = call(atom(session), signed: false)
        session.sent[0].redirect(to: "/y?code=hunter2")
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        #expect(
            observer.story() == [
                "GET https://api.example.com/x of PathEndpoint", "→ GET https://api.example.com/x",
                "← HTTP 302 GET https://api.example.com/x",
                "← GET https://api.example.com/x, redirected to https://api.example.com/y?code=…",
                "→ GET https://api.example.com/y?code=…, attempt 2",
                "← HTTP 200 GET https://api.example.com/x",
                "← HTTP 200, 0 bytes in 2 attempts GET https://api.example.com/x in 0.0 seconds",
            ])
    }

    @Test func aPolicysRetriesSayAfterWhatAndWhen() async throws {
        let session = try SessionFixture()
        let call = call(atom(session) { $0.retryPolicy = .standard }, signed: false)
        session.sent[0].fail(.networkConnectionLost)
        session.time.advance(by: .milliseconds(25))
        await session.transport.exchange(1).answer(status: 500)
        session.time.advance(by: .milliseconds(50))
        await session.transport.exchange(2).answer()
        #expect(await call.status() == 200)
        #expect(
            observer.story() == [
                "GET https://api.example.com/x of PathEndpoint", "→ GET https://api.example.com/x",
                "↻ GET https://api.example.com/x: The connection was lost, to be sent again in 0.025 seconds",
                "→ GET https://api.example.com/x, attempt 2", "← HTTP 500 GET https://api.example.com/x",
                "↻ GET https://api.example.com/x: HTTP 500 Internal Server Error, to be sent again in 0.05 seconds",
                "→ GET https://api.example.com/x, attempt 3", "← HTTP 200 GET https://api.example.com/x",
                "← HTTP 200, 0 bytes in 3 attempts GET https://api.example.com/x in 0.075 seconds",
            ])
        #expect(answered == [2, 3])
        #expect(observer.summaries.last?.attempts == 3)
    }

    @Test func aDownloadThatIsAskedForAsAWholeIsSentAgain() async throws {
        let session = try SessionFixture()
        let folder = try TransferFolder()
        let service = atom(session).enqueue(PathEndpoint(pathText: "/x", requiresAuthorization: false))
        let file = try folder.file("a")
        func download() -> Call {
            let call = Call()
            call.keep(service.download(to: file, isResumable: true) { call.heard($0) })
            return call
        }
        let first = download()
        session.sent[0].send(
            .response(
                TransportResponse(
                    statusCode: 200, headerFields: HeaderFields([.init(name: "ETag", value: "\"v\"")]))))
        session.sent[0].send(.data(Data("whole".utf8)))
        session.sent[0].fail(.networkConnectionLost)
        _ = await first.status()
        let second = download()
        await session.transport.exchange(1).answer(status: 416)
        await session.transport.exchange(2).answer("whole")
        #expect(await second.status() == 200)
        #expect(session.transport.requests.map { $0.headerFields["Range"] } == [nil, "bytes=0-", nil])
        #expect(
            observer.story().suffix(6) == [
                "→ GET https://api.example.com/x", "← HTTP 416 GET https://api.example.com/x",
                "↻ GET https://api.example.com/x: HTTP 416 Range Not Satisfiable, to be sent again at once",
                "→ GET https://api.example.com/x, attempt 2",
                "← HTTP 200 GET https://api.example.com/x",
                "← HTTP 200, 5 bytes in 2 attempts GET https://api.example.com/x in 0.0 seconds",
            ])
    }

    @Test func anEndpointThatCannotBeSentIsRefused() async throws {
        let session = try SessionFixture()
        #expect(await call(atom(session), "/a\u{0}b").error() != nil)
        #expect(observer.events.count == 1)
        guard case .refused(let failure)? = observer.events.first?.kind else { throw Unexpected("no refusal") }
        #expect(observer.events.first?.endpoint == "PathEndpoint" && failure.kind == .requestable)
        #expect(observer.events.first?.requestID != nil && observer.events.first?.request == nil)
    }

    @Test func aCancelledRequestIsFinishedAndNothingFollows() async throws {
        let session = try SessionFixture()
        let call = call(atom(session))
        call.cancel()
        session.sent[0].answer()
        #expect(await call.error()?.isCancelled == true)
        #expect(observer.story().count == 3)
        #expect(observer.summaries.map(\.failure?.kind) == [.cancelled])
        #expect(observer.summaries.first?.failure?.delivery == .maybeSent)
    }

    @Test func theLastEventComesBeforeTheCallerIsTold() async throws {
        let session = try SessionFixture { $0.answer() }
        let isTold = Guarded(false)
        let wasTold = Guarded<Bool?>(nil)
        var configuration = session.configuration
        configuration.observers = [
            RecordingObserver { event in
                guard case .finished = event.kind else { return }
                let told = isTold.withLock { $0 }
                wasTold.withLock { $0 = told }
            }
        ]
        let call = Call()
        call.keep(
            Atom(configuration, time: session.time).enqueue(PathEndpoint()).resume { result in
                isTold.withLock { $0 = true }
                call.heard(result)
            })
        #expect(await call.status() == 200)
        #expect(wasTold.withLock { $0 } == false)
    }

    @Test func transportsMeasureOnlyForObservers() async throws {
        let session = try SessionFixture { exchange in
            exchange.send(.response(TransportResponse(statusCode: 200)))
            var metrics = TransportMetrics()
            metrics.networkProtocol = "h2"
            metrics.isConnectionReused = true
            exchange.send(.measured(metrics))
            exchange.send(.finished)
        }
        #expect(await call(session.atom).status() == 200)
        #expect(await call(atom(session)).status() == 200)
        #expect(session.sent.map(\.request.transportRequest.wantsMetrics) == [false, true])
        #expect(observer.story()[3] == "attempt 1: h2, connection kept")
    }

    @Test func anObserverMayCancelTheRequestThatItHearsOf() async throws {
        let session = try SessionFixture()
        let call = Call()
        let other = RecordingObserver()
        var configuration = session.configuration
        configuration.observers = [
            RecordingObserver { if case .answered = $0.kind { call.cancel() } }, other,
        ]
        call.keep(
            Atom(configuration, time: session.time).enqueue(PathEndpoint()).resume { call.heard($0) })
        session.sent[0].send(.response(TransportResponse(statusCode: 200)))
        #expect(await call.error()?.isCancelled == true)
        #expect(other.story().count == 4, "the second one hears all, in order: \(other.story())")
        #expect(other.summaries.count == 1)
    }

    @Test func allObserversHearAllEventsInTheirOrder() async throws {
        let session = try SessionFixture { $0.answer() }
        let order = Locked<[Int]>([])
        let atom = atom(session) { configuration in
            configuration.observers = (0..<3).map { number in
                RecordingObserver { _ in order.with { $0.append(number) } }
            }
        }
        #expect(await call(atom).status() == 200)
        #expect(order.value == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    }

    @Test("The measurements of a real connection tell its address, its times and its reuse")
    func measurementsOfARealConnection() async throws {
        #if os(Linux)
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()) { $0.observers = [observer] })
            for _ in 0..<2 { #expect(await atom.outcome(of: server.endpoint()).response != nil) }
            let measured = observer.events.compactMap { event -> TransportMetrics? in
                if case .measured(let metrics, attempt: 1) = event.kind { metrics } else { nil }
            }
            try #require(measured.count == 2)
            #expect(measured.map(\.isConnectionReused) == [false, true])
            #expect(measured.allSatisfy { $0.networkProtocol == "http/1.1" && $0.remoteAddress == "127.0.0.1" })
            #expect(measured.allSatisfy { $0.remotePort == server.port && $0.waiting != nil && $0.receiving != nil })
            #expect(measured[0].connect != nil && measured[1].connect == nil)
            #expect(measured[0].secureConnection == nil)
        #endif
    }

    #if os(Linux)
        @Test func aResponseThatNeverCameHasNoBeginning() async throws {
            let server = try LoopbackServer { _ in .closeImmediately }
            defer { server.stop() }
            let atom = Atom(
                .forTest(over: try CurlTransport()) {
                    $0.observers = [observer]
                    $0.retryPolicy = RetryPolicy.none
                })
            var endpoint = server.endpoint()
            endpoint.method = .post(Data(count: 10))
            #expect(await atom.outcome(of: endpoint).error?.delivery == .maybeSent)
            let measured = observer.events.compactMap { event -> TransportMetrics? in
                if case .measured(let metrics, attempt: 1) = event.kind { metrics } else { nil }
            }
            #expect(try #require(measured.first).remotePort == server.port)
            #expect(measured.allSatisfy { $0.waiting == nil && $0.receiving == nil })
        }

        /// libcurl before 8.3 says when it began to send a body.
        @Test func aRequestWithABodyWaitsUntilItsResponse() async throws {
            let gate = Gate()
            let server = try LoopbackServer { $0.path == "/other" ? .text("") : .text("").after(gate) }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()) { $0.observers = [observer] })
            var endpoint = server.endpoint("/slow")
            endpoint.method = .post(Data(count: 100_000))
            async let outcome = atom.outcome(of: endpoint)
            #expect(await eventually { server.requests.contains { $0.path == "/slow" } })
            let start = ContinuousClock.now
            #expect(await atom.outcome(of: server.endpoint("/other")).response != nil)
            let passed = start.duration(to: .now)
            gate.open()
            #expect(await outcome.response != nil)
            let waiting = observer.events.compactMap { event in
                if case .measured(let metrics, attempt: 1) = event.kind { metrics.waiting } else { nil }
            }
            #expect(try #require(waiting.last) >= passed, "\(waiting)")
        }
    #endif
}
