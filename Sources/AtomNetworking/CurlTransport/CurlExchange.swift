#if os(Linux)
    import Foundation

    /// One exchange, from the call of `start` to its last event.
    final class CurlExchange: TransportExchange, @unchecked Sendable {
        /// How many bytes of a body may wait for the receiver before the
        /// connection is left unread, which holds the server back.
        static let maximumBacklog = 256 << 10

        let request: TransportRequest
        let isSecure: Bool
        private let loop: CurlLoop
        private let receive: @Sendable (TransportEvent) -> Void

        /// The body, if it is looked at before the start; not changed after that.
        @exclusivity(unchecked) private var emptyBody: TransportBodyReader?

        // Only the loop's thread uses these, so no two accesses overlap
        // (SE-0176).
        /// The transfer, while it runs.
        @exclusivity(unchecked) var transfer: CurlTransfer?
        /// The bytes of the body that have been handed over for delivery.
        @exclusivity(unchecked) private var handedOver: Int64 = 0

        /// What the loop's thread and others share; used under the loop's lock.
        @exclusivity(unchecked) var shared = Shared()

        struct Shared {
            var isCancelled = false
            /// The bytes of the body that have been delivered.
            var delivered: Int64 = 0
            /// Whether the transfer waits for the delivery.
            var isPaused = false
            /// Whether the caller wants no more of the body for now.
            var isHeld = false
        }

        init(_ request: TransportRequest, loop: CurlLoop, receive: @escaping @Sendable (TransportEvent) -> Void) {
            self.request = request
            isSecure = request.target.scheme == .https
            self.loop = loop
            self.receive = receive
        }

        func cancel() {
            emptyBody?.interrupt()
            loop.cancel(self)
        }

        /// Starts as soon as a body has been found to be as empty as was announced:
        /// libcurl doesn't read one without bytes.
        ///
        /// - Parameter transport: Stays until then, because the loop ends with it.
        func start(after body: TransportBodyReader, of transport: CurlTransport) {
            emptyBody = body
            check(body, of: transport)
        }

        private func check(_ body: TransportBodyReader, of transport: CurlTransport) {
            do {
                var byte: UInt8 = 0
                let part = try withUnsafeMutableBytes(of: &byte) { (place) throws(AtomError) in
                    try body.read(into: place)
                }
                if part == .later { return body.whenReadable { self.check(body, of: transport) } }
                loop.start(self)
            } catch {
                loop.refuse(self, TransportFailure(error, delivery: .notSent))
            }
        }

        func pause() -> Bool {
            loop.hold(self)
            return true
        }

        func resume() { loop.letGo(self) }

        /// More of the request's body can be read.
        func bodyIsReadable() { loop.goOn(self) }

        /// Passes an event on, on the delivery's queue.
        func deliver(_ event: TransportEvent) {
            receive(event)
            if case .data(let data) = event { loop.delivered(data.count, of: self) }
        }

        /// A part of the body goes to the delivery.
        ///
        /// It is called on the loop's thread.
        func handOver(_ part: Data) -> EventDelivery.Item {
            handedOver += Int64(part.count)
            return EventDelivery.Item(exchange: self, event: .data(part))
        }

        /// Decides whether a part of the body has to wait.
        ///
        /// It is called on the loop's thread.
        ///
        /// - Parameter pending: The bytes that haven't been handed over.
        func mustWait(pending: Int) -> Bool {
            // A held body is rare, and smaller ones need no lock.
            guard handedOver + Int64(pending) > Self.maximumBacklog else { return false }
            return loop.pauses(self, handedOver: handedOver, pending: pending)
        }
    }
#endif
