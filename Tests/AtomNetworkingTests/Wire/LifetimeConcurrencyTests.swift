import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct LifetimeConcurrencyTests {
    /// The objects that must be released at the end.
    private struct Remains {
        weak var transport: AnyObject?
        weak var delegate: ExchangeDelegate?
        weak var manager: RequestableQueueManager?

        init(_ manager: RequestableQueueManager) {
            self.manager = manager
            transport = manager.transport as AnyObject
            delegate = (manager.transport as? URLSessionTransport)?.delegate
        }

        var isEmpty: Bool { transport == nil && delegate == nil && manager == nil }
    }

    private func service(
        _ server: LoopbackServer, _ path: String = "/", over transport: TransportUnderTest
    ) -> (Service, Remains) {
        let manager = RequestableQueueManager(.forTest(over: transport.make()))
        return (Service(server.endpoint(path), RequestSharing(manager)), Remains(manager))
    }

    @Test(arguments: TransportUnderTest.all)
    func aServiceOutlivesItsAtom(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint())
        for _ in 0..<3 { #expect(await service.outcome().response?.statusCode == 200) }
    }

    @Test(arguments: TransportUnderTest.all)
    func nothingIsLeftOnceAllIsDone(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        var (service, remains): (Service?, Remains) = service(server, over: transport)
        for _ in 0..<3 { #expect(await service?.outcome().response?.statusCode == 200) }
        #expect(!remains.isEmpty)
        service = nil
        #expect(await eventually { remains.isEmpty })
    }

    @Test(arguments: TransportUnderTest.all)
    func nothingIsLeftWhereNothingWasSent(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        var (service, remains): (Service?, Remains) = service(server, over: transport)
        #expect(service != nil)
        service = nil
        #expect(await eventually { remains.isEmpty })
    }

    @Test(arguments: TransportUnderTest.all)
    func aRequestInFlightGoesOnWhenEverythingIsDropped(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .text("still here").after(gate) }
        defer { server.stop() }
        let heard = Locked<[Result<AtomResponse, AtomError>]>([])
        var (service, remains): (Service?, Remains) = service(server, over: transport)
        service?.resume { result in heard.with { $0.append(result) } }
        service = nil
        #expect(await server.waitForRequests(1))
        #expect(heard.value.isEmpty)
        gate.open()
        #expect(await eventually { !heard.value.isEmpty })
        #expect(await eventually { remains.isEmpty })
        #expect(heard.value.map(\.text) == ["still here"])
    }

    @Test(arguments: TransportUnderTest.all)
    func whoWaitsForASlotWhenEverythingIsDroppedIsSentAllTheSame(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let heard = Locked(0)
        do {
            let atom = Atom.forTest(over: transport) { $0.maximumExchangesPerOrigin = 1 }
            for _ in 0..<5 { atom.enqueue(server.endpoint()).resume { _ in heard.with { $0 += 1 } } }
        }
        #expect(await server.waitForRequests(1))
        gate.open()
        #expect(await eventually { heard.value == 5 })
        #expect(server.requestCount == 5)
    }

    @Test(arguments: ["/hang", "/drip", "/basic", "/reset", "/garbage"], TransportUnderTest.all)
    func nothingIsLeftAfterACancellationOrAFailure(path: String, over transport: TransportUnderTest) async throws {
        let routes: [String: LoopbackServer.Handler] = [
            "/hang": { _ in .hang }, "/drip": { _ in .streamed([.write(text: "a"), .hang]) },
            "/basic": { _ in .challenge(#"Basic realm="x""#) }, "/reset": { _ in .reset },
            "/garbage": { _ in .raw("what?\r\n") },
        ]
        let server = try LoopbackServer(handler: LoopbackServer.routes(routes))
        defer { server.stop() }
        var (service, remains): (Service?, Remains) = service(server, path, over: transport)
        let task = Task { [service] in await service?.outcome() }
        #expect(await server.waitForRequests(1))
        task.cancel()
        #expect(await task.value?.error != nil)
        service = nil
        #expect(await eventually { remains.isEmpty })
        #expect(await server.waitForOpenConnections(atMost: 0), "the connection is closed")
    }

    @Test(arguments: TransportUnderTest.all)
    func manySessionsComeAndGo(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let endpoint = server.endpoint()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    #expect(await Atom.forTest(over: transport).outcome(of: endpoint).response?.statusCode == 200)
                }
            }
        }
        #expect(await server.waitForOpenConnections(atMost: 0))
    }
}
