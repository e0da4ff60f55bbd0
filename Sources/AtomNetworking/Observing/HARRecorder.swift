import Foundation

/// Records the requests of a service for a file in the HTTP Archive format (HAR
/// 1.2), which browsers and other tools open.
///
/// ```swift
/// import AtomNetworking
/// import Foundation
///
/// let recorder = HARRecorder()
/// var configuration = ServiceConfiguration()
/// configuration.observers = [recorder]
/// let atom = Atom(serviceConfiguration: configuration)
/// // …
/// try recorder.write(to: URL(fileURLWithPath: "requests.har"))
/// ```
///
/// Each sending of a request is an entry, sorted by the time at which it began.
/// Requests that still run aren't in it, and nor are requests that were never
/// sent. The bodies of responses are never in it, only their sizes.
///
/// The recorder keeps no secrets unless it is asked to: see
/// ``RequestDisclosure``. <doc:Exporting> has more.
public final class HARRecorder: RequestObserver {
    private struct Running {
        let startDate: Date
        /// When the next sending began to wait.
        var nextStart = Duration.zero
        var sendings: [HARSending] = []
    }

    private struct Recorded {
        let startDate: Date
        let entry: HARLog.Entry
    }

    private struct Content {
        var running: [UInt64: Running] = [:]
        var entries: [Recorded] = []
        var droppedCount = 0

        /// Drops the entries that were recorded first.
        mutating func drop(_ count: Int) {
            guard count > 0 else { return }
            entries.removeFirst(count)
            droppedCount += count
        }
    }

    private let limit: Int
    private let disclosure: RequestDisclosure
    private let content = Guarded(Content())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - limit: The largest number of entries, at least 1. The oldest ones are
    ///     dropped, and the file says how many.
    ///   - disclosure: What is recorded of requests and of the header fields of
    ///     responses.
    public init(limit: Int = 1_000, showing disclosure: RequestDisclosure = .onlyHarmless) {
        self.limit = max(limit, 1)
        self.disclosure = disclosure
    }

    /// Records what has happened.
    public func observe(_ event: RequestEvent) {
        guard let requestID = event.requestID else { return }
        switch event.kind {
        case .described:
            content.withLock { $0.running[requestID] = Running(startDate: event.date) }
        case .sent(let request):
            change(requestID) { running in
                let sending = HARSending(
                    requestID: requestID, purpose: event.purpose, request: request,
                    startDate: running.startDate.addingTimeInterval(running.nextStart.seconds),
                    started: running.nextStart, sent: event.elapsed)
                running.sendings.append(sending)
            }
        case .answered(let head):
            change(requestID, sending: head.number) { sending in
                sending.head = head
                sending.answered = event.elapsed
            }
        case .measured(let metrics, let number):
            change(requestID, sending: number) { $0.metrics = metrics }
        case .redirected:
            end(requestID, at: event.elapsed, failure: nil)
        case .retried(let failure, _):
            if case .connection = failure {
                end(requestID, at: event.elapsed, failure: failure.description)
            } else {
                end(requestID, at: event.elapsed, failure: nil)
            }
        case .finished(let summary):
            // The caller's error of an answer is the answer itself.
            let failure = summary.failure.flatMap { $0.kind == .response ? nil : $0.description }
            end(requestID, at: event.elapsed, failure: failure)
            finish(requestID, summary)
        case .refused, .joined, .queued, .admitted, .refreshed, .sessionEnded:
            break
        }
    }

    private func change(_ requestID: UInt64, _ body: (inout Running) -> Void) {
        content.withLock { content in
            guard content.running[requestID] != nil else { return }
            body(&content.running[requestID, default: Running(startDate: .distantPast)])
        }
    }

    private func change(_ requestID: UInt64, sending number: Int, _ body: (inout HARSending) -> Void) {
        change(requestID) { running in
            guard let index = running.sendings.firstIndex(where: { $0.request.number == number }) else { return }
            body(&running.sendings[index])
        }
    }

    /// Ends the sending that runs, if one does.
    private func end(_ requestID: UInt64, at moment: Duration, failure: String?) {
        change(requestID) { running in
            running.nextStart = moment
            guard let index = running.sendings.indices.last, running.sendings[index].ended == nil else { return }
            running.sendings[index].ended = moment
            running.sendings[index].failure = failure
        }
    }

    private func finish(_ requestID: UInt64, _ summary: RequestSummary) {
        guard var sendings = content.withLock({ $0.running.removeValue(forKey: requestID) })?.sendings else { return }
        for index in sendings.indices {
            sendings[index].bytesReceived = summary.bytesReceived(by: sendings[index].request.number)
        }
        let entries = sendings.map {
            Recorded(startDate: $0.startDate, entry: HARLog.Entry($0, showing: disclosure))
        }
        content.withLock { content in
            content.entries += entries
            // Seldom, so that a full recorder doesn't move all entries each time.
            let surplus = content.entries.count - limit
            guard surplus >= max(limit / 4, 1) else { return }
            content.drop(surplus)
        }
    }

    /// The content of a file with all entries, JSON in UTF-8.
    public func har() -> Data {
        let (entries, droppedCount) = content.withLock { content in
            content.drop(content.entries.count - limit)
            return (content.entries, content.droppedCount)
        }
        return HARLog(
            entries: entries.sorted { $0.startDate < $1.startDate }.map(\.entry),
            comment: droppedCount == 0 ? nil : "\(droppedCount) older entries were dropped."
        ).data
    }

    /// Writes a file with all entries.
    ///
    /// A file that exists is replaced, at once and as a whole.
    ///
    /// - Throws: ``AtomError/transfer(_:)`` if the file can't be written.
    public func write(to fileURL: URL) throws(AtomError) {
        guard fileURL.isFileURL else {
            throw .transfer(
                TransferError(
                    .destinationUnusable, "The HAR file can't be written: its URL is not a file URL.",
                    delivery: .notSent))
        }
        do {
            try har().write(to: fileURL, options: .atomic)
        } catch {
            throw .transfer(
                TransferError(
                    .writingFailed,
                    "The HAR file “\(Redaction.subject(fileURL.lastPathComponent))” can't be written.",
                    delivery: .notSent, underlying: error))
        }
    }
}

extension HARRecorder: CustomReflectable {
    /// Keeps `dump` from showing what is recorded.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
