import Foundation

/// One attempt of an exchange, from before the transport gets it until its
/// last event.
final class AttemptOnWire: DeadlineBearer, @unchecked Sendable {
    /// How long the rest of an answer is read that nobody wants.
    static let restDuration = Duration.seconds(1)

    let exchange: Exchange
    let number: Int
    let target: TargetURL

    // The deadline queue's, under its lock.
    var deadlinePosition: Int?
    var deadlineNumber = 0

    /// What has happened to it since the exchange let go of it, under the
    /// exchange's lock; `nil` before.
    private var afterlife: Afterlife?

    private struct Afterlife {
        /// What stops it; none while the transport is being called, and after the end.
        var running: (any TransportExchange)?
        var isStopped = false
        var isOver = false
    }

    // These belong to the thread that brings its events. They come one at a time, so no two accesses can overlap,
    // which would else be checked each time (SE-0176).
    @exclusivity(unchecked) private var sink: any ResponseSink
    private var isAbandoned = false
    private var discarded = 0

    init(of exchange: Exchange, number: Int, target: TargetURL, sink: any ResponseSink) {
        self.exchange = exchange
        self.number = number
        self.target = target
        self.sink = sink
    }
}

// MARK: - Under the exchange's lock

extension AttemptOnWire {
    /// The exchange goes on without it, or is over.
    func letGo(_ running: (any TransportExchange)?) { afterlife = Afterlife(running: running) }

    /// It is to be stopped.
    ///
    /// - Returns: What is to be cancelled, if that is known.
    func stop() -> (any TransportExchange)? {
        afterlife?.isStopped = true
        return afterlife?.running
    }

    /// The transport has taken it, and the exchange doesn't keep it.
    ///
    /// - Returns: What is to be cancelled.
    func started(_ running: any TransportExchange) -> (any TransportExchange)? {
        guard let afterlife, !afterlife.isOver else { return nil }
        self.afterlife?.running = running
        return afterlife.isStopped ? running : nil
    }

    /// Its last event has come.
    func end() {
        afterlife?.isOver = true
        afterlife?.running = nil
    }
}

// MARK: - The body

extension AttemptOnWire {
    /// Gives a part of the body to the sink.
    func keep(_ part: Data) throws(AtomError) {
        do {
            try sink.receive(part)
        } catch {
            abandonSink()
            throw error
        }
    }

    /// Counts a part of the body that nobody wants.
    ///
    /// - Returns: Whether that was enough of it.
    func discard(_ part: Data) -> Bool {
        abandonSink()
        discarded += min(part.count, ExchangeMachine.maximumRest + 1)
        return discarded > ExchangeMachine.maximumRest
    }

    /// What the sink has taken. The body is complete, and wanted.
    func finishSink() throws(AtomError) -> Data { try sink.finish() }

    /// Lets the sink go, unless that has been done.
    func abandonSink() {
        guard !isAbandoned else { return }
        isAbandoned = true
        sink.abandon()
    }

    func deadlinePassed(at now: MonotonicInstant) { exchange.stop(self) }
}
