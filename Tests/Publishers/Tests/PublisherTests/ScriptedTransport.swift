import AtomNetworking
import Foundation

/// A transport that responds when the test says so.
final class ScriptedTransport: Transport {
    /// Every exchange that was started, in order.
    let started = Recording<ScriptedExchange>()

    private let onStart: @Sendable (ScriptedExchange) -> Void

    /// - Parameter onStart: Runs inside `start`; does nothing by default.
    init(onStart: @escaping @Sendable (ScriptedExchange) -> Void = { _ in }) {
        self.onStart = onStart
    }

    /// The requested paths, in order.
    var paths: [String] { started.all.map(\.path) }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let exchange = ScriptedExchange(request, receive: receive)
        started.append(exchange)
        onStart(exchange)
        return exchange
    }
}

/// One exchange of a ``ScriptedTransport``.
final class ScriptedExchange: TransportExchange, @unchecked Sendable {
    let path: String

    /// One element for each exchange that was cancelled while it ran.
    let cancellations = Recording<Void>()

    private let lock = NSLock()
    // Accessed only under `lock`; nil when the exchange has ended.
    private var receive: (@Sendable (TransportEvent) -> Void)?

    init(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void) {
        path = String(request.target.description.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
        self.receive = receive
    }

    func answer(_ body: String, status: Int = 200) {
        guard let receive = end() else { return }
        receive(.response(TransportResponse(statusCode: status)))
        receive(.data(Data(body.utf8)))
        receive(.finished)
    }

    func cancel() {
        guard let receive = end() else { return }
        cancellations.append(())
        DispatchQueue.global().async { receive(.failed(TransportFailure(URLError(.cancelled)))) }
    }

    private func end() -> (@Sendable (TransportEvent) -> Void)? {
        lock.withLock {
            defer { receive = nil }
            return receive
        }
    }
}
