import Foundation

/// One attempt of an exchange, from before the transport gets it until its
/// last event.
final class AttemptOnWire: DeadlineBearer, @unchecked Sendable {
    /// How long the rest of an answer is read that nobody wants.
    static let restDuration = Duration.seconds(1)

    let exchange: Exchange
    let number: Int
    let method: String
    let target: TargetURL

    // The deadline queue's, under its lock.
    var deadlinePosition: Int?
    var deadlineNumber = 0

    // The exchange's, under its lock.
    /// What stops it; none while the transport is being called, and after the end.
    var handle: (any TransportExchange)?
    var isStopped = false
    var isOver = false
    /// Whether the rest of its answer is not wanted.
    var isDiscarded = false

    // These belong to whoever brings its events, which come one at a time.
    private var sink: (any AnswerSink)?
    private var discarded = 0

    init(of exchange: Exchange, number: Int, method: String, target: TargetURL) {
        self.exchange = exchange
        self.number = number
        self.method = method
        self.target = target
    }

    /// Takes the body in from here on.
    func open(_ sink: any AnswerSink) { self.sink = sink }

    /// Gives a part of the body to the sink.
    func keep(_ part: Data) throws(AtomError) {
        do {
            try sink?.receive(part)
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

    /// What the sink has taken.
    func finishSink() throws(AtomError) -> Data {
        guard var sink = sink.take() else { return Data() }
        return try sink.finish()
    }

    /// Lets the sink go, unless that or its end has been.
    func abandonSink() {
        guard var sink = sink.take() else { return }
        sink.abandon()
    }

    func deadlinePassed(at now: MonotonicInstant) { exchange.stop(self) }
}
