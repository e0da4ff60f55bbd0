import Foundation

/// One connection on its thread: it reads requests and sends responses.
struct Connection {
    let socket: Socket
    let number: Int
    let ledger: Ledger
    let limits: RequestReader.Limits

    func serve(with handler: LoopbackServer.Handler) {
        let reader = RequestReader(socket: socket, limits: limits)
        let writer = ResponseWriter(socket: socket, reader: reader)
        var ending = ResponseWriter.Ending.keepAlive
        while ending == .keepAlive {
            ending = serveOne(reader, writer, handler)
        }
        ledger.connectionReleased(number)
        if ending == .reset {
            socket.closeWithReset()
        } else {
            socket.closeGracefully()
        }
        ledger.connectionClosed()
    }

    private func serveOne(
        _ reader: RequestReader, _ writer: ResponseWriter, _ handler: LoopbackServer.Handler
    ) -> ResponseWriter.Ending {
        let request: LoopbackServer.Request
        do {
            request = ledger.requestReceived(try reader.next(), on: number)
        } catch {
            switch error {
            case .ended:
                break
            case .incomplete:
                ledger.clientLeft(number, duringRequest: true)
            case .malformed(let reason, let status):
                refuse(reason, status, writer, reader)
            }
            return .close
        }
        // A request counts as in progress until just before the last bytes are
        // sent, so never longer than for the client.
        var isEnding = false
        let response = handler(request)
        let ending = writer.write(response, to: request) {
            if !isEnding { ledger.answerEnding() }
            isEnding = true
        }
        if !isEnding { ledger.answerEnding() }
        if ending == .clientLeft { ledger.clientLeft(number, duringRequest: false) }
        let goesOn = ledger.becameIdle(number)
        return ending == .keepAlive && !goesOn ? .close : ending
    }

    /// Sends an error response, and gives the client, which may still be sending, a second to read it.
    private func refuse(_ reason: String, _ status: Int, _ writer: ResponseWriter, _ reader: RequestReader) {
        ledger.malformedRequest(reason)
        _ = writer.write(.text(reason + "\n", status: status).closing(), to: nil) {}
        socket.finishWriting()
        let deadline = Deadline(milliseconds: 1_000)
        while deadline.remaining > 0, poll(reading: socket, gate: nil, milliseconds: deadline.remaining).socket {
            guard reader.discardArrived() else { return }
        }
    }
}

/// A point in time on a monotonic clock.
struct Deadline {
    private let end: UInt64

    init(milliseconds: Int) {
        // Longer than any test, and without overflow.
        let waited = min(UInt64(clamping: milliseconds), 1 << 40)
        end = DispatchTime.now().uptimeNanoseconds + waited * 1_000_000
    }

    /// The remaining milliseconds, rounded up, for `poll`.
    var remaining: Int32 {
        let now = DispatchTime.now().uptimeNanoseconds
        return now >= end ? 0 : Int32(clamping: (end - now + 999_999) / 1_000_000)
    }
}
