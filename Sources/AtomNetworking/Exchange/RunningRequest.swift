/// A request that has been started, as its caller sees it.
protocol RunningRequest: AnyObject, Sendable {
    var manager: RequestableQueueManager { get }

    /// The caller has cancelled.
    func cancel()

    /// Whether the outcome is known.
    var hasOutcome: Bool { get }

    /// Resumes the continuation once the outcome is known; called once.
    func wake(_ continuation: UnsafeContinuation<Void, Never>)

    /// The outcome, if it is known; it can be taken once.
    func takeOutcome() -> Result<AtomResponse, AtomError>?
}
