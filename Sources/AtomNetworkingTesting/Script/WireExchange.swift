import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange of a ``ScriptedTransport``.
///
/// Any thread may add events. One thread at a time sends them, in order, and
/// outside the lock.
final class WireExchange: TransportExchange {
    private struct State {
        /// `nil` when the last event is on its way.
        var receive: (@Sendable (TransportEvent) -> Void)?
        var events: [TransportEvent] = []
        var isSending = false
        var isCancelled = false
        /// Whether it waits for the test.
        var isHeld = false
        /// Lets a delayed answer come.
        var alarm: (any Alarm)?
    }

    let request: TransportRequest
    /// The request's place among those that the wire has recorded.
    let index: Int?

    private let state: Guarded<State>
    private let wire: Watched<WireState>
    private let queue: DispatchQueue

    /// - Parameter index: `nil` for a request that isn't recorded there.
    init(
        _ request: TransportRequest, index: Int?, wire: Watched<WireState>, queue: DispatchQueue,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.request = request
        self.index = index
        self.wire = wire
        self.queue = queue
        state = Guarded(State(receive: receive))
    }

    /// Whether nobody waits for events any more.
    var isOver: Bool { state.withLock { $0.receive == nil || $0.isCancelled } }

    /// Sends events, in this thread or in the one that is sending.
    func send(_ events: TransportEvent...) {
        state.withLock { $0.events += events }
        drain()
    }

    func fail(_ error: any Error, delivery: AtomError.Delivery) {
        send(.failed(TransportFailure(error, delivery: delivery)))
    }

    /// Waits for the test from now on.
    ///
    /// - Parameter makeAlarm: Sets the alarm that ends the waiting; called under
    ///   the lock.
    func hold(until makeAlarm: () -> (any Alarm)? = { nil }) {
        let isHeld = state.withLock { state in
            guard state.receive != nil, !state.isCancelled else { return false }
            state.isHeld = true
            // Under the lock: it may go off at once, on another thread.
            state.alarm = makeAlarm()
            return true
        }
        guard isHeld else { return }
        wire.withLock { wire in
            wire.busy -= 1
            if index == nil { wire.heldTokenRequests += 1 }
        }
    }

    /// Ends the waiting.
    ///
    /// - Returns: Whether it waited.
    @discardableResult
    func goOn() -> Bool {
        let (wasHeld, alarm) = state.withLock { state in
            defer {
                state.isHeld = false
                state.alarm = nil
            }
            return (state.isHeld, state.alarm)
        }
        alarm?.invalidate()
        guard wasHeld else { return false }
        wire.withLock { wire in
            wire.busy += 1
            wire.activity += 1
            if index == nil { wire.heldTokenRequests -= 1 }
        }
        return true
    }

    func cancel() {
        let isNew = state.withLock { state in
            defer { state.isCancelled = true }
            return state.receive != nil && !state.isCancelled
        }
        guard isNew else { return }
        goOn()
        // Not here: `cancel` must not call `receive`.
        queue.async { self.drain() }
    }

    private func drain() {
        while let (event, receive) = next() {
            receive(event)
            if event.isLast {
                wire.withLock { wire in
                    wire.busy -= 1
                    wire.activity += 1
                }
                return
            }
            state.withLock { $0.isSending = false }
        }
    }

    /// The event that this thread has to send.
    private func next() -> (TransportEvent, @Sendable (TransportEvent) -> Void)? {
        state.withLock { state in
            guard !state.isSending, let receive = state.receive else { return nil }
            var event: TransportEvent
            if state.isCancelled {
                event = .failed(TransportFailure(URLError(.cancelled)))
            } else {
                guard !state.events.isEmpty else { return nil }
                event = state.events.removeFirst()
            }
            state.isSending = true
            if event.isLast {
                state.receive = nil
                state.events = []
            }
            return (event, receive)
        }
    }
}

extension TransportEvent {
    fileprivate var isLast: Bool {
        switch self {
        case .finished, .failed: true
        case .sent, .response, .data, .measured: false
        // What this library doesn't know comes before the end.
        @unknown default: false
        }
    }
}
