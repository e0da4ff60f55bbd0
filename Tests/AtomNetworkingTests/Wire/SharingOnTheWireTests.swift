import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Identical requests share one exchange on the wire", .limited)
struct SharingOnTheWireTests {
    private struct Endpoint: Requestable {
        let wire: WireEndpoint
        var sharesIdenticalRequests = true

        func baseURL() throws(AtomError) -> BaseURL { try wire.baseURL() }
        func path() throws(AtomError) -> URLPath { try wire.path() }
    }

    @Test(
        "Five identical requests are one request at the server, and five without the property",
        arguments: [true, false], TransportUnderTest.all)
    func five(shares: Bool, over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json(#"{"seat":"12A"}"#).after(gate) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let endpoint = Endpoint(wire: server.endpoint("/seats"), sharesIdenticalRequests: shares)
        async let texts = withTaskGroup(of: String?.self) { group in
            for _ in 0..<5 { group.addTask { await atom.enqueue(endpoint).outcome().text } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        if shares { #expect(await atom.hasSharers(5)) }
        await server.waitForRequests(shares ? 1 : 5)
        gate.open()
        #expect(await texts == Array(repeating: #"{"seat":"12A"}"#, count: 5))
        #expect(server.requests.count == (shares ? 1 : 5))
        #expect(try await atom.enqueue(endpoint).resume().statusCode == 200)
        #expect(server.requests.count == (shares ? 2 : 6), "the next one is sent")
    }

    @Test("Only the last caller who leaves closes the connection", arguments: TransportUnderTest.all)
    func leaving(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let endpoint = Endpoint(wire: server.endpoint("/seats"))
        let calls = (0..<3).map { _ in atom.call(endpoint) }
        await server.waitForRequests(1)
        calls[0].cancel()
        calls[1].cancel()
        for call in calls[..<2] { #expect(await call.error()?.isCancelled == true) }
        gate.open()
        #expect(await calls[2].status() == 200)
        #expect(server.requests.count == 1)
        #expect(await eventually { atom.manager.slots.counts == (0, 0) })
    }
}
