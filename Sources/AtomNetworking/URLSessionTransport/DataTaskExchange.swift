import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange of a session, from the time before its task is created until
/// the task has completed.
final class DataTaskExchange: TransportExchange, @unchecked Sendable {
    let delegate: ExchangeDelegate
    let receive: @Sendable (TransportEvent) -> Void
    // These are accessed only under the delegate's lock.
    /// The task to cancel; `nil` until the exchange has been started.
    var task: URLSessionTask?
    var statusCode: Int?
    var isCancelled = false
    var isChallenged = false
    /// Whether the connection was lost while the body, which can't be sent
    /// again, was needed.
    var isBodyLost = false

    init(_ delegate: ExchangeDelegate, receive: @escaping @Sendable (TransportEvent) -> Void) {
        self.delegate = delegate
        self.receive = receive
    }

    func cancel() {
        delegate.cancel(self)
    }
}
