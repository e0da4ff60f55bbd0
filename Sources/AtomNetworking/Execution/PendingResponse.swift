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
        if let known = exchange.takeOutcome() { return known }
        await withTaskCancellationHandler {
            // An exchange ends once, whatever happens, and resumes this when it does; that is what a checked
            // continuation would check.
            await withUnsafeContinuation { exchange.wake($0) }
        } onCancel: {
            exchange.cancel()
        }
        // It is woken by the outcome, which nobody else takes.
        return exchange.takeOutcome() ?? .failure(.unexpected)
    }

    /// Waits for the outcome and decodes it, off the caller's actor.
    func decoded<T: Decodable & Sendable>(
        as type: T.Type, with decoder: JSONDecoder
    ) async throws(AtomError) -> T {
        try ResponseDecoding.decode(type, from: try await result().get(), with: decoder)
    }
}
