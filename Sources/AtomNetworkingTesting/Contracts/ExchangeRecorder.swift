import AtomNetworking
import Foundation

/// Records the events of one exchange, and what of them must not be.
final class ExchangeRecorder: Sendable {
    private struct State {
        var events: [TransportEvent] = []
        var receiving = 0
        var complaints: [String] = []
        var cancelling: ObjectIdentifier?
        var exchange: (any TransportExchange)?
        var actions: [@Sendable (TransportEvent, (any TransportExchange)?) -> Void] = []
    }

    private let state = Guarded(State())
    private let end = Arrival<Bool>()
    private let firstData = Arrival<Bool>()
    private let wantsMetrics: Bool

    init(wantsMetrics: Bool = false) { self.wantsMetrics = wantsMetrics }

    /// Starts an exchange and records it.
    func start(_ request: TransportRequest, over transport: any Transport) {
        let exchange = transport.start(request) { [self] in receive($0) }
        state.withLock { $0.exchange = exchange }
    }

    /// Runs inside `receive` for each event.
    func whenReceiving(_ action: @escaping @Sendable (TransportEvent, (any TransportExchange)?) -> Void) {
        state.withLock { $0.actions.append(action) }
    }

    private func receive(_ event: TransportEvent) {
        let (actions, exchange) = state.withLock { state in
            state.receiving += 1
            if state.receiving > 1 { state.complaints.append("two events at a time") }
            if state.cancelling == ObjectIdentifier(Thread.current) {
                state.complaints.append("an event inside `cancel`: \(event)")
            }
            state.events.append(event)
            return (state.actions, state.exchange)
        }
        // Two threads that deliver at the same time meet here.
        for _ in 0..<5 { sched_yield() }
        for action in actions { action(event, exchange) }
        state.withLock { $0.receiving -= 1 }
        switch event {
        case .data: firstData.arrive(true)
        case .finished, .failed: end.arrive(true)
        default: break
        }
    }

    /// Cancels from this thread.
    func cancel() {
        let exchange = state.withLock { state in
            state.cancelling = ObjectIdentifier(Thread.current)
            return state.exchange
        }
        exchange?.cancel()
        state.withLock { $0.cancelling = nil }
    }

    var exchange: (any TransportExchange)? { state.withLock { $0.exchange } }

    /// Lets go of the exchange, which may hold its receiver, and this with it.
    func letGo() { _ = state.withLock { $0.exchange.take() } }

    /// Whether the exchange ends in time.
    func hasEnded(within patience: Duration) async -> Bool { await end.wait(patience) ?? false }

    /// Whether the exchange has ended.
    var isOver: Bool { end.value != nil }

    /// Whether a part of the body comes in time.
    func hasData(within patience: Duration) async -> Bool { await firstData.wait(patience) ?? false }

    var events: [TransportEvent] { state.withLock { $0.events } }

    var response: TransportResponse? {
        for case .response(let response) in events { return response }
        return nil
    }

    var body: Data {
        events.reduce(into: Data()) { body, event in if case .data(let data) = event { body.append(data) } }
    }

    var sent: Int64 {
        events.reduce(0) { sum, event in if case .sent(let count) = event { sum + Int64(count) } else { sum } }
    }

    var failure: TransportFailure? {
        for case .failed(let failure) in events { return failure }
        return nil
    }

    /// Whether it ended with a complete response.
    var isFinished: Bool { events.contains { if case .finished = $0 { true } else { false } } }

    /// What breaks the order of events, for an exchange that has ended.
    var disorder: [String] {
        var problems = state.withLock { $0.complaints }
        var hasResponse = false
        var ends = 0
        var measured = 0
        for event in events {
            if ends > 0 { problems.append("an event after the last one: \(event)") }
            if measured > 0 {
                switch event {
                case .finished, .failed: break
                default: problems.append("an event between `measured` and the last one: \(event)")
                }
            }
            switch event {
            case .response:
                if hasResponse { problems.append("two heads") }
                hasResponse = true
            case .data:
                if !hasResponse { problems.append("a part of the body before the head") }
            case .measured:
                measured += 1
                if measured > 1 { problems.append("`measured` twice") }
                if !wantsMetrics { problems.append("`measured` that nobody wants") }
            case .finished:
                if !hasResponse { problems.append("an end without a head") }
                ends += 1
            case .failed: ends += 1
            case .sent(let count): if count < 0 { problems.append("\(count) bytes sent") }
            @unknown default: break
            }
        }
        if ends == 0 { problems.append("no last event") }
        return problems
    }
}
