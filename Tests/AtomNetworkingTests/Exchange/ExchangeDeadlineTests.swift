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

    /// Starts exchanges whose server has answered, as far as `arrived` says, and whose transport hasn't looked.
    private struct SleepingTransport: Transport {
        let base = ScriptedTransport.held()
        let arrived: @Sendable (ScriptedExchange) -> Void
        /// Whether the transport never says that it has looked.
        var isStuck = false
        /// What it would say then.
        let unsaid = Locked<[@Sendable () -> Void]>([])

        func start(
            _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportExchange {
            let running = base.start(request, receive: receive)
            return Started(base: running, exchange: base.exchanges[base.exchanges.count - 1], transport: self)
        }

        private struct Started: TransportExchange {
            let base: any TransportExchange
            let exchange: ScriptedExchange
            let transport: SleepingTransport

            func cancel() { base.cancel() }

            func catchUp(_ done: @escaping @Sendable () -> Void) {
                transport.arrived(exchange)
                if transport.isStuck { transport.unsaid.with { $0.append(done) } } else { done() }
            }
        }
    }

    private func start(_ transport: SleepingTransport, request: Double, resource: Double) -> Call {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"),
            timeout: ServiceTimeout(request: request, resource: resource))
        configuration.transport = transport
        let call = Call()
        call.keep(Atom(configuration, time: time).enqueue(PathEndpoint()).resume { call.heard($0) })
        return call
    }

    @Test(
        "What has arrived by the time a deadline is handled counts", arguments: [(10, 100), (100, 10)], [false, true])
    func arrived(timeout: (request: Double, resource: Double), isStuck: Bool) async {
        let transport = SleepingTransport(arrived: { $0.answer() }, isStuck: isStuck)
        let call = start(transport, request: timeout.request, resource: timeout.resource)
        time.advance(by: .seconds(3_600))
        #expect(await call.status() == 200)
    }

    @Test("A transport that looks for ever, or finds a part only, puts no deadline off by more than a moment")
    func looksForEver() async {
        for (arrived, isStuck) in [(false, true), (true, true), (true, false)] {
            let transport = SleepingTransport(
                arrived: { exchange in
                    if arrived { exchange.send(.response(TransportResponse(statusCode: 200))) }
                }, isStuck: isStuck)
            let call = start(transport, request: 10, resource: 10)
            time.advance(by: .seconds(10))
            #expect(transport.base.exchanges[0].isCancelled == !isStuck)
            time.advance(by: Duration.look)
            #expect(transport.base.exchanges[0].isCancelled)
            #expect(await call.error()?.delivery == (arrived ? .answered : .maybeSent))
        }
    }

    @Test("A transport that says late that it has looked doesn't end the next look")
    func looksLate() async {
        let hasArrived = Locked(false)
        let transport = SleepingTransport(
            arrived: { exchange in
                if !hasArrived.value { exchange.send(.sent(1)) }
                hasArrived.set(true)
            }, isStuck: true)
        let call = start(transport, request: 10, resource: 100)
        time.advance(by: .seconds(10))
        time.advance(by: Duration.look)
        time.advance(by: .seconds(10) - Duration.look)
        #expect(transport.unsaid.value.count == 2)
        transport.unsaid.value.first?()
        #expect(call.count == 0)
        transport.base.exchanges[0].answer()
        #expect(await call.status() == 200)
    }

    @Test("What has arrived of a rest that isn't needed leaves its connection open")
    func rest() async {
        let transport = SleepingTransport(arrived: { $0.send(.finished) })
        let call = start(transport, request: 10, resource: 10)
        transport.base.exchanges[0].redirect(to: "/again")
        time.advance(by: AttemptOnWire.unwantedRestDuration)
        #expect(!transport.base.exchanges[0].isCancelled)
        transport.base.exchanges[1].answer()
        #expect(await call.status() == 200)
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
