import AtomNetworking
import Foundation

/// URLSession as the transport, with a note of every exchange: what started
/// when, in which order, and how it ended.
///
/// It stands where the SDK meets the network, below its queue and its
/// redirects, so a request that is sent twice is noted twice. It keeps no
/// header field but `X-Request-ID`.
final class WireTap: Transport, @unchecked Sendable {
    /// One exchange.
    struct Record: Sendable, Equatable {
        var method: String
        var url: String
        var path: String
        var requestID: String?
        var startedAt: Double
        var answeredAt: Double?
        var endedAt: Double?
        var status: Int?
    }

    private let base = URLSessionTransport()
    private let stopwatch: Stopwatch
    private let onEnd: @Sendable (Record) -> Void
    private let lock = NSLock()
    private var notes: [Record] = []

    /// - Parameter onEnd: Called when an exchange is over, on any thread.
    init(_ stopwatch: Stopwatch, onEnd: @escaping @Sendable (Record) -> Void = { _ in }) {
        self.stopwatch = stopwatch
        self.onEnd = onEnd
    }

    /// What was noted so far, in the order in which it started.
    var records: [Record] { lock.withLock { notes } }

    /// What was noted after the first so many.
    func records(after count: Int) -> [Record] { Array(records.dropFirst(count)) }

    var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let target = request.target
        let record = Record(
            method: request.method, url: target.absoluteString, path: target.url?.path ?? "",
            requestID: request.headerFields["X-Request-ID"], startedAt: stopwatch.seconds)
        let index = lock.withLock {
            notes.append(record)
            return notes.count - 1
        }
        return base.start(request) { [self] event in
            note(event, of: index)
            receive(event)
        }
    }

    private func note(_ event: TransportEvent, of index: Int) {
        let now = stopwatch.seconds
        let ended: Record? = lock.withLock {
            switch event {
            case .response(let head):
                notes[index].answeredAt = now
                notes[index].status = head.statusCode
            case .finished, .failed:
                notes[index].endedAt = now
                return notes[index]
            case .sent, .data: break
            }
            return nil
        }
        if let ended { onEnd(ended) }
    }
}
