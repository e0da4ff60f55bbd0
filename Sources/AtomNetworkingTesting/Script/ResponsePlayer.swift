import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends what an answer says.
struct ResponsePlayer: Sendable {
    let delivery: ScriptedTransport.Delivery
    let clock: ManualClock
    let wire: Watched<WireState>
    let queue = DispatchQueue(label: "AtomNetworkingTesting.wire", qos: .userInitiated)
    private static let isOnQueue = DispatchSpecificKey<ObjectIdentifier>()

    init(delivery: ScriptedTransport.Delivery, clock: ManualClock, wire: Watched<WireState>) {
        (self.delivery, self.clock, self.wire) = (delivery, clock, wire)
        queue.setSpecific(key: Self.isOnQueue, value: ObjectIdentifier(queue))
    }

    /// Waits until the queue has done what it was given so far, unless that is what calls.
    func finishQueue() {
        if DispatchQueue.getSpecific(key: Self.isOnQueue) != ObjectIdentifier(queue) { queue.sync {} }
    }

    func inDelivery(_ body: @escaping @Sendable () -> Void) {
        if delivery == .immediate { body() } else { queue.async(execute: body) }
    }

    /// - Parameter turn: What the exchange does now. An answer that waits is given
    ///   up when it has gone on to something else.
    func perform(_ answer: ScriptedResponse, _ exchange: ScriptedExchange, _ turn: Int) {
        switch answer.content {
        case .response(let status, let fields, let parts, let ending):
            begin(TransportResponse(statusCode: status, headerFields: fields), exchange)
            // These have no body (RFC 9110 §6.4.1).
            if exchange.request.method != "HEAD", status != 204, status != 304 {
                for part in parts where !part.isEmpty { exchange.push([.data(part)]) }
            }
            switch ending {
            case .complete: exchange.push([.finished])
            case .failure(let code): exchange.fail(URLError(code), delivery: .answered)
            case .never: break
            }
        case .file(let file, let fields):
            sendFile(file, fields, exchange)
        case .failure(let code, let delivery):
            exchange.fail(URLError(code), delivery: delivery)
        case .never:
            break
        case .delayed(let duration, let answer):
            exchange.wait(at: turn) {
                let alarm = clock.makeAlarm { [weak exchange] in
                    exchange?.goOn(at: turn) { [weak exchange] turn in
                        if let exchange { perform(answer, exchange, turn) }
                    }
                }
                alarm.set(clock.now.advanced(by: duration))
                return alarm
            }
        case .byHand(let endsOnCancel, let begin):
            exchange.hold(endsOnCancel: endsOnCancel)
            begin(exchange)
        case .gated(let gate, let answer):
            gate.whenReleased { [weak exchange] in
                exchange?.goOn(at: turn) { [weak exchange] turn in
                    if let exchange { perform(answer, exchange, turn) }
                }
            }
        case .computed(let compute):
            do {
                perform(try compute(exchange.request), exchange, turn)
            } catch {
                fail(exchange, ": its answer throws \(type(of: error))")
            }
        case .impossible(let reason):
            fail(exchange, ": " + reason)
        }
    }

    /// Ends an exchange with an error that isn't a server's or a network's.
    func fail(_ exchange: ScriptedExchange, _ reason: String) {
        let text = "The script has no answer for \(exchange.name)\(reason)"
        wire.withLock { $0.unanswered.append(text + ".") }
        let violation = RequestableError.Violation(reason: text)
        exchange.fail(AtomError.requestable(.unsupportedConfiguration(violation)), delivery: .notSent)
    }

    private func begin(_ head: TransportResponse, _ exchange: ScriptedExchange) {
        // The test may have sent a part of that by hand.
        let rest = exchange.request.bodyLength - exchange.sentLength
        if rest > 0 { exchange.push([.sent(Int(clamping: rest))]) }
        exchange.push([.response(head)])
    }

    private func sendFile(_ file: URL, _ fields: HeaderFields, _ exchange: ScriptedExchange) {
        var fields = fields
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let size = try handle.seekToEnd()
            try handle.seek(toOffset: 0)
            if !fields.contains("Content-Length") { fields.append(name: "Content-Length", value: "\(size)") }
            begin(TransportResponse(statusCode: 200, headerFields: fields), exchange)
            let hasBody = exchange.request.method != "HEAD"
            while hasBody, !exchange.isUnheard, let part = try handle.read(upToCount: 64 << 10), !part.isEmpty {
                exchange.push([.data(part)])
            }
            exchange.push([.finished])
        } catch {
            fail(exchange, ": the file \(file.lastPathComponent) can't be read")
        }
    }
}
