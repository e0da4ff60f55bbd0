import Foundation

/// Where an async caller meets the outcome of its exchange.
///
/// The request is started before the caller suspends, so the outcome may come
/// first.
struct PendingResponse: Sendable {
    private let exchange: Exchange

    /// Starts the request in the caller's isolation.
    init(_ request: consuming PreparedRequest, manager: RequestableQueueManager) {
        exchange = manager.run(request, listener: .awaiting)
    }

    /// Waits for the outcome; cancelling the task cancels the exchange.
    ///
    /// Not isolated to the caller: what follows this call in a function that
    /// isn't either runs off the caller's actor. Called once.
    func result() async -> Result<AtomResponse, AtomError> {
        await outcomeIsKnown()
        return outcome()
    }

    /// Waits for the answer, off the caller's actor.
    func response() async throws(AtomError) -> AtomResponse {
        await outcomeIsKnown()
        return try received()
    }

    /// Waits for the outcome and decodes it, off the caller's actor.
    func model<T: Decodable & Sendable>() async throws(AtomError) -> T {
        await outcomeIsKnown()
        return try decoded()
    }

    /// Waits until the outcome is known.
    private func outcomeIsKnown() async {
        guard !exchange.hasOutcome else { return }
        await withTaskCancellationHandler {
            // An exchange ends once, whatever happens, and resumes this when it does; that is what a checked
            // continuation would check.
            await withUnsafeContinuation { exchange.wake($0) }
        } onCancel: {
            exchange.cancel()
        }
    }

    // These are never inlined: room for an answer in a frame that waits for it would be taken all the while.

    /// The outcome, which is known by now and nobody else takes.
    @inline(never)
    private func outcome() -> Result<AtomResponse, AtomError> { exchange.takeOutcome() ?? .failure(.unexpected) }

    @inline(never)
    private func received() throws(AtomError) -> AtomResponse { try outcome().get() }

    @inline(never)
    private func decoded<T: Decodable>() throws(AtomError) -> T {
        try ResponseDecoding.decode(T.self, from: try received(), with: exchange.manager.decoder)
    }
}
