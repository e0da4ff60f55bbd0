import AtomNetworking
import Foundation

/// A transport that passes requests on to another one, and records when each exchange started and how it was answered.
///
/// It is below the SDK's queue and redirects, so a request that is sent twice has two records.
final class WireTap: Transport, @unchecked Sendable {
    /// One exchange.
    struct Record: Sendable {
        let method: String
        let url: String
        let startedAt: Double
        var answeredAt: Double?
        var status: Int?
    }

    private let base: any Transport
    private let stopwatch = Stopwatch()
    // The following properties are accessed only under `lock`.
    private let lock = NSLock()
    private var notes: [Record] = []
    /// The exchanges whose last event the SDK has not handled yet.
    private var openExchanges = 0

    /// - Parameter base: What sends the requests; by default, what the SDK uses.
    init(over base: (any Transport)? = nil) {
        self.base = base ?? ServiceConfiguration().makeDefaultTransport()
    }

    /// The seconds since its creation.
    var seconds: Double { stopwatch.seconds }

    /// The records so far, in the order in which the exchanges started.
    var records: [Record] { lock.withLock { notes } }

    var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let record = Record(
            method: request.method, url: request.target.absoluteString, startedAt: stopwatch.seconds)
        let index = lock.withLock {
            notes.append(record)
            openExchanges += 1
            return notes.count - 1
        }
        return base.start(request) { [self] event in
            if case .response(let head) = event {
                let now = stopwatch.seconds
                lock.withLock {
                    notes[index].answeredAt = now
                    notes[index].status = head.statusCode
                }
            }
            receive(event)
            switch event {
            case .finished, .failed: lock.withLock { openExchanges -= 1 }
            case .sent, .response, .data, .measured: break
            }
        }
    }

    /// Waits until the SDK has handled the end of every exchange; at most a second.
    ///
    /// It tells of a cancellation before that, and only then removes the file of
    /// a download. A process must not end in between.
    func settle() async {
        for _ in 0..<200 {
            guard lock.withLock({ openExchanges > 0 }) else { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
