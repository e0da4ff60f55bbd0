extension Exchange {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    /// The receiver of the outcome.
    enum Listener {
        /// A caller that calls `wake` and then `takeOutcome`.
        case awaiting
        /// The same, who takes what comes after the deadline too, and hears once that it is overdue.
        case awaitingAnyLate(overdue: @Sendable (AtomError) -> Void)
        /// Called on the thread of the outcome.
        ///
        /// - Parameter closing: Called before observers hear of the end, which may ask for the same again.
        case completion(Completion, closing: (@Sendable () -> Void)? = nil)
        /// A completion of the app, called on the configuration's queue. As a closure around the app's it would cost
        /// 2,000 instructions and three allocations more (`own share, completion` of the benchmarks).
        case dispatched(Completion)

        /// The outcome is known, and nobody has been told.
        func close() { if case .completion(_, let closing?) = self { closing() } }

        /// Tells the outcome, unless a caller takes it.
        func tell(_ outcome: Result<AtomResponse, AtomError>, _ manager: RequestableQueueManager) {
            switch self {
            case .awaiting, .awaitingAnyLate: break
            case .completion(let completion, _): completion(outcome)
            case .dispatched(let completion):
                manager.dispatchQueue.async { [queue = manager.dispatchQueue, handler = manager.resultHandler] in
                    completion(outcome)
                    AtomNotification.hasTold(outcome, handler, on: queue)
                }
            }
        }
    }
}

/// The outcome for a caller that waits for it, and takes it when it is known.
///
/// A value under its owner's lock; continuations are resumed outside of it.
struct AwaitedOutcome {
    /// Until it is taken.
    private var outcome: Result<AtomResponse, AtomError>?
    /// Whether there is, or was, an outcome.
    private(set) var isKnown = false
    /// The caller: set once, and taken once, at the end.
    private var awaiting: UnsafeContinuation<Void, Never>?
    /// Whether the caller's task has an executor of the app's, which runs its code where the task is resumed.
    private(set) var hasAppExecutor = false

    /// Moves the outcome to the caller; called once.
    ///
    /// - Returns: What has to be resumed.
    mutating func settle(_ outcome: inout Result<AtomResponse, AtomError>?) -> UnsafeContinuation<Void, Never>? {
        self.outcome = outcome.take()
        isKnown = true
        return awaiting.take()
    }

    /// The caller waits; called once.
    ///
    /// - Returns: Whether the outcome is known already, and the caller goes on.
    mutating func await(_ continuation: UnsafeContinuation<Void, Never>, hasAppExecutor: Bool = false) -> Bool {
        if !isKnown { (awaiting, self.hasAppExecutor) = (continuation, hasAppExecutor) }
        return isKnown
    }

    /// The outcome, if it is known; it can be taken once.
    mutating func take() -> Result<AtomResponse, AtomError>? { outcome.take() }
}
