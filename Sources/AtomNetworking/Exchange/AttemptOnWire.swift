import Foundation

/// One attempt of an exchange, until the transport's last event for it.
final class AttemptOnWire: DeadlineBearer, ResponseTaker, @unchecked Sendable {
    /// How long the rest of an unwanted response is read: the next attempt may need its connection.
    static let unwantedRestDuration = Duration.milliseconds(50)

    /// The same for a 401 while the session decides: the caller gets it if there is nothing to refresh with.
    static let keptRestDuration = Duration.milliseconds(500)

    let exchange: Exchange
    let request: TransportRequest
    /// Whose response it brings: what another origin sends is for whom the last attempt at its own was made.
    let tenure: Tenure

    var deadlinePlace = DeadlinePlace()

    /// The state after the exchange has let go of the attempt, under the exchange's lock.
    private var afterlife: Afterlife?
    /// Whether the transport has been asked for what had arrived of the rest, under the exchange's lock.
    private var hasLooked = false

    private struct Afterlife {
        /// Stops the attempt; `nil` while the transport is being called, and after the last event.
        var running: (any TransportExchange)?
        var isStopped = false
        var isOver = false
    }

    // Only the thread that delivers the attempt's events uses these. Events come one at a time, so no two accesses
    // can overlap, and the check for that at each access is not needed (SE-0176).
    @exclusivity(unchecked) private var sink: any ResponseSink
    @exclusivity(unchecked) private var isSinkOpen = true
    private var discarded = 0
    /// The head of its response.
    @exclusivity(unchecked) var head: TransportResponse?
    /// The bytes of the request's body that were sent.
    @exclusivity(unchecked) var sent: Int64 = 0

    init(
        of exchange: Exchange, _ request: TransportRequest, sink: any ResponseSink, tenure: Tenure = .nobody
    ) {
        self.exchange = exchange
        self.request = request
        self.tenure = tenure
        self.sink = sink
    }

    var number: Int { request.attempt }
    var target: TargetURL { request.target }
}

// MARK: - Under the exchange's lock

extension AttemptOnWire {
    /// The exchange goes on without this attempt, or has ended.
    func letGo(_ running: (any TransportExchange)?) { afterlife = Afterlife(running: running) }

    /// The attempt has to stop: returns the handle to cancel, if the transport has returned it.
    func stop() -> (any TransportExchange)? {
        afterlife?.isStopped = true
        return afterlife?.running
    }

    /// Returns what has to look for the rest, once.
    func looks(with running: (any TransportExchange)?) -> (any TransportExchange)? {
        guard !hasLooked else { return nil }
        hasLooked = true
        return running ?? afterlife?.running
    }

    /// The transport has returned the handle.
    ///
    /// - Returns: Whether it has to be cancelled.
    func started(_ running: any TransportExchange) -> Bool {
        guard let afterlife, !afterlife.isOver else { return false }
        self.afterlife?.running = running
        return afterlife.isStopped
    }

    /// The last event has arrived: returns the handle, to be let go of outside the lock.
    func end() -> (any TransportExchange)? {
        afterlife?.isOver = true
        return afterlife?.running.take()
    }
}

// MARK: - The body

extension AttemptOnWire {
    /// Passes a part of the body to the sink.
    func keep(_ part: Data) throws(AtomError) {
        guard isSinkOpen else { return }
        do {
            try sink.receive(part)
        } catch {
            // What memory has may be part of an error.
            if !(sink is MemorySink) { abandonSink() }
            throw error
        }
    }

    /// Lets the body go elsewhere; called before its first part.
    func replaceSink(_ sink: any ResponseSink) {
        abandonSink()
        self.sink = sink
        isSinkOpen = true
    }

    /// Drops a part of an unwanted body, and says whether more was dropped than is worth reading.
    func discard(_ part: Data) -> Bool {
        discarded += min(part.count, ExchangeMachine.maximumRest + 1)
        return discarded > ExchangeMachine.maximumRest
    }

    /// Ends the sink of a complete body and returns what it collected.
    func finishSink() throws(AtomError) -> Data {
        isSinkOpen = false
        return try sink.finish()
    }

    /// Ends the sink of an unwanted body, once.
    func abandonSink() {
        guard isSinkOpen else { return }
        isSinkOpen = false
        sink.abandon()
    }

    func deadlinePassed(at now: MonotonicInstant) { exchange.restIsLate(self, at: now) }

    func take(_ response: WholeResponse) -> ResponseTaking { exchange.take(response, from: self) }
}
