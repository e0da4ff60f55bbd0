/// Lets identical requests of one ``Atom`` share an exchange.
///
/// A value of ``SharedRequests`` under this object's lock decides. Exchanges are
/// started and cancelled, and callers are told, outside the lock.
final class RequestSharing: Sendable {
    private struct State {
        var requests = SharedRequests<SharingKey>()
        /// The callers that have not been told.
        var callers: [Int: SharedCaller] = [:]
        /// The exchanges whose start has returned, until they end.
        var exchanges: [Int: Exchange] = [:]
    }

    let manager: RequestableQueueManager
    private let state = Guarded(State())

    init(_ manager: RequestableQueueManager) { self.manager = manager }

    /// Starts or queues a request before it returns, or lets it share an exchange.
    ///
    /// - Parameter tenure: Whose it is; `nil` for whoever is signed in.
    func begin(
        _ request: consuming PreparedRequest, listener: Exchange.Listener, of tenure: Tenure? = nil
    ) -> any RunningRequest {
        // A provider's own request would wait for itself.
        // Without a session only the app's signers know who asks.
        let isOfSomebodyUnknown = manager.session == nil && manager.hasSigners && request.takesSigners
        guard !isOfSomebodyUnknown, manager.session?.isInProvider != true else {
            return manager.run(request, listener: listener)
        }
        return share(request, listener: listener, of: tenure)
    }

    /// Joins an exchange in flight, or starts one before it returns.
    private func share(
        _ request: consuming PreparedRequest, listener: Exchange.Listener, of tenure: Tenure?
    ) -> SharedCaller {
        let key = SharingKey(request, manager, of: tenure)
        let (caller, number, starts) = state.withLock { state in
            let (ticket, starts) = state.requests.asked(for: key)
            let observation = starts ? nil : manager.observation(of: request)
            let caller = SharedCaller(ticket, listener: listener, sharing: self, observation)
            if !starts { caller.joined(state.exchanges[ticket.exchange]?.observation?.requestID) }
            state.callers[ticket.caller] = caller
            return (caller, ticket.exchange, starts)
        }
        if starts { start(number, request, of: key.tenure) } else { caller.tellJoined() }
        return caller
    }

    /// Others may have joined before the session is asked: it is sent for this sign-in only.
    private func start(_ number: Int, _ request: consuming PreparedRequest, of tenure: Tenure) {
        let exchange = manager.run(
            request, listener: .completion({ self.ended(number, $0) }, closing: { self.closed(number) }),
            of: manager.cookies.give(to: tenure).0, isShared: true)
        state.withLock { state in
            // It may have ended inside its start.
            if state.requests.isRunning(number) { state.exchanges[number] = exchange }
        }
    }

    func cancelled(_ ticket: SharedRequests<SharingKey>.Ticket) {
        let (cancellation, caller, exchange) = state.withLock { state in
            let cancellation = state.requests.cancelled(ticket)
            let caller = cancellation == .leaves ? state.callers.removeValue(forKey: ticket.caller) : nil
            return (cancellation, caller, state.exchanges[ticket.exchange])
        }
        switch cancellation {
        case .nothing: break
        case .leaves:
            // Never `notSent`: the exchange can still be sent for others.
            caller?.settle(.failure(.cancelled(exchange?.delivery == .answered ? .answered : .maybeSent)))
        case .cancelsExchange: exchange?.cancel()
        }
    }

    /// The outcome of an exchange is known: from now on nobody joins it.
    private func closed(_ number: Int) { state.withLock { $0.requests.closed(number) } }

    /// Tells the outcome of an exchange to its callers.
    private func ended(_ number: Int, _ outcome: Result<AtomResponse, AtomError>) {
        let (callers, exchange) = state.withLock { state in
            let callers = state.requests.ended(number).compactMap { state.callers.removeValue(forKey: $0) }
            return (callers, state.exchanges.removeValue(forKey: number))
        }
        withExtendedLifetime(exchange) {}
        for caller in callers { caller.settle(outcome) }
    }

    /// How many exchanges are running or still held, and how many callers wait for them.
    var counts: (exchanges: Int, callers: Int) {
        state.withLock { (max($0.requests.counts.running, $0.exchanges.count), $0.callers.count) }
    }
}
