#if os(Linux)
    import Foundation

    /// One exchange, from the call of `start` to its last event.
    final class CurlExchange: TransportExchange, @unchecked Sendable {
        /// How many bytes of a body may wait for the receiver before the
        /// connection is left unread, which holds the server back.
        static let maximumBacklog = 256 << 10

        let request: TransportRequest
        /// The origin's protocol isn't known, or multiplexes.
        let isSecure: Bool
        private let loop: CurlLoop
        private let receive: @Sendable (TransportEvent) -> Void

        // Only the loop's thread uses these.
        /// The transfer, while it runs.
        @exclusivity(unchecked) unowned(unsafe) var transfer: CurlTransfer?
        /// The bytes of the body that have been handed over for delivery.
        @exclusivity(unchecked) private var handedOver = 0

        private struct Shared {
            var isCancelled = false
            var delivered = 0
            var isPaused = false
        }

        private let shared = Guarded(Shared())

        init(_ request: TransportRequest, loop: CurlLoop, receive: @escaping @Sendable (TransportEvent) -> Void) {
            self.request = request
            isSecure = request.target.scheme == .https
            self.loop = loop
            self.receive = receive
        }

        func cancel() {
            let isNew = shared.withLock { shared in
                defer { shared.isCancelled = true }
                return !shared.isCancelled
            }
            if isNew { loop.add(.cancel(self)) }
        }

        /// Whether the exchange has been cancelled.
        var isCancelled: Bool { shared.withLock { $0.isCancelled } }

        /// Passes an event on, on the delivery's queue.
        func deliver(_ event: TransportEvent) {
            receive(event)
            guard case .data(let data) = event else { return }
            let goesOn = shared.withLock { shared in
                shared.delivered += data.count
                guard shared.isPaused else { return false }
                // The loop decides whether it is enough.
                shared.isPaused = false
                return true
            }
            if goesOn { loop.add(.goOn(self)) }
        }
    }

    // MARK: - On the loop's thread

    extension CurlExchange {
        /// A part of the body goes to the delivery.
        func handOver(_ part: Data) -> EventDelivery.Item {
            handedOver += part.count
            return EventDelivery.Item(exchange: self, event: .data(part))
        }

        /// Decides whether a part of the body has to wait.
        ///
        /// - Parameter pending: The bytes that haven't been handed over.
        func mustWait(pending: Int) -> Bool {
            guard handedOver + pending > Self.maximumBacklog else { return false }
            let handedOver = handedOver
            return shared.withLock { shared in
                // What is only pending is handed over soon, and then the delivery
                // lets the transfer go on.
                let waiting = handedOver - shared.delivered
                guard waiting > 0, waiting + pending > Self.maximumBacklog else { return false }
                shared.isPaused = true
                return true
            }
        }
    }
#endif
