/// One caller of an exchange that several callers may share.
///
/// It is told once: the exchange's outcome, or its own cancellation.
final class SharedCaller: EventTeller, CallerTeller {
    private struct State {
        var caller: WaitingCaller
        var events = NotedEvents()
    }

    private let sharing: RequestSharing
    private let ticket: SharedRequests<SharingKey>.Ticket
    /// For the app's observers, of a request that has joined another one; `nil` for the one whose exchange it is.
    let observation: RequestObservation?
    private let state: Guarded<State>

    init(
        _ ticket: SharedRequests<SharingKey>.Ticket, listener: Exchange.Listener, sharing: RequestSharing,
        _ observation: RequestObservation?
    ) {
        self.observation = observation
        self.ticket = ticket
        state = Guarded(State(caller: WaitingCaller(listener)))
        self.sharing = sharing
    }

    /// The request takes part in the one with this number; ``tellJoined()``
    /// follows on this thread, which is the only one to tell until then.
    func joined(_ other: UInt64?) {
        guard let observation else { return }
        withEvents { events in
            events.append(.described, at: observation.instant)
            events.append(.joined(other), at: observation.instant)
            _ = events.beginsDelivery()
        }
    }

    func tellJoined() { if let observation { tellNoted(observation) } }

    var manager: RequestableQueueManager { sharing.manager }

    func withEvents<T: Sendable>(_ body: (inout NotedEvents) -> T) -> T { state.withLock { body(&$0.events) } }

    /// The caller is told at once, unless its outcome is already decided.
    func cancel() { sharing.cancelled(ticket) }

    /// Tells the outcome; called once.
    func settle(_ outcome: Result<AtomResponse, AtomError>) {
        if let observation { tellEnd(outcome, observation, at: manager.time.now) }
        tellCaller(outcome)
    }

    func withCaller<T: Sendable>(_ body: (inout WaitingCaller) -> T) -> T { state.withLock { body(&$0.caller) } }
}
