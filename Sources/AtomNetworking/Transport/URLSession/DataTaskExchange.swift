import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange of a session, from the time before its task is created until
/// the task has completed.
final class DataTaskExchange: TransportExchange, @unchecked Sendable {
    let delegate: ExchangeDelegate
    let receive: @Sendable (TransportEvent) -> Void
    let wantsMetrics: Bool

    // These are accessed only under the delegate's lock.
    /// The task; `nil` until the exchange has been started.
    var task: URLSessionTask?
    /// Whether the task may be cancelled.
    var isResumed = false
    var isCancelled = false
    /// The file that is written, and then sent; kept until the exchange has
    /// ended.
    var spooledBody: SpooledBody?
    /// Why the body could not be read.
    var bodyFailure: AtomError?

    /// Whether the connection was lost while the body, which can't be sent
    /// again, was needed.
    var isBodyLost = false

    // These are accessed only on the delegate's queue.
    var statusCode: Int?
    /// How many bytes of the response's body are still to come; `nil` if that
    /// isn't known.
    var missing: Int64?
    /// How many bytes of the request's body were sent.
    var sent: Int64 = 0
    /// Whether the task was cancelled because the server has answered in full
    /// before it has read the whole body.
    var isAnsweredEarly = false
    var isChallenged = false
    #if !canImport(FoundationNetworking)
        var metrics: URLSessionTaskMetrics?
    #endif

    init(
        _ delegate: ExchangeDelegate, wantsMetrics: Bool = false,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.delegate = delegate
        self.wantsMetrics = wantsMetrics
        self.receive = receive
    }

    func cancel() {
        delegate.cancel(self)
    }

    #if !canImport(FoundationNetworking)
        // On Linux a suspended task loses its connection.

        func pause() -> Bool { delegate.suspend(self) }

        func resume() { delegate.goOn(self) }
    #endif
}
