import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A response that is there at once", .limited)
struct DirectTransportTests {
    /// Keeps what it is given, and sends nothing.
    private final class FakeTransport: DirectTransport {
        struct Started: Sendable {
            let taker: (any ResponseTaker)?
            let receive: @Sendable (TransportEvent) -> Void

            /// As events, on this thread.
            func answer(_ head: TransportResponse, _ body: Data, _ metrics: TransportMetrics? = nil) {
                receive(.response(head))
                if !body.isEmpty { receive(.data(body)) }
                if let metrics { receive(.measured(metrics)) }
                receive(.finished)
            }

            /// At once.
            ///
            /// - Returns: Whether it was taken: then whoever has begun to wait is told to go on, and others find the
            ///   outcome.
            func hand(_ head: TransportResponse, _ body: Data, _ metrics: TransportMetrics? = nil) -> Bool {
                switch taker?.take(WholeResponse(head: head, body: body, metrics: metrics)) {
                case .awaited(let continuation):
                    continuation.resume()
                    return true
                case .taken: return true
                case .refused, nil: return false
                }
            }
        }

        private struct Handle: TransportExchange { func cancel() {} }

        private let all = Locked<[Started]>([])
        /// Called before an exchange has been started.
        let whileStarting = Locked<@Sendable (Started) -> Void>({ _ in })
        let exchangesPerOrigin: Int?

        init(exchangesPerOrigin: Int? = nil) { self.exchangesPerOrigin = exchangesPerOrigin }

        func started(_ index: Int = 0) async throws -> Started {
            #expect(await eventually { all.value.count > index })
            return try #require(all.value.dropFirst(index).first)
        }

        func start(
            _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportExchange {
            start(request, taker: nil, receive: receive)
        }

        func start(
            _ request: TransportRequest, taker: (any ResponseTaker)?,
            receive: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportExchange {
            let started = Started(taker: taker, receive: receive)
            whileStarting.value(started)
            all.with { $0.append(started) }
            return Handle()
        }
    }

    private static let body = Data("here".utf8)

    private static func head(_ status: Int = 200, _ fields: [String: String] = [:]) -> TransportResponse {
        TransportResponse(
            statusCode: status, headerFields: HeaderFields(fields.map { HeaderItem(name: $0.key, value: $0.value) }))
    }

    private static func atom(
        over transport: FakeTransport, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> Atom {
        Atom(.forTest(over: transport, change))
    }

    private static let endpoint = WireEndpoint(host: "a.example", port: 80)

    @Test("The caller gets it as it gets the events", arguments: [Data("here".utf8), Data()], [200, 201, 204])
    func taken(body: Data, status: Int) async throws {
        var outcomes: [AtomResponse] = []
        for isDirect in [true, false] {
            let transport = FakeTransport(exchangesPerOrigin: 1)
            let atom = Self.atom(over: transport)
            let call = Task { await atom.outcome(of: Self.endpoint) }
            let started = try await transport.started()
            let head = Self.head(status, ["Content-Type": "text/plain"])
            if isDirect {
                #expect(started.hand(head, body))
            } else {
                started.answer(head, body)
            }
            outcomes.append(try await call.value.get())
            #expect(atom.manager.slots.counts == (0, 0))
        }
        #expect(outcomes[0].statusCode == outcomes[1].statusCode && outcomes[0].data == outcomes[1].data)
        #expect(outcomes[0].headerFields == outcomes[1].headerFields && outcomes[0].url == outcomes[1].url)
        #expect(outcomes[0].data == body && outcomes[0].statusCode == status)
    }

    @Test(
        "Of what needs more than the caller it comes as events",
        arguments: [
            (206, [:]), (302, ["Location": "/x"]), (401, [:]), (403, [:]), (404, [:]), (500, [:]), (503, [:]),
        ] as [(Int, [String: String])])
    func refused(status: Int, fields: [String: String]) async throws {
        let transport = FakeTransport()
        let atom = Self.atom(over: transport)
        let call = Task { await atom.outcome(of: Self.endpoint) }
        let started = try await transport.started()
        let head = Self.head(status, fields)
        #expect(!started.hand(head, Self.body))
        started.answer(head, Self.body)
        if status == 302 { try await transport.started(1).answer(Self.head(), Self.body) }
        #expect(await call.value.response?.data == Self.body)
    }

    @Test("One that is too large comes as events, and fails")
    func tooLarge() async throws {
        let transport = FakeTransport()
        let atom = Self.atom(over: transport) { $0.maximumResponseSize = 3 }
        let call = Task { await atom.outcome(of: Self.endpoint) }
        let started = try await transport.started()
        #expect(!started.hand(Self.head(), Self.body))
        started.answer(Self.head(), Self.body)
        #expect(await call.value.error != nil)
    }

    @Test("After a cancellation nobody takes it")
    func cancelled() async throws {
        let transport = FakeTransport()
        let call = Task { await Self.atom(over: transport).outcome(of: Self.endpoint) }
        let started = try await transport.started()
        call.cancel()
        #expect(await call.value.error?.isCancelled == true)
        #expect(!started.hand(Self.head(), Self.body))
        started.answer(Self.head(), Self.body)
    }

    @Test("While others wait for the slot it comes as events, and they follow")
    func waitedFor() async throws {
        let transport = FakeTransport(exchangesPerOrigin: 1)
        let atom = Self.atom(over: transport)
        let calls = (0..<3).map { _ in Task { await atom.outcome(of: Self.endpoint) } }
        for index in 0..<3 {
            let started = try await transport.started(index)
            #expect(await eventually { atom.manager.slots.counts == (1, 2 - index) })
            let isTaken = started.hand(Self.head(), Self.body)
            #expect(isTaken == (index == 2))
            if !isTaken { started.answer(Self.head(), Self.body) }
        }
        for call in calls { #expect(await call.value.response?.data == Self.body) }
        #expect(atom.manager.slots.counts == (0, 0))
    }

    @Test("Its observers hear what they hear of events", arguments: [Data("here".utf8), Data()], [true, false])
    func observed(body: Data, isMeasured: Bool) async throws {
        var stories: [[String]] = []
        for isDirect in [true, false] {
            let transport = FakeTransport()
            let observer = RecordingObserver()
            let atom = Self.atom(over: transport) { $0.observers = [observer] }
            let call = Task { await atom.outcome(of: Self.endpoint) }
            let started = try await transport.started()
            let metrics = isMeasured ? TransportMetrics() : nil
            if isDirect {
                #expect(started.hand(Self.head(), body, metrics))
            } else {
                started.answer(Self.head(), body, metrics)
            }
            #expect(await call.value.response?.data == body)
            stories.append(observer.story())
            #expect(observer.summaries.map(\.traffic.bytesReceived) == [Int64(body.count)])
        }
        #expect(stories[0] == stories[1] && stories[0].count == (isMeasured ? 5 : 4), "\(stories)")
    }

    @Test("Observers hear when it arrived, however late its caller goes on")
    func observedLate() async throws {
        let (transport, observer, clock) = (FakeTransport(), RecordingObserver(), ManualClock())
        let atom = Atom(.forTest(over: transport, time: clock) { $0.observers = [observer] })
        let call = Task { await atom.outcome(of: Self.endpoint) }
        let started = try await transport.started()
        // Once its caller waits.
        #expect(await eventually { observer.events.count == 2 })
        clock.advance(by: .milliseconds(20))
        let taking = started.taker?.take(WholeResponse(head: Self.head(), body: Self.body))
        clock.advance(by: .seconds(3))
        if case .awaited(let continuation) = taking { continuation.resume() }
        #expect(await call.value.response?.data == Self.body)
        #expect(observer.summaries.map(\.duration) == [.milliseconds(20)])
    }

    private func cookie(of atom: Atom) throws -> String? {
        let (tenure, _) = atom.manager.cookies.give(to: atom.manager.tenure)
        let target = TargetURL(base: try BaseURL(scheme: .http, host: "a.example"), path: try URLPath("/"))
        return atom.manager.cookies.field(for: target.cookieAddress, of: tenure, at: atom.manager.time.date)
    }

    @Test("Its cookies are kept before its caller or another request goes on, and go with whoever it is for")
    func cookies() async throws {
        let transport = FakeTransport()
        let authorization = try AuthorizationEndpoint(host: "auth.example", path: "/token")
        let atom = Self.atom(over: transport) { configuration in
            var bearer = BearerAuthentication(
                endpoint: authorization, client: ClientCredential(id: "app"),
                store: InMemoryTokenCredentialStore(.issued(0)))
            bearer.allowedOrigins = .any
            configuration.authenticationMethod = .bearer(bearer)
        }
        let call = Task { await atom.outcome(of: Self.endpoint) }
        let started = try await transport.started()
        let taking = try #require(started.taker).take(
            WholeResponse(head: Self.head(200, ["Set-Cookie": "a=b"]), body: Self.body))
        #expect(try cookie(of: atom) == "a=b")
        try await atom.signOut()
        if case .awaited(let continuation) = taking { continuation.resume() }
        #expect(await call.value.response?.data == Self.body)
        #expect(try cookie(of: atom) == nil)
    }

    @Test("After a cancellation its cookies are nobody's")
    func cookiesAfterCancellation() async throws {
        let transport = FakeTransport()
        let atom = Self.atom(over: transport)
        let call = Task { await atom.outcome(of: Self.endpoint) }
        let started = try await transport.started()
        call.cancel()
        #expect(await call.value.error?.isCancelled == true)
        #expect(!started.hand(Self.head(200, ["Set-Cookie": "a=b"]), Self.body))
        #expect(try cookie(of: atom) == nil)
    }

    @Test("Cookies for Foundation's storage, which may run code of the app, come as events")
    func cookiesOfTheSystem() async throws {
        let transport = FakeTransport()
        let atom = Self.atom(over: transport) { $0.configuration = .default }
        let call = Task { await atom.outcome(of: Self.endpoint) }
        let started = try await transport.started()
        let head = Self.head(200, ["Set-Cookie": "a=b; Max-Age=0"])
        #expect(!started.hand(head, Self.body))
        started.answer(head, Self.body)
        #expect(await call.value.response?.data == Self.body)
    }

    private struct Bodies: BodyObserver {
        func observe(_ event: RequestEvent) {}
        func observe(_ part: Data, of requestID: UInt64, attempt: Int) {}
    }

    /// What concerns more than a caller that awaits the response.
    enum Other: CaseIterable { case completion, progress, stream, rejections, body, observerOfBodies }

    @Test("It isn't offered where code of the app would run", arguments: Other.allCases)
    func notOffered(other: Other) async throws {
        let transport = FakeTransport()
        let atom = Self.atom(over: transport) { configuration in
            if other == .observerOfBodies { configuration.observers = [Bodies()] }
            guard other == .rejections,
                let authorization = try? AuthorizationEndpoint(host: "auth.example", path: "/token")
            else { return }
            var bearer = BearerAuthentication(
                endpoint: authorization, client: ClientCredential(id: "app"),
                store: InMemoryTokenCredentialStore(.issued(0)))
            bearer.tokenRejections = [.status(403)]
            configuration.authenticationMethod = .bearer(bearer)
        }
        var endpoint = Self.endpoint
        endpoint.requiresAuthorization = false
        if other == .body { endpoint.method = .post(Self.body) }
        let service = atom.enqueue(endpoint)
        let isTold = Signal()
        switch other {
        case .completion: service.resume { _ in isTold.raise() }
        case .progress:
            Task {
                _ = try? await service.resume(progress: { _ in }, expecting: NoContent.self)
                isTold.raise()
            }
        case .stream:
            Task {
                if let stream = try? await service.bytes() { for try await _ in stream {} }
                isTold.raise()
            }
        case .rejections, .body, .observerOfBodies:
            Task {
                _ = try? await service.resume()
                isTold.raise()
            }
        }
        let started = try await transport.started()
        #expect(started.taker == nil)
        started.answer(Self.head(), Self.body)
        await isTold.wait()
    }

    #if os(Linux)
        /// Says on which threads it is given a task.
        private final class NotingExecutor: TaskExecutor {
            private let queue = DispatchQueue(label: "executor")
            let names = Locked<Set<String>>([])

            /// Waits for those that have been enqueued.
            func finishJobs() { queue.sync {} }

            func enqueue(_ job: consuming ExecutorJob) {
                names.with { _ = $0.insert(ThisProcess.currentThreadName) }
                let (job, executor) = (UnownedJob(job), asUnownedTaskExecutor())
                queue.async { job.runSynchronously(on: executor) }
            }
        }

        @Test("A task with an executor of the app's isn't resumed on the transport's thread")
        func ownExecutor() async throws {
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            let executor = NotingExecutor()
            for _ in 0..<50 {
                let call = Task(executorPreference: executor) { await atom.outcome(of: server.endpoint("/x")) }
                #expect(await call.value.text == "{}")
            }
            let names = executor.names.value
            #expect(!names.isEmpty && !names.contains { $0.contains("AtomNetworking") }, "\(names)")
        }

        @Test("A task with an executor that begins to wait while its response is taken isn't resumed there, either")
        func ownExecutorLate() async throws {
            /// Holds up whoever keeps a cookie.
            struct Clock: TimeSource {
                let clock = ManualClock()
                let isReached = DispatchSemaphore(value: 0)
                let mayGoOn = DispatchSemaphore(value: 0)

                var now: MonotonicInstant { clock.now }
                var date: Date {
                    isReached.signal()
                    mayGoOn.wait()
                    return clock.date
                }

                func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { clock.makeAlarm(ring: ring) }
            }
            let (transport, executor, clock) = (FakeTransport(), NotingExecutor(), Clock())
            let atom = Atom(.forTest(over: transport, time: clock))
            // Its job ends when it waits; the transport takes the response before.
            let (wakesNobody, isOver) = (Locked(false), Signal())
            transport.whileStarting.with { action in
                action = { started in
                    Thread.detachNewThread {
                        Thread.current.name = "AtomNetworking"
                        let head = Self.head(200, ["Set-Cookie": "a=b"])
                        switch started.taker?.take(WholeResponse(head: head, body: Self.body)) {
                        case .taken: wakesNobody.set(true)
                        case .awaited(let continuation): continuation.resume()
                        case .refused, nil: break
                        }
                        isOver.raise()
                    }
                    clock.isReached.wait()
                }
            }
            let call = Task(executorPreference: executor) { await atom.outcome(of: Self.endpoint) }
            _ = try await transport.started()
            executor.finishJobs()
            clock.mayGoOn.signal()
            await isOver.wait()
            #expect(wakesNobody.value)
            #expect(await call.value.response?.data == Self.body)
            #expect(!executor.names.value.contains("AtomNetworking"), "\(executor.names.value)")
        }

        @Test("With one connection for many callers no code of the app runs on the transport's thread")
        func whoseThread() async throws {
            /// Says on which threads it is read and let go of.
            final class Variable: TokenCredentialWritable {
                let names: Locked<Set<String>>

                init(_ names: Locked<Set<String>>) { self.names = names }

                deinit { note() }

                private func note() { names.with { _ = $0.insert(ThisProcess.currentThreadName) } }

                var tokenCredential: TokenCredential {
                    get {
                        note()
                        return TokenCredential(accessToken: "A", expiresAt: .distantFuture, refreshToken: "R")
                    }
                    set { note() }
                }
            }
            struct Observer: RequestObserver {
                let names: Locked<Set<String>>
                func observe(_ event: RequestEvent) { names.with { _ = $0.insert(ThisProcess.currentThreadName) } }
            }
            let names = Locked<Set<String>>([])
            let server = try LoopbackServer { _ in .json("{}", headers: [("Set-Cookie", "a=b")]) }
            defer { server.stop() }
            let authorization = try AuthorizationEndpoint(
                scheme: .http, host: server.host, port: server.port, path: "/token")
            for round in 0..<20 {
                // The last call takes the service with it.
                await withTaskGroup(of: Void.self) { group in
                    let transport = try? CurlTransport(connectionsPerOrigin: 1 + round % 2)
                    let atom = Atom(
                        .forTest(over: transport ?? FakeTransport()) {
                            $0.authenticationMethod = .bearer(
                                authorization, ClientCredential(id: "client"), Variable(names))
                            if round.isMultiple(of: 4) { $0.observers = [Observer(names: names)] }
                        })
                    for _ in 0..<10 {
                        group.addTask { #expect(await atom.outcome(of: server.endpoint("/x")).text == "{}") }
                    }
                }
            }
            #expect(!names.value.isEmpty && !names.value.contains { $0.contains("AtomNetworking") }, "\(names.value)")
        }
    #endif
}
