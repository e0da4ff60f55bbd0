import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Inside URLSession on Linux waiting requests run into their timeouts, without
/// order.
@Suite(.limited(minutes: 10)) struct SlotConcurrencyTests {
    /// Starts the endpoints in order and waits for all outcomes.
    private func outcomes(
        _ atom: Atom, _ endpoints: [WireEndpoint]
    ) async -> [Result<AtomResponse, AtomError>] {
        let services = endpoints.map { atom.enqueue($0) }
        let arrived = Locked<[Int: Result<AtomResponse, AtomError>]>([:])
        await withCheckedContinuation { continuation in
            for (index, service) in services.enumerated() {
                service.resume { result in
                    let isLast = arrived.with { arrived -> Bool in
                        arrived[index] = result
                        return arrived.count == services.count
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        return services.indices.compactMap { arrived.value[$0] }
    }

    @Test(arguments: TransportUnderTest.all)
    func requestsReachTheServerInTheOrderOfTheirCalls(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumExchangesPerOrigin = 1 }
        let outcomes = await outcomes(atom, (0..<100).map { server.endpoint("/\($0)") })
        #expect(outcomes.allSatisfy { $0.response?.statusCode == 200 })
        #expect(server.requests.map(\.path) == (0..<100).map { "/\($0)" })
        #expect(server.mostRequestsAtOnce == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func waitingForASlotDoesNotEatTheIdleTimeout(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let time = ManualClock()
        let atom = Atom.forTest(over: transport, request: 5, resource: 1_000, time: time) {
            $0.maximumExchangesPerOrigin = 1
        }
        var endpoints = (0..<12).map { _ in server.endpoint() }
        endpoints[0].timeout = ServiceTimeout(request: 1_000, resource: 1_000)
        async let all = outcomes(atom, endpoints)
        #expect(await server.waitForRequests(1))
        #expect(await eventually { atom.manager.slots.counts == (1, 11) })
        time.advance(by: .seconds(100))
        gate.open()
        let outcomes = await all
        #expect(outcomes.count == 12 && outcomes.allSatisfy { $0.response?.statusCode == 200 })
    }

    @Test(arguments: TransportUnderTest.all)
    func waitingForASlotCountsInTheResourceTimeout(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let time = ManualClock()
        let atom = Atom.forTest(over: transport, time: time) { $0.maximumExchangesPerOrigin = 1 }
        var endpoints = Array(repeating: server.endpoint(), count: 3)
        for index in endpoints.indices { endpoints[index].timeout = .init(request: 20, resource: index == 0 ? 6 : 0.4) }
        async let all = outcomes(atom, endpoints)
        #expect(await server.waitForRequests(1))
        #expect(await eventually { atom.manager.slots.counts == (1, 2) })
        time.advance(by: .seconds(6))
        let outcomes = await all
        #expect(outcomes.map { $0.urlError?.code } == [.timedOut, .timedOut, .timedOut])
        #expect(outcomes.map { $0.error?.delivery } == [.maybeSent, .notSent, .notSent])
        #expect(server.requestCount == 1)
    }

    /// They have given their places back, and need connections of their own.
    @Test(arguments: TransportUnderTest.all)
    func streamsThatAreReadHoldNoRequestUp(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { request in
            request.path == "/stream" ? .streamed([.write(text: "."), .wait(gate)]) : .json("{}")
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        var streams: [ResponseStream<Data>] = []
        for _ in 0..<20 { streams.append(try await atom.enqueue(server.endpoint("/stream")).bytes()) }
        #expect(await atom.outcome(of: server.endpoint("/")).response?.statusCode == 200)
        gate.open()
        for stream in streams { for try await _ in stream {} }
    }

    // The number of AsyncHTTPClient is another one.
    @Test(arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func sixAreOnTheWireAtOnceByDefaultOnLinux(over transport: TransportUnderTest) async throws {
        #if os(Linux)
            let gate = Gate()
            let server = try LoopbackServer { _ in .json("{}").after(gate) }
            defer { server.stop() }
            let atom = Atom.forTest(over: transport)
            async let all = outcomes(atom, (0..<20).map { server.endpoint("/\($0)") })
            #expect(await server.waitForRequestsInProgress(6))
            gate.open()
            let statuses = await all.map { $0.response?.statusCode }
            #expect(statuses == Array(repeating: 200, count: 20))
            #expect(server.mostRequestsAtOnce == 6)
        #endif
    }

    @Test(arguments: TransportUnderTest.all)
    func aSlotComesBackFromWhateverEndsAnExchange(over transport: TransportUnderTest) async throws {
        let routes: [String: LoopbackServer.Handler] = [
            "/empty": { _ in .closeImmediately }, "/reset": { _ in .reset }, "/hang": { _ in .hang },
            "/large": { _ in .generated(length: 1 << 20) }, "/garbage": { _ in .raw("who?\r\n") },
            "/loop": { _ in .redirect(302, location: "/loop") }, "/ok": { _ in .json("{}") },
            "/basic": { _ in .challenge(#"Basic realm="x""#) },
        ]
        let server = try LoopbackServer(handler: LoopbackServer.routes(routes))
        defer { server.stop() }
        let time = ManualClock()
        let atom = Atom.forTest(over: transport, time: time) {
            $0.maximumExchangesPerOrigin = 1
            $0.maximumResponseSize = 1_000
        }
        var endpoints = ["/empty", "/reset", "/hang", "/large", "/garbage", "/loop", "/basic"].map {
            server.endpoint($0)
        }
        endpoints[2].timeout = ServiceTimeout(request: 0.2)
        let outcomes = await time.skippingPauses(upTo: .milliseconds(200)) {
            await self.outcomes(atom, endpoints + [server.endpoint("/ok")])
        }
        #expect(outcomes.dropLast().allSatisfy { $0.error != nil })
        #expect(outcomes.last?.response?.statusCode == 200)
    }

    @Test(arguments: TransportUnderTest.all)
    func originsDoNotWaitForEachOther(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let slow = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { slow.stop() }
        let quick = try LoopbackServer { _ in .json("{}") }
        defer { quick.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumExchangesPerOrigin = 1 }
        async let held = atom.outcome(of: slow.endpoint())
        #expect(await slow.waitForRequests(1))
        #expect(await atom.outcome(of: quick.endpoint()).response?.statusCode == 200)
        gate.open()
        #expect(await held.response?.statusCode == 200)
    }

    @Test(arguments: TransportUnderTest.all)
    func aThousandAtOnceAllComeBack(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in .text(request.path) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let outcomes = await outcomes(atom, (0..<1_000).map { server.endpoint("/\($0)") })
        #expect(outcomes.map(\.text) == (0..<1_000).map { "/\($0)" })
        #expect(server.requestCount == 1_000)
    }
}
