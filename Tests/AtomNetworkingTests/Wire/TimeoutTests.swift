import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Foundation on Linux truncates timeouts to whole seconds, fails at once below
/// one second, traps on huge values and ignores the resource timeout.
@Suite(.limited) struct TimeoutTests {
    @Test(arguments: TransportUnderTest.all)
    func aFractionalIdleTimeoutEndsASilentExchange(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let time = ManualClock()
        let start = time.now
        let call = Atom.forTest(over: transport, request: 0.3, time: time).call(server.endpoint())
        #expect(await server.waitForRequests(1))
        let outcome = await time.skippingPauses(upTo: .milliseconds(300)) { await call.outcome() }

        #expect(outcome.urlError?.code == .timedOut)
        #expect(outcome.error?.delivery == .maybeSent)
        #expect(start.duration(to: time.now) >= .milliseconds(300))
        #expect(outcome.error?.description.contains(": nothing came or went for 0.3") == true)
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test(arguments: TransportUnderTest.all)
    func aDrippingServerNeverRunsIntoTheIdleTimeout(over transport: TransportUnderTest) async throws {
        let gates = (0..<20).map { _ in Gate() }
        let server = try LoopbackServer { _ in .streamed(gates.flatMap { [.write(text: "."), .wait($0)] }) }
        defer { server.stop() }
        let time = ManualClock()
        let stream = try await Atom.forTest(over: transport, request: 3, time: time).enqueue(server.endpoint()).bytes()
        var iterator = stream.makeAsyncIterator()
        for gate in gates {
            #expect(try await iterator.next() == Data(".".utf8))
            time.advance(by: .milliseconds(2_900))
            gate.open()
        }
        #expect(try await iterator.next() == nil)
    }

    #if os(Linux)
        @Test(
            "Whatever arrives is a sign of life",
            arguments: [
                Array(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 5) + ["HTTP/1.1 200 OK\r\n"],
                // Newer versions of libcurl pass a line on when the next one is there.
                ["HTTP/1.1 200 OK\r\nA: b\r\n", "C: d\r\nE: f\r\n", "G: h\r\nI: j\r\n"],
                ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n", "C: d\r\n", "E: f\r\n"],
                // The start of a stored block has no bytes.
                ["HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 99\r\n\r\n"]
                    + ["x", "\u{1}", "\0", "\u{5}", "\0"],
            ])
        func signsOfLife(pieces: [String]) async throws {
            let gates = pieces.map { _ in Gate() }
            let server = try LoopbackServer { _ in
                .script(zip(pieces, gates).flatMap { [.write(text: $0), .wait($1)] } + [.close])
            }
            defer { server.stop() }
            let (time, signs) = (ManualClock(), Locked(0))
            let spy = SpyTransport(base: try CurlTransport()) { event in
                // The request itself is no sign of the server.
                if case .sent(1...) = event { return }
                signs.with { $0 += 1 }
            }
            let call = Task {
                await Atom(.forTest(over: spy, request: 3, time: time)).outcome(of: server.endpoint())
            }
            var before = 0
            for (piece, gate) in zip(pieces, gates) {
                #expect(await eventually { signs.value > before }, "\(piece)")
                before = signs.value
                time.advance(by: .milliseconds(2_900))
                gate.open()
            }
            // The server broke off.
            #expect(await call.value.urlError?.code != .timedOut)
        }
    #endif

    @Test(arguments: TransportUnderTest.all)
    func theResourceTimeoutEndsADrippingExchange(over transport: TransportUnderTest) async throws {
        let gates = (0..<20).map { _ in Gate() }
        // It never ends: its last parts may come before the exchange is cancelled.
        let last = Gate()
        let server = try LoopbackServer { _ in
            .streamed(gates.flatMap { [.write(text: "."), .wait($0)] } + [.wait(last)])
        }
        defer { server.stop() }
        let time = ManualClock()
        let start = time.now
        let closed = Locked(gates)
        let spy = SpyTransport(base: transport.make()) { event in
            guard case .data = event else { return }
            time.advance(by: .milliseconds(100))
            closed.with { $0.removeFirst() }.open()
        }
        let atom = Atom(.forTest(over: spy, request: 10, resource: 0.5, time: time))
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .timedOut)
        #expect(outcome.error?.delivery == .answered)
        #expect(outcome.error?.description.contains("did not complete in 0.5") == true)
        #expect(start.duration(to: time.now) >= .milliseconds(500))
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test(arguments: TransportUnderTest.all)
    func whatHasArrivedWhenTheResourceTimeoutIsHandledCounts(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("in time") }
        defer { server.stop() }
        let (time, isHeldUp, release) = (ManualClock(), Signal(), DispatchSemaphore(value: 0))
        let observer = RecordingObserver { event in
            guard case .answered = event.kind else { return }
            isHeldUp.raise()
            release.wait()
        }
        let atom = Atom.forTest(over: transport, request: 10, resource: 10, time: time) { $0.observers = [observer] }
        let call = atom.call(server.endpoint())
        await isHeldUp.wait()
        time.advance(by: .seconds(10))
        release.signal()
        #expect(await call.outcome().text == "in time")
    }

    @Test(arguments: TransportUnderTest.all)
    func theResourceTimeoutSpansRedirects(over transport: TransportUnderTest) async throws {
        let time = ManualClock()
        let server = try LoopbackServer { _ in
            time.advance(by: .seconds(1))
            return .redirect(302, location: "/again")
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport, resource: 3, time: time) {
            $0.redirectLimit = 1_000
        }
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .timedOut)
        #expect(server.requestCount == 3)
    }

    @Test(
        "A tiny timeout ends what isn't answered",
        arguments: [
            (1e-300, 60, "nothing came or went"), (0.001, 60, "nothing came or went"), (60, 1e-300, "did not complete"),
            (60, 0.001, "did not complete"), (1e-300, 1e-300, ""),
        ], TransportUnderTest.all)
    func tiny(
        _ timeout: (request: Double, resource: Double, words: String), over transport: TransportUnderTest
    ) async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let atom = Atom.forTest(
            over: transport, request: timeout.request, resource: timeout.resource, time: SystemTimeSource())
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .timedOut)
        #expect(timeout.words.isEmpty || outcome.error?.description.contains(timeout.words) == true)
    }

    @Test(
        "A huge timeout ends nothing",
        arguments: [(1e18, 1e18), (.infinity, .infinity), (.greatestFiniteMagnitude, 1e9)], TransportUnderTest.all)
    func huge(_ timeout: (request: Double, resource: Double), over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(
            over: transport, request: timeout.request, resource: timeout.resource, time: SystemTimeSource())
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.response?.statusCode == 200)
    }

    @Test(arguments: [0, -1, .nan, -.infinity] as [Double], TransportUnderTest.all)
    func whatIsNoTimeoutIsRefused(seconds: Double, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        for timeout in [ServiceTimeout(request: seconds), ServiceTimeout(resource: seconds)] {
            var endpoint = server.endpoint()
            endpoint.timeout = timeout
            let outcome = await Atom.forTest(over: transport).outcome(of: endpoint)
            guard case .failure(.requestable(.invalidTimeout)) = outcome else {
                Issue.record("\(outcome)")
                return
            }
        }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: TransportUnderTest.all)
    func anEndpointsOwnTimeoutWins(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        var endpoint = server.endpoint()
        endpoint.timeout = ServiceTimeout(request: 0.2)
        let time = ManualClock()
        let call = Atom.forTest(over: transport, request: 60, resource: 60, time: time).call(endpoint)
        #expect(await server.waitForRequests(1))
        let outcome = await time.skippingPauses(upTo: .milliseconds(200)) { await call.outcome() }
        #expect(outcome.urlError?.code == .timedOut)
        #expect(outcome.error?.description.contains(": nothing came or went for 0.2") == true)
    }

    @Test(arguments: TransportUnderTest.all)
    func aSlowUploadThatIsBeingReadIsNotIdle(over transport: TransportUnderTest) async throws {
        let body = Data(count: 8 << 20)
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let time = ManualClock()
        let start = time.now
        // Each part takes nine seconds.
        let slow = SpyTransport(base: transport.make()) { if case .sent = $0 { time.advance(by: .seconds(9)) } }
        let atom = Atom(.forTest(over: slow, request: 10, resource: 1e6, time: time))
        let outcome = await atom.outcome(of: server.endpoint(method: .put(body)))
        #expect(outcome.response?.statusCode == 200)
        #expect(start.duration(to: time.now) > .seconds(10))
        #expect(server.requests.first?.bodyLength == Int64(body.count))
    }
}
