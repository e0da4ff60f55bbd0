import AtomNetworking
import Foundation

/// A transport without a network: it holds refreshes until it is told to
/// respond, and responds to requests at once.
final class HeldTransport: Transport, @unchecked Sendable {
    private struct Started: TransportExchange { func cancel() {} }

    // Accessed only under `lock`.
    private let lock = NSLock()
    private var heldRefresh: (@Sendable (TransportEvent) -> Void)?
    private var startedRequests = 0

    let exchangesPerOrigin: Int?
    private let refreshArrived = DispatchSemaphore(value: 0)

    init(exchangesPerOrigin: Int?) {
        self.exchangesPerOrigin = exchangesPerOrigin
    }

    /// The number of started requests, without the refresh.
    var started: Int { lock.withLock { startedRequests } }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        if request.method == "POST" {
            lock.withLock { heldRefresh = receive }
            refreshArrived.signal()
        } else {
            lock.withLock { startedRequests += 1 }
            receive(.response(TransportResponse(statusCode: 200)))
            receive(.finished)
        }
        return Started()
    }

    /// Blocks until the refresh has been started.
    func waitForRefresh() { refreshArrived.wait() }

    /// Responds to the refresh.
    func answerRefresh() {
        let receive = lock.withLock { heldRefresh }
        receive?(.response(TransportResponse(statusCode: 200)))
        receive?(.data(Data(#"{"access_token":"A1","expires_in":3600,"refresh_token":"R1"}"#.utf8)))
        receive?(.finished)
    }
}
