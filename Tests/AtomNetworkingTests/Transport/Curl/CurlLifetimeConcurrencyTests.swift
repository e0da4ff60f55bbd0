#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Glibc
    import Testing

    @testable import AtomNetworking

    /// Threads, descriptors, memory, and whose code runs where.
    @Suite(.limited(minutes: 10)) struct CurlLifetimeConcurrencyTests {
        /// In a process of its own: nothing else opens anything there.
        @Test("Thousands of transports leave no thread and no descriptor")
        func manyTransports() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .text("here").closingSilently() }
                for _ in 0..<3 { #expect(try await CurlTransport().run(.to(server)).text == "here") }
                #expect(await eventually { ThisProcess.transportThreads == 0 })
                #expect(await server.waitForOpenConnections(atMost: 0))
                let before = (threads: ThisProcess.threadCount, descriptors: ThisProcess.descriptorCount)
                let request = try TransportRequest.to(server)
                let certificates = try CurlTransport.Certificates(pem: TestPEM.certificate)
                var configuration = CurlTransport.Configuration()
                for number in 0..<(TestExtent.isWhole ? 10_000 : 2_000) {
                    configuration.trust = number.isMultiple(of: 2) ? .only(certificates) : .system
                    let transport = try CurlTransport(configuration: configuration)
                    switch number % 20 {
                    case 0: #expect(await transport.run(request).text == "here")
                    case 1: transport.begin(request).exchange.cancel()
                    default: break
                    }
                }
                #expect(await eventually { ThisProcess.transportThreads == 0 })
                #expect(await server.waitForOpenConnections(atMost: 0))
                #expect(await eventually { ThisProcess.descriptorCount <= before.descriptors })
                // Dispatch may keep a few threads.
                #expect(await eventually { ThisProcess.threadCount <= before.threads + 8 })
                server.stop()
            }
        }

        private struct Weak: Sendable {
            weak var transport: CurlTransport?
        }

        @Test("A transport may be released inside its own callback")
        func releasedInside() async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            for _ in 0..<200 {
                let holder = Locked<CurlTransport?>(try CurlTransport())
                let released = Weak(transport: holder.value)
                let hasEnded = Signal()
                let request = try TransportRequest.to(server)
                let exchange = holder.value?.start(request) { event in
                    holder.with { $0 = nil }
                    if case .finished = event { hasEnded.raise() }
                }
                await hasEnded.wait()
                withExtendedLifetime(exchange) {}
                #expect(await eventually { released.transport == nil })
            }
            #expect(await server.waitForOpenConnections(atMost: 0))
        }

        @Test("No code of the app runs on the transport's thread")
        func whoseThread() async throws {
            let names = Locked<[String: Set<String>]>([:])
            let note: @Sendable (String) -> Void = { place in
                let name = ThisProcess.currentThreadName
                names.with { _ = $0[place, default: []].insert(name) }
            }
            let server = try LoopbackServer { request in
                switch request.path {
                case "/token":
                    .json(#"{"access_token":"A1","token_type":"Bearer","expires_in":3600,"refresh_token":"R1"}"#)
                case "/moved": .redirect(302, location: "/seats")
                case "/lost": .reset
                default: request["Authorization"] == "Bearer A1" ? .json("{}") : .text("expired", status: 401)
                }
            }
            defer { server.stop() }
            let endpoint = try AuthorizationEndpoint(
                scheme: .http, host: server.host, port: server.port, path: "/token")
            let variable = NotingVariable(note)
            let spy = SpyTransport(base: try CurlTransport()) { _ in note("receive") }
            let atom = Atom(
                .forTest(over: spy) { configuration in
                    configuration.authenticationMethod = .bearer(endpoint, ClientCredential(id: "client"), variable)
                    configuration.isLogEnabled = true
                    configuration.logHandler = { _ in note("log") }
                })
            for path in ["/seats", "/moved", "/seats"] {
                #expect(await atom.outcome(of: server.endpoint(path)).text == "{}")
            }
            #expect(await atom.outcome(of: server.endpoint("/lost")).error != nil)
            let seen = names.value
            #expect(Set(seen.keys) == ["log", "receive", "getter", "setter"])
            #expect(!seen.values.contains { $0.contains("AtomNetworking") }, "\(seen)")
        }

        @Test("No body of the app is read or cancelled on the transport's thread", arguments: [true, false])
        func whoseThreadOfBody(isAnswered: Bool) async throws {
            let names = Locked<[String: Set<String>]>([:])
            let note: @Sendable (String) -> Void = { place in
                let name = ThisProcess.currentThreadName
                names.with { _ = $0[place, default: []].insert(name) }
            }
            let hasBegun = Signal()
            let server = try ByteServer { line in
                if !line.readHead().hasSuffix("x") { _ = line.read() }
                hasBegun.raise()
                guard isAnswered else {
                    while !line.read().isEmpty {}
                    return .close
                }
                line.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                return .close
            }
            defer { server.stop() }
            let body = RequestBody.stream(contentType: "text/plain", length: 2, isRepeatable: false) {
                note("begin")
                let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
                continuation.onTermination = { _ in note("end") }
                // One part, and no further one.
                continuation.yield(Data("x".utf8))
                return stream
            }
            var endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, method: .post)
            endpoint.body = body
            let atom = Atom(.forTest(over: try CurlTransport()))
            let call = Task { [endpoint] in await atom.outcome(of: endpoint) }
            await hasBegun.wait()
            if !isAnswered { call.cancel() }
            #expect(await call.value.error == nil ? isAnswered : !isAnswered)
            #expect(await eventually { names.value["end"] != nil })
            #expect(!names.value.values.contains { $0.contains("AtomNetworking") }, "\(names.value)")
        }

        @Test("The signals of a fault reach the app's crash reporter, and others its own threads")
        func signals() async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let transport = try CurlTransport()
            #expect(await transport.run(try .to(server)).text == "here")
            func bits(_ signals: [Int32]) -> UInt64 { signals.reduce(0) { $0 | 1 << UInt64($1 - 1) } }
            let faults = bits([SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS])
            let others = bits([SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM])
            // A thread that the C library has made and that hasn't run yet blocks every signal for that long.
            let isRight = await eventually {
                let masks = ThisProcess.blockedSignalsOfTransportThreads
                return !masks.isEmpty && masks.allSatisfy { $0 & faults == 0 && $0 & others == others }
            }
            #expect(isRight, "\(ThisProcess.blockedSignalsOfTransportThreads.map { String($0, radix: 16) })")
            withExtendedLifetime(transport) {}
        }

        @Test("A process without descriptors is told so, and goes on when it has some again")
        func noDescriptors() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .text("here") }
                let transport = try CurlTransport()
                #expect(await transport.run(try .to(server)).text == "here")
                var taken: [Int32] = []
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                limit.rlim_cur = 128
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { taken.append(descriptor) }
                let request = try TransportRequest.to(server, needsFreshConnection: true)
                let recorder = await transport.run(request)
                #expect(recorder.failure?.delivery == .notSent)
                #expect(recorder.urlError?.localizedDescription.contains("no file descriptors left") == true)
                for descriptor in taken { close(descriptor) }
                #expect(await transport.run(request).text == "here")
                server.stop()
            }
        }

        @Test("A process without descriptors is told so also where a host has a name")
        func noDescriptorsForNames() async {
            await #expect(processExitsWith: .success) {
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .none
                let transport = try CurlTransport(configuration: configuration)
                let request = try TransportRequest(
                    base: BaseURL(
                        scheme: .http, host: ProcessInfo.processInfo.hostName, port: RefusingPort().number),
                    path: URLPath("/x"))
                #expect(await transport.run(request).failure != nil)
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                limit.rlim_cur = 128
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                for free in 0...6 {
                    var taken: [Int32] = []
                    while case let one = open("/dev/null", O_RDONLY), one >= 0 { taken.append(one) }
                    for _ in 0..<free { close(taken.removeLast()) }
                    let recorder = await transport.run(request)
                    let text = recorder.urlError?.localizedDescription ?? ""
                    #expect(recorder.urlError?.code != .cannotFindHost, "\(free) free: \(text)")
                    #expect(free > 0 || text.contains("no file descriptors left"), "\(text)")
                    for descriptor in taken { close(descriptor) }
                }
            }
        }

        @Test("What the app has given is released on another thread, also if it cancels what has ended")
        func whoseThreadReleases() async throws {
            final class Witness: Sendable {
                let note: @Sendable () -> Void
                init(_ note: @escaping @Sendable () -> Void) { self.note = note }
                deinit { note() }
            }
            let names = Locked<[String]>([])
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let transport = try CurlTransport()
            let count = 200
            for number in 0..<count {
                let witness = Witness { names.with { $0.append(ThisProcess.currentThreadName) } }
                let hasEnded = Signal()
                var exchange: (any TransportExchange)? = transport.start(try .to(server)) { [witness] event in
                    if case .finished = event { withExtendedLifetime(witness) { hasEnded.raise() } }
                }
                await hasEnded.wait()
                if number.isMultiple(of: 2) { exchange?.cancel() }
                exchange = nil
            }
            #expect(await eventually { names.value.count == count })
            #expect(!names.value.contains("AtomNetworking"), "\(names.value)")
        }

        @Test("A receiver that blocks doesn't stop another transport")
        func blockedReceiver() async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let gate = Gate()
            let blocked = try CurlTransport()
            let recorder = EventRecorder { gate.wait() }
            let started = blocked.begin(try .to(server), recorder: recorder)
            #expect(await eventually { !recorder.events.isEmpty })
            let other = try CurlTransport()
            for _ in 0..<20 { #expect(await other.run(try .to(server)).text == "here") }
            #expect(recorder.terminals == 0)
            gate.open()
            #expect(await started.end().text == "here")
            #expect(recorder.violations == [])
        }

        @Test("A receiver that doesn't keep up holds the server back, and gets everything")
        func backPressure() async throws {
            let size = 64 << 20
            let written = Locked(0)
            let part = Data((0..<65_536).map { LoopbackServer.Response.generatedByte(at: Int64($0)) })
            let server = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                for _ in 0..<(size / part.count) {
                    guard line.write(part) else { break }
                    written.with { $0 += part.count }
                }
                return .close
            }
            defer { server.stop() }
            let gate = Gate()
            let received = Locked((bytes: 0, isIntact: true, hasEnded: false))
            let hasEnded = Signal()
            let transport = try CurlTransport()
            let base = try BaseURL(scheme: .http, host: "127.0.0.1", port: server.port)
            let exchange = transport.start(try TransportRequest(base: base, path: URLPath("/x"))) { event in
                gate.wait()
                switch event {
                case .data(let data):
                    received.with { received in
                        // All parts of the body are the same bytes.
                        var offset = received.bytes % part.count
                        var rest = data[...]
                        while !rest.isEmpty {
                            let count = min(rest.count, part.count - offset)
                            if rest.prefix(count) != part[offset..<(offset + count)] { received.isIntact = false }
                            rest = rest.dropFirst(count)
                            offset = (offset + count) % part.count
                        }
                        received.bytes += data.count
                    }
                case .finished, .failed: hasEnded.raise()
                case .sent, .response, .measured: break
                }
            }
            // The connection's buffers fill, and then nothing moves.
            var before = -1
            #expect(
                await eventually {
                    defer { before = written.value }
                    return before > 0 && written.value == before && written.value > 1 << 20
                })
            #expect(written.value < 48 << 20, "\(written.value)")
            gate.open()
            await hasEnded.wait()
            #expect(received.value.bytes == size && received.value.isIntact)
            withExtendedLifetime(exchange) {}
        }

        @Test("Paused exchanges are cancelled in a storm, once each", arguments: [UInt64(5), 6])
        func pausedStorm(seed: UInt64) async throws {
            print("paused storm: seed \(seed)")
            var generator = SeededGenerator(seed: seed)
            let server = try LoopbackServer { _ in .generated(length: 4 << 20) }
            defer { server.stop() }
            let transport = try CurlTransport()
            for _ in 0..<(TestExtent.isWhole ? 10 : 3) {
                let gate = Gate()
                let size = Locked(0)
                let started = try (0..<20).map { number in
                    transport.begin(
                        try .to(server, "/\(number)"),
                        recorder: EventRecorder {
                            size.with { $0 += 1 }
                            gate.wait()
                        })
                }
                #expect(await eventually { size.value > 0 })
                let cancelled = started.map { _ in Bool.random(using: &generator) }
                let opensFirst = Bool.random(using: &generator)
                if opensFirst { gate.open() }
                for (started, isCancelled) in zip(started, cancelled) where isCancelled {
                    DispatchQueue.global().async { started.recorder.cancel(started.exchange) }
                    DispatchQueue.global().async { started.exchange.cancel() }
                }
                gate.open()
                for (started, isCancelled) in zip(started, cancelled) {
                    let recorder = await started.end()
                    #expect(recorder.violations == [])
                    if !isCancelled { #expect(recorder.failure == nil && recorder.body.count == 4 << 20) }
                }
            }
            let last = await transport.run(try .to(server, "/last"))
            #expect(last.body.count == 4 << 20)
        }
    }

    /// Notes from where it is read and written.
    private final class NotingVariable: TokenCredentialWritable {
        private let stored = Locked(TokenCredential(accessToken: "A0", expiresAt: .distantFuture, refreshToken: "R0"))
        private let note: @Sendable (String) -> Void

        init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

        var tokenCredential: TokenCredential {
            get {
                note("getter")
                return stored.value
            }
            set {
                note("setter")
                stored.with { $0 = newValue }
            }
        }
    }
#endif
