/// A request that has been started, as its caller sees it.
protocol RunningRequest: AnyObject, Sendable {
    var manager: RequestableQueueManager { get }

    /// The caller has cancelled.
    func cancel()

    /// Whether the outcome is known.
    var hasOutcome: Bool { get }

    /// Resumes the continuation once the outcome is known; called once.
    func wake(_ continuation: UnsafeContinuation<Void, Never>)

    /// The outcome, if it is known; it can be taken once, by the caller.
    ///
    /// If it was taken from the transport at once, the observers are told of it first, so no lock may be held.
    func takeOutcome() -> Result<AtomResponse, AtomError>?
}

/// A started request, for an async caller; its outcome may be known before it is awaited.
struct PendingResponse: Sendable {
    private let running: any RunningRequest

    /// - Parameter running: A request whose listener is `awaiting`.
    init(_ running: any RunningRequest) { self.running = running }

    // Inlined: a frame of their own took 64 bytes of each waiting call, and 200 instructions.

    /// Waits for the outcome, off the caller's actor; called once.
    @inline(__always)
    func result() async -> Result<AtomResponse, AtomError> {
        await waitForOutcome()
        return outcome()
    }

    /// Waits for the response, off the caller's actor.
    @inline(__always)
    func response() async throws(AtomError) -> AtomResponse {
        await waitForOutcome()
        return try received()
    }

    /// Waits for the outcome and decodes it, off the caller's actor.
    @inline(__always)
    func model<T: Decodable & Sendable>() async throws(AtomError) -> T {
        await waitForOutcome()
        return try decoded()
    }

    /// The same with a decoder of the call's own.
    @inline(__always)
    func model<T: Decodable & Sendable>(by decoder: ResponseDecoder) async throws(AtomError) -> T {
        await waitForOutcome()
        return try decoded(by: decoder)
    }

    /// Waits until the outcome is known.
    private func waitForOutcome() async {
        guard !running.hasOutcome else { return }
        await withTaskCancellationHandler {
            // A request has exactly one outcome, and then resumes this; a checked continuation would check that.
            await withUnsafeContinuation { running.wake($0) }
        } onCancel: {
            running.cancel()
        }
    }

    // These are never inlined: else a frame would reserve memory for the response while it waits.

    /// The outcome, which is known here, and taken only here.
    @inline(never)
    private func outcome() -> Result<AtomResponse, AtomError> { running.takeOutcome() ?? .failure(.unexpected) }

    @inline(never)
    private func received() throws(AtomError) -> AtomResponse { try outcome().get() }

    @inline(never)
    private func decoded<T: Decodable>() throws(AtomError) -> T {
        try running.manager.decoder.decode(T.self, from: try received())
    }

    @inline(never)
    private func decoded<T: Decodable>(by decoder: ResponseDecoder) throws(AtomError) -> T {
        try outcome().decoded(by: decoder).get()
    }
}
