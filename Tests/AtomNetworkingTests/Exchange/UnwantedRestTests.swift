import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The rest of a response that was judged by its head, by a clock that the test
/// holds.
@Suite("The rest of a response that is not needed", .limited)
struct UnwantedRestTests {
    private let time = ManualClock()

    private func start(_ transport: ScriptedTransport, limit: Int? = nil) -> (call: Call, atom: Atom) {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"),
            timeout: ServiceTimeout(request: 100, resource: 1_000))
        configuration.transport = transport
        configuration.maximumExchangesPerOrigin = limit
        let atom = Atom(configuration, time: time)
        let call = Call()
        call.keep(atom.enqueue(PathEndpoint()).resume { call.heard($0) })
        return (call, atom)
    }

    private static func redirect(_ exchange: ScriptedExchange) {
        exchange.send(
            .response(
                TransportResponse(
                    statusCode: 302, headerFields: HeaderFields([.init(name: "Location", value: "/next")]))))
    }

    @Test("The next attempt starts at the head of a redirect, with the only slot")
    func atOnce() async {
        let transport = ScriptedTransport.held()
        let (call, atom) = start(transport, limit: 1)
        Self.redirect(transport.exchanges[0])
        #expect(transport.exchanges.count == 2)
        #expect(atom.manager.slots.counts == (1, 0))
        transport.exchanges[1].answer("{}")
        #expect(await call.outcome().text == "{}")
        #expect(atom.manager.slots.counts == (0, 0))
        // Only the rest of the redirect has a deadline.
        #expect(atom.manager.deadlines.count == 1)
        transport.exchanges[0].send(.finished)
        #expect(atom.manager.deadlines.count == 0)
        #expect(transport.cancelled == 0)
        #expect(atom.manager.slots.counts == (0, 0))
    }

    @Test("A rest that takes 50 milliseconds is stopped, also after the outcome")
    func tooLong() async {
        let transport = ScriptedTransport.held()
        let (call, atom) = start(transport)
        Self.redirect(transport.exchanges[0])
        transport.exchanges[1].answer("{}")
        _ = await call.outcome()
        time.advance(by: .milliseconds(49))
        #expect(!transport.exchanges[0].isCancelled)
        time.advance(by: .milliseconds(1))
        #expect(transport.exchanges[0].isCancelled)
        #expect(!transport.exchanges[1].isCancelled)
        #expect(atom.manager.deadlines.count == 0)
    }

    @Test("A rest of more than 64 KiB is stopped at once, and no part of it is taken for the next response")
    func tooMuch() async {
        let transport = ScriptedTransport.held()
        let (call, _) = start(transport)
        Self.redirect(transport.exchanges[0])
        transport.exchanges[0].send(.data(Data(count: 1 << 16)))
        #expect(!transport.exchanges[0].isCancelled)
        transport.exchanges[0].send(.data(Data(count: 1)))
        #expect(transport.exchanges[0].isCancelled)
        transport.exchanges[1].answer("{}")
        #expect(await call.outcome().text == "{}")
    }

    @Test("The end of an older attempt ends nothing", arguments: [true, false])
    func olderEnd(isLost: Bool) async {
        let transport = ScriptedTransport.held()
        let (call, atom) = start(transport, limit: 1)
        Self.redirect(transport.exchanges[0])
        transport.exchanges[1].send(.response(TransportResponse(statusCode: 200)))
        if isLost {
            transport.exchanges[0].fail(.networkConnectionLost)
        } else {
            transport.exchanges[0].send(.finished)
        }
        #expect(call.count == 0)
        #expect(atom.manager.slots.counts == (1, 0))
        transport.exchanges[1].send(.data(Data("{}".utf8)))
        transport.exchanges[1].send(.finished)
        #expect(await call.outcome().text == "{}")
    }

    @Test("The body of a 401 has half a second while the session refreshes")
    func unauthorized() async throws {
        let session = try SessionFixture()
        let call = session.call()
        let first = await session.transport.exchange(0)
        first.send(.response(TransportResponse(statusCode: 401)))
        let refresh = await session.transport.exchange(1)
        session.time.advance(by: .milliseconds(499))
        #expect(!first.isCancelled)
        session.time.advance(by: .milliseconds(1))
        #expect(first.isCancelled)
        refresh.grant(1)
        await session.transport.exchange(2).answer("{}")
        #expect(await call.outcome().text == "{}")
        #expect(session.transport.exchanges.count == 3)
    }
}
