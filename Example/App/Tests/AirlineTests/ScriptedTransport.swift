import AtomNetworking
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Keeps each request until the test answers it.
nonisolated final class ScriptedTransport: Transport {
    final class Exchange: TransportExchange {
        let request: TransportRequest
        private let receive: @Sendable (TransportEvent) -> Void
        private let isOver = Mutex(false)

        init(_ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Void) {
            self.request = request
            self.receive = receive
        }

        var path: String { request.target.description }

        func answer(_ body: String, status: Int = 200) {
            end {
                $0(.response(TransportResponse(statusCode: status)))
                $0(.data(Data(body.utf8)))
                $0(.finished)
            }
        }

        func fail(_ code: URLError.Code) {
            end { $0(.failed(TransportFailure(URLError(code)))) }
        }

        func cancel() {
            // A transport never calls `receive` inside `cancel`.
            DispatchQueue.global().async { self.fail(.cancelled) }
        }

        private func end(_ events: (@Sendable (TransportEvent) -> Void) -> Void) {
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { events(receive) }
        }
    }

    private let started = AsyncStream<Exchange>.makeStream()

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let exchange = Exchange(request, receive)
        started.continuation.yield(exchange)
        return exchange
    }

    /// Waits for the next exchange, in the order in which they are started.
    func next() async -> Exchange? {
        for await exchange in started.stream { return exchange }
        return nil
    }
}
