import Foundation

/// Where an async caller meets the outcome of its exchange.
///
/// The request is started before the caller suspends, so the outcome may come
/// first.
final class PendingResponse: @unchecked Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Result<AtomResponse, AtomError>, Never>)
        case known(Result<AtomResponse, AtomError>)
        case taken
    }

    // `state` is touched under `lock` only; `exchange` is set once, before anybody else sees this.
    private let lock = NSLock()
    private var state = State.open
    private var exchange: Exchange?
    private let queue: DispatchQueue

    /// Starts the request in the caller's isolation.
    init(_ request: PreparedRequest, manager: RequestableQueueManager) {
        queue = manager.dispatchQueue
        exchange = manager.run(request) { [self] result in fulfil(result) }
    }

    /// Waits for the outcome; cancelling the task cancels the exchange.
    ///
    /// Not isolated to the caller: what follows this call in a function that
    /// isn't either runs off the caller's actor.
    func result() async -> Result<AtomResponse, AtomError> {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = lock.withLock { () -> Result<AtomResponse, AtomError>? in
                    if case .known(let result) = state {
                        state = .taken
                        return result
                    }
                    state = .awaited(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            exchange?.cancel()
        }
    }

    /// Waits for the outcome and decodes it, off the caller's actor.
    func decoded<T: Decodable & Sendable>(
        as type: T.Type, with decoder: JSONDecoder
    ) async throws(AtomError) -> T {
        try ResponseDecoding.decode(type, from: try await result().get(), with: decoder)
    }

    private func fulfil(_ result: Result<AtomResponse, AtomError>) {
        let continuation = lock.withLock { () -> CheckedContinuation<Result<AtomResponse, AtomError>, Never>? in
            if case .awaited(let continuation) = state {
                state = .taken
                return continuation
            }
            state = .known(result)
            return nil
        }
        continuation?.resume(returning: result)
        AtomNotification.announceRefusal(in: result, on: queue)
    }
}
