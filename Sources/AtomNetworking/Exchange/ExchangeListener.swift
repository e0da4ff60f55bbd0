extension Exchange {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    /// The receiver of the outcome.
    enum Listener {
        /// A caller that calls `wake` and then `takeOutcome`.
        case awaiting
        /// A completion of the SDK, called on the thread of the outcome.
        ///
        /// - Parameter closing: Called before observers hear of the end, which may
        ///   ask for the same again.
        case completion(Completion, closing: (@Sendable () -> Void)? = nil)
        /// A completion of the app, called on the configuration's queue.
        case dispatched(Completion)

        /// The outcome is known, and nobody has been told.
        func close() { if case .completion(_, let closing?) = self { closing() } }

        /// Tells the outcome, unless a caller takes it.
        func tell(_ outcome: Result<AtomResponse, AtomError>, _ manager: RequestableQueueManager) {
            switch self {
            case .awaiting: break
            case .completion(let completion, _): completion(outcome)
            case .dispatched(let completion):
                manager.dispatchQueue.async { [queue = manager.dispatchQueue, handler = manager.resultHandler] in
                    completion(outcome)
                    handler?()
                    if case .failure(let error) = outcome { AtomNotification.announceRefusal(error, on: queue) }
                }
            }
        }
    }
}
