/// A request that has been started, as its caller sees it.
enum RunningRequest: Sendable {
    /// It has an exchange of its own.
    case alone(Exchange)
    /// It is one of those that share an exchange.
    case shared(SharedCaller)

    var manager: RequestableQueueManager {
        switch self {
        case .alone(let exchange): exchange.manager
        case .shared(let caller): caller.manager
        }
    }

    /// The caller has cancelled.
    @inline(__always)
    func cancel() {
        switch self {
        case .alone(let exchange): exchange.cancel()
        case .shared(let caller): caller.cancel()
        }
    }

    /// Whether the outcome is known.
    @inline(__always)
    var hasOutcome: Bool {
        switch self {
        case .alone(let exchange): exchange.hasOutcome
        case .shared(let caller): caller.hasOutcome
        }
    }

    /// Resumes the continuation once the outcome is known; called once.
    @inline(__always)
    func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        switch self {
        case .alone(let exchange): exchange.wake(continuation)
        case .shared(let caller): caller.wake(continuation)
        }
    }

    /// The outcome, if it is known; it can be taken once.
    @inline(__always)
    func takeOutcome() -> Result<AtomResponse, AtomError>? {
        switch self {
        case .alone(let exchange): exchange.takeOutcome()
        case .shared(let caller): caller.takeOutcome()
        }
    }
}
