import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange of a session, from before its task is made until it has
/// completed.
final class DataTaskExchange: TransportExchange, @unchecked Sendable {
    let delegate: ExchangeDelegate
    let receive: @Sendable (TransportEvent) -> Void
    // These are touched under the delegate's lock only.
    /// What can be cancelled; none until it has been started.
    var task: URLSessionTask?
    var statusCode: Int?
    var isCancelled = false
    var isChallenged = false
    /// Whether its body can't be sent again, which its connection's end would take.
    var isBodyLost = false

    init(_ delegate: ExchangeDelegate, receive: @escaping @Sendable (TransportEvent) -> Void) {
        self.delegate = delegate
        self.receive = receive
    }

    func cancel() {
        delegate.cancel(self)
    }
}
