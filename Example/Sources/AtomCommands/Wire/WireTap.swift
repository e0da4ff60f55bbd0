import AtomNetworking
import Foundation

/// A transport with a record of every exchange: when it started, in which
/// order, and how it ended.
///
/// It is below the SDK's queue and redirects, so a request that is sent twice
/// has two records. The only header field that it keeps is `X-Request-ID`.
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

    private let base: any Transport
    private let stopwatch: Stopwatch
    private let onEnd: @Sendable (Record) -> Void
    private let lock = NSLock()
    private var notes: [Record] = []
    /// The exchanges whose last event the SDK has not handled yet.
    private var openExchanges = 0

    /// - Parameters:
    ///   - base: What sends the requests; by default the platform's transport.
    ///   - onEnd: Called when an exchange is over, on any thread.
    init(
        _ stopwatch: Stopwatch, over base: any Transport = ServiceConfiguration().makeDefaultTransport(),
        onEnd: @escaping @Sendable (Record) -> Void = { _ in }
    ) {
        self.stopwatch = stopwatch
        self.base = base
        self.onEnd = onEnd
    }

    /// The name of the transport below.
    var transportName: String { TransportName.of(base) }

    /// The records so far, in the order in which the exchanges started.
    var records: [Record] { lock.withLock { notes } }

    /// The records after the first ones.
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
            openExchanges += 1
            return notes.count - 1
        }
        return base.start(request) { [self] event in
            note(event, of: index)
            receive(event)
            switch event {
            case .finished, .failed: lock.withLock { openExchanges -= 1 }
            case .sent, .response, .data, .measured: break
            }
        }
    }

    /// Waits until the SDK has handled the end of every exchange; at most a
    /// second.
    ///
    /// It tells of a cancellation before that, and only then removes the file of
    /// a download. A process must not end in between.
    func settle() async {
        for _ in 0..<200 {
            guard lock.withLock({ openExchanges > 0 }) else { return }
            try? await Task.sleep(for: .milliseconds(5))
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
            case .sent, .data, .measured: break
            }
            return nil
        }
        if let ended { onEnd(ended) }
    }
}
