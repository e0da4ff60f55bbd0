import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The two timeouts, by a clock that the test holds.
@Suite(.limited) struct ExchangeDeadlineTests {
    private let time = ManualClock()

    private func start(
        _ transport: ScriptedTransport, request: Double = 10, resource: Double = 100
    ) -> Call {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"),
            timeout: ServiceTimeout(request: request, resource: resource))
        configuration.transport = transport
        let call = Call()
        call.keep(Atom(configuration, time: time).enqueue(PathEndpoint()).resume { call.heard($0) })
        return call
    }

    @Test func silenceEndsAnExchangeExactlyWhenItsIdleTimeIsUp() async {
        let transport = ScriptedTransport.held()
        let call = start(transport)
        time.advance(by: .milliseconds(9_999))
        #expect(!transport.exchanges[0].isCancelled)
        time.advance(by: .milliseconds(1))
        #expect(await call.error()?.delivery == .maybeSent)
        #expect(transport.exchanges[0].isCancelled)
    }

    @Test(
        "Whatever goes either way puts the idle timeout off",
        arguments: [TransportEvent.sent(1), .response(TransportResponse(statusCode: 200)), .data(Data([1]))])
    func activity(event: TransportEvent) async {
        let transport = ScriptedTransport.held()
        let call = start(transport)
        for _ in 0..<5 {
            time.advance(by: .seconds(9))
            transport.exchanges[0].send(event)
        }
        #expect(call.count == 0)
        time.advance(by: .seconds(10))
        guard case .session(let error as URLError) = await call.error() else {
            Issue.record("no time-out")
            return
        }
        #expect(error.code == .timedOut)
    }

    @Test func theResourceTimeoutEndsWhatIsNeverIdle() async {
        let transport = ScriptedTransport.held()
        let call = start(transport)
        for _ in 0..<20 where call.count == 0 {
            time.advance(by: .seconds(5))
            transport.exchanges[0].send(.data(Data([1])))
        }
        #expect(await call.error()?.description.contains("did not complete") == true)
    }

    @Test func aRedirectStartsTheIdleTimeAnewButNotTheWhole() async {
        let transport = ScriptedTransport.held()
        let call = start(transport, request: 10, resource: 15)
        time.advance(by: .seconds(9))
        transport.exchanges[0].redirect(to: "/again")
        time.advance(by: .milliseconds(5_999))
        #expect(!transport.exchanges[1].isCancelled)
        time.advance(by: .milliseconds(1))
        #expect(await call.error()?.delivery == .maybeSent)
        #expect(transport.exchanges[1].isCancelled)
    }

    @Test func whatWaitsForASlotHasOnlyItsResourceTimeout() async {
        let transport = ScriptedTransport.held(exchangesPerOrigin: 1)
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 1_000, resource: 1_000)
        )
        configuration.transport = transport
        let atom = Atom(configuration, time: time)
        atom.enqueue(PathEndpoint(pathText: "/first")).resume { _ in }
        let waiting = Call()
        let endpoint = PathEndpoint(pathText: "/second", timeout: ServiceTimeout(request: 1, resource: 50))
        atom.enqueue(endpoint).resume { waiting.heard($0) }
        time.advance(by: .seconds(49))
        #expect(waiting.count == 0)
        time.advance(by: .seconds(1))
        #expect(await waiting.error()?.delivery == .notSent)
        #expect(transport.exchanges.count == 1)
    }

    /// The first one's end frees the slot while the others' deadlines, which have passed too, are still to be handled.
    @Test func ofManyDeadlinesThatPassAtOnceNoneLetsTheNextBeSent() async {
        let transport = ScriptedTransport.held(exchangesPerOrigin: 1)
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 10, resource: 1))
        configuration.transport = transport
        let atom = Atom(configuration, time: time)
        let calls = (0..<5).map { _ in Call() }
        for call in calls { atom.enqueue(PathEndpoint()).resume { call.heard($0) } }
        time.advance(by: .seconds(1))
        for (number, call) in calls.enumerated() {
            #expect(await call.error()?.delivery == (number == 0 ? .maybeSent : .notSent))
        }
        #expect(transport.exchanges.count == 1)
        // That of the first one is given back when the transport has ended it.
        #expect(await eventually { atom.manager.slots.counts == (0, 0) })
    }
}
