/// The caller of a request that stands around others, and is told once: a value under the lock of its owner.
struct WaitingCaller {
    /// Until it is told.
    fileprivate var listener: Exchange.Listener?
    /// For one that awaits the outcome.
    fileprivate var awaited = AwaitedOutcome()

    init(_ listener: Exchange.Listener) { self.listener = listener }
}

/// A request around others, with a caller of its own.
protocol CallerTeller: RunningRequest {
    /// Runs the body under the lock that guards the caller.
    func withCaller<T: Sendable>(_ body: (inout WaitingCaller) -> T) -> T
}

extension CallerTeller {
    /// Tells the outcome; called once, outside the lock.
    func tellCaller(_ outcome: Result<AtomResponse, AtomError>) {
        // It is let go of when it is told: it may hold whoever holds this object.
        let listener = withCaller { $0.listener.take() }
        guard case .awaiting? = listener else { return listener?.tell(outcome, manager) ?? () }
        var outcome = Optional(outcome)
        withCaller { $0.awaited.settle(&outcome) }?.resume()
    }

    var hasOutcome: Bool { withCaller { $0.awaited.isKnown } }

    func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        if withCaller({ $0.awaited.await(continuation) }) { continuation.resume() }
    }

    func takeOutcome() -> Result<AtomResponse, AtomError>? { withCaller { $0.awaited.take() } }
}
