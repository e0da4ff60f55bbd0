#if os(Linux)
    import Foundation

    /// One exchange, from the call of `start` to its last event.
    final class CurlExchange: TransportExchange, @unchecked Sendable {
        /// How many bytes may wait for the receiver until the connection is left unread.
        static let maximumBacklog = 256 << 10

        let request: TransportRequest
        let isSecure: Bool
        private let loop: CurlLoop
        /// The delivery's, until the last event: a receiver may hold the exchange.
        @exclusivity(unchecked) private var receive: (@Sendable (TransportEvent) -> Void)?

        /// The body, if it is looked at before the start; not changed after that.
        @exclusivity(unchecked) private var emptyBody: TransportBodyReader?

        // Only the loop's thread uses these, so no two accesses overlap (SE-0176).
        /// Who takes the whole response, if it is there at once: until the first event, which may wait for its delivery.
        @exclusivity(unchecked) var taker: (any ResponseTaker)?
        /// Whether it may need a connection of its own.
        @exclusivity(unchecked) var isSingle = true
        @exclusivity(unchecked) var transfer: CurlTransfer?
        /// The bytes of the body that have been handed over for delivery.
        @exclusivity(unchecked) var handedOver: Int64 = 0

        /// What the loop's thread and others share; used under the loop's lock.
        @exclusivity(unchecked) var shared = Shared()

        struct Shared {
            var isCancelled = false
            /// Whether it is known that its body is as it was announced.
            var isChecked = true
            /// The bytes of the body that have been delivered.
            var delivered: Int64 = 0
            /// Whether the transfer waits for the delivery.
            var isPaused = false
            /// Whether the caller wants no more of the body for now.
            var isHeld = false
            /// Whether its connection can't be left unread without holding up others.
            var carriesOthers = false
            /// Whether the delivery waits until it does.
            var isParked = false
        }

        /// What the delivery knows of the exchange; it has one event at a time.
        private struct Delivery {
            var decoder: ContentDecoder?
            /// The size of the part that is being decoded.
            var undecoded = 0
            /// What has arrived since the delivery waits.
            var parked: [TransportEvent] = []
            var isParked = false
            /// Whether a part was left out, since the exchange was cancelled.
            var isIncomplete = false
        }

        @exclusivity(unchecked) private var delivery = Delivery()

        init(
            _ request: TransportRequest, loop: CurlLoop, taker: (any ResponseTaker)? = nil,
            receive: @escaping @Sendable (TransportEvent) -> Void
        ) {
            self.request = request
            isSecure = request.target.scheme == .https
            self.loop = loop
            self.taker = taker
            self.receive = receive
        }

        func cancel() {
            emptyBody?.interrupt()
            loop.cancel(self)
        }

        /// Starts as soon as a body has been found to be as empty as was announced:
        /// libcurl doesn't read one without bytes, and the loop ends with the transport.
        func start(after body: TransportBodyReader, of transport: CurlTransport) {
            emptyBody = body
            shared.isChecked = false
            // It may open a file, and the disk may stall. The process's own threads may all be busy.
            let queue = DispatchQueue(label: "AtomNetworking.CurlTransport.body", qos: .userInitiated)
            queue.async { self.check(body, of: transport) }
        }

        private func check(_ body: TransportBodyReader, of transport: CurlTransport) {
            do {
                var byte: UInt8 = 0
                let count = try withUnsafeMutableBytes(of: &byte) { (place) throws(AtomError) in
                    try body.read(into: place)
                }
                if count == 0 { return body.whenReadable { self.check(body, of: transport) } }
                loop.start(self)
            } catch {
                loop.refuse(self, TransportFailure(error, delivery: .notSent))
            }
        }

        func pause() -> Bool { loop.hold(self) }

        func resume() { loop.letGo(self) }

        var isBehind: Bool { loop.delivery.holds(self) }

        func catchUp(_ done: @escaping @Sendable () -> Void) { loop.catchUp(self, done) }

        /// More of the request's body can be read.
        func bodyIsReadable() { loop.goOn(self) }

        /// Passes an event on, on one of the delivery's threads.
        func deliver(_ event: TransportEvent?) {
            if let event {
                guard receive != nil else { return }
                guard !delivery.isParked else { return park(event) }
                pass(event)
            } else {
                goOn()
            }
        }

        private func pass(_ event: TransportEvent) {
            switch event {
            case .response(let head):
                // A part of what is encoded can't be decoded (RFC 9110 §14.1.2).
                delivery.decoder = head.statusCode == 206 ? nil : ContentDecoder(head.headerFields)
                receive?(event)
            case .data(let part):
                guard let decoder = delivery.decoder else {
                    receive?(event)
                    return loop.delivered(part.count, of: self)
                }
                delivery.undecoded = part.count
                decoder.take(part)
                decode(decoder)
            case .finished where delivery.isIncomplete:
                end(.cancelled)
            case .finished where delivery.decoder.map { !$0.isComplete } ?? false:
                end(WireProblem.truncatedBody)
            case .finished, .failed:
                delivery.decoder = nil
                receive.take()?(event)
            case .sent, .measured:
                receive?(event)
            }
        }

        /// Passes a part on as it is decoded, until the receiver wants no more.
        private func decode(_ decoder: ContentDecoder) {
            do {
                var isSilent = true
                while true {
                    switch loop.demand(of: self) {
                    case .nothing:
                        delivery.isIncomplete = true
                        return
                    case .later:
                        delivery.isParked = true
                        return
                    case .more: break
                    }
                    guard let part = try decoder.next() else {
                        // Even so something has arrived.
                        if isSilent { receive?(.sent(0)) }
                        return loop.delivered(delivery.undecoded, of: self)
                    }
                    guard !part.isEmpty else { continue }
                    isSilent = false
                    receive?(.data(part))
                }
            } catch {
                end(.unreadableBody(error.reason))
            }
        }

        private func park(_ event: TransportEvent) {
            guard case .failed = event else { return delivery.parked.append(event) }
            // What is waiting is not wanted any more, or not whole.
            delivery.parked = []
            delivery.isParked = false
            pass(event)
        }

        /// The receiver wants the rest.
        private func goOn() {
            guard delivery.isParked, let decoder = delivery.decoder else { return }
            delivery.isParked = false
            decode(decoder)
            let parked = delivery.parked
            delivery.parked = []
            for event in parked { deliver(event) }
        }

        private func end(_ problem: WireProblem) {
            let error = CurlError(code: 61, message: problem.explanation)
            delivery.decoder = nil
            receive.take()?(.failed(problem.failure(delivery: .answered, underlying: error)))
            loop.cancel(self)
        }

        /// Hands a whole response over on the loop's thread, if nothing of it has been reported or has to be decoded.
        func take(_ response: WholeResponse) -> ResponseTaking {
            guard let taker = taker.take(), !response.head.headerFields.contains("Content-Encoding") else {
                return .refused
            }
            return taker.take(response)
        }

        /// Whether a part of the body has to wait, beside so many bytes that haven't been
        /// handed over; called on the loop's thread.
        func mustWait(pending: Int) -> Bool {
            // A held body is rare, and smaller ones need no lock.
            guard handedOver + Int64(pending) > Self.maximumBacklog else { return false }
            return loop.pauses(self, handedOver: handedOver, pending: pending)
        }
    }
#endif
