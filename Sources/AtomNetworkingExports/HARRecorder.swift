import AtomNetworking
import Foundation

/// Records the requests of a service for a file in the HTTP Archive format (HAR
/// 1.2), which browsers and other tools open.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingExports
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
/// Each attempt of a request is an entry, sorted by the time at which it began, and so is a response of the service's
/// cache, without its body; its field `cache` says so.
/// Requests that still run aren't in it, and nor are requests that were never
/// sent. The bodies of responses are in it only if they are asked for; otherwise
/// it has their sizes.
///
/// What it writes holds no secrets unless it is asked to: see
/// ``RequestDisclosure``. It notes what it hears, and searches that for secrets
/// when somebody reads it, so that no request waits.
public final class HARRecorder: BodyObserver {
    private struct Running {
        let startDate: Date
        /// When the next attempt began to wait.
        var nextStart = Duration.zero
        var attempts: [HARAttempt] = []
        /// The parts that came before the events of their attempts.
        var early: [Int: HARBody] = [:]

        func index(of attempt: Int) -> Int? { attempts.firstIndex { $0.request.attempt == attempt } }
    }

    /// An attempt that has ended.
    ///
    /// It is searched for credentials when it is read for the first time, and not while requests wait.
    private final class Recorded: Sendable {
        private enum Content {
            case noted(HARAttempt)
            case shown(HARLog.Entry)
        }

        let startDate: Date
        let bodySize: Int
        private let content: Guarded<Content>

        init(_ attempt: HARAttempt) {
            startDate = attempt.startDate
            bodySize = attempt.request.bodySize + (attempt.body.data?.count ?? 0)
            content = Guarded(.noted(attempt))
        }

        func entry(recordsBodies: Bool) -> HARLog.Entry {
            content.withLock { content in
                switch content {
                case .shown(let entry): return entry
                case .noted(let attempt):
                    let entry = HARLog.Entry(attempt, recordsBodies: recordsBodies)
                    content = .shown(entry)
                    return entry
                }
            }
        }
    }

    private struct Content {
        var attempts = 0
        var running: [UInt64: Running] = [:]
        var entries: [Recorded] = []
        var droppedCount = 0
        /// The size of all bodies in `entries`.
        var bodySize = 0

        mutating func append(_ new: [Recorded]) {
            entries += new
            bodySize += new.reduce(0) { $0 + $1.bodySize }
        }

        /// Drops the entries that were recorded first.
        mutating func drop(_ count: Int) {
            guard count > 0 else { return }
            bodySize -= entries.prefix(count).reduce(0) { $0 + $1.bodySize }
            entries.removeFirst(count)
            droppedCount += count
        }

        /// Drops so many old entries that the bodies take half of the limit.
        mutating func dropBodies(over limit: Int) {
            guard bodySize > limit else { return }
            var (count, size) = (0, bodySize)
            while size > limit / 2, count < entries.count - 1 {
                size -= entries[count].bodySize
                count += 1
            }
            drop(count)
        }
    }

    private let limit: Int
    private let disclosure: RequestDisclosure
    private let bodyLimit: Int
    private let content = Guarded(Content())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - limit: The largest number of entries, at least 1. The oldest ones are dropped, and the file says how many.
    ///   - disclosure: What is recorded of requests and responses.
    ///   - bodyLimit: The largest body of a response that is recorded, in bytes; 0 for none. With
    ///     ``RequestDisclosure/onlyHarmless`` none is recorded. The bodies of all requests that have ended, with those
    ///     of their responses, take at most 64 MiB and one body: then the oldest entries are dropped.
    public init(
        limit: Int = 1_000, showing disclosure: RequestDisclosure = .onlyHarmless, responseBodiesUpTo bodyLimit: Int = 0
    ) {
        self.limit = max(limit, 1)
        self.disclosure = disclosure
        self.bodyLimit = disclosure == .onlyHarmless ? 0 : max(bodyLimit, 0)
    }

    /// The size of all recorded bodies.
    private static let totalBodyLimit = 64 << 20

    package func observe(_ part: Data, of requestID: UInt64, attempt: Int) {
        change(requestID) { [bodyLimit] running in
            if let index = running.index(of: attempt) {
                running.attempts[index].body.append(part, limit: bodyLimit)
            } else {
                running.early[attempt, default: HARBody()].append(part, limit: bodyLimit)
            }
        }
    }

    /// Records what has happened.
    public func observe(_ event: RequestEvent) {
        guard let requestID = event.requestID else { return }
        switch event.kind {
        case .described:
            content.withLock { $0.running[requestID] = Running(startDate: event.date) }
        case .sent(let request):
            let sequence = content.withLock { content in
                content.attempts += 1
                return content.attempts
            }
            let noted = NotedRequest(request.transportRequest, showing: disclosure)
            change(requestID) { running in
                var attempt = HARAttempt(
                    sequence: sequence, requestID: requestID, purpose: event.purpose, request: noted,
                    startDate: running.startDate.addingTimeInterval(running.nextStart.seconds),
                    started: running.nextStart, sent: event.elapsed)
                attempt.body = running.early.removeValue(forKey: request.attempt) ?? HARBody()
                running.attempts.append(attempt)
            }
        case .cached(let head, let source):
            guard let request = event.request else { return }
            let sequence = content.withLock { content in
                content.attempts += 1
                return content.attempts
            }
            let noted = NotedRequest(request, showing: disclosure)
            change(requestID) { running in
                var attempt = HARAttempt(
                    sequence: sequence, requestID: requestID, purpose: event.purpose, request: noted,
                    startDate: running.startDate, started: .zero, sent: event.elapsed)
                (attempt.head, attempt.answered, attempt.source) = (head, event.elapsed, source)
                running.attempts.append(attempt)
            }
        case .answered(let head):
            change(requestID, attempt: head.attempt) { attempt in
                attempt.head = head
                attempt.answered = event.elapsed
            }
        case .measured(let metrics, let attempt):
            change(requestID, attempt: attempt) { $0.metrics = metrics }
        case .redirected:
            end(requestID, at: event.elapsed) { $0.isLeft = true }
        case .retried(let failure, let delivery, _):
            end(requestID, at: event.elapsed) { attempt in
                attempt.isLeft = true
                guard case .connection(let code) = failure else { return }
                attempt.failure = failure.description
                attempt.failureCode = code
                attempt.delivery = delivery
            }
        case .finished(let summary):
            // The caller's error of a response is the response itself.
            end(requestID, at: event.elapsed) { attempt in
                if let failure = summary.failure, failure.kind != .response { attempt.failed(failure) }
            }
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

    private func change(_ requestID: UInt64, attempt: Int, _ body: (inout HARAttempt) -> Void) {
        change(requestID) { running in
            guard let index = running.index(of: attempt) else { return }
            body(&running.attempts[index])
        }
    }

    /// Ends the attempt that runs, if one does.
    private func end(_ requestID: UInt64, at moment: Duration, _ body: (inout HARAttempt) -> Void) {
        change(requestID) { running in
            running.nextStart = moment
            guard let index = running.attempts.indices.last, running.attempts[index].ended == nil else { return }
            running.attempts[index].ended = moment
            body(&running.attempts[index])
        }
    }

    private func finish(_ requestID: UInt64, _ summary: RequestSummary) {
        guard var attempts = content.withLock({ $0.running.removeValue(forKey: requestID) })?.attempts else { return }
        for index in attempts.indices { attempts[index].bytesReceived = attempts[index].body.size }
        if let last = attempts.indices.last {
            // What wasn't heard belongs to the last one: it has no empty body.
            let others = attempts.dropLast().reduce(0) { $0 + $1.bytesReceived }
            attempts[last].bytesReceived = max(attempts[last].bytesReceived, summary.bytesReceived - others)
        }
        let entries = attempts.map { Recorded($0) }
        content.withLock { content in
            content.append(entries)
            content.dropBodies(over: Self.totalBodyLimit)
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
        let shown = entries.sorted { $0.startDate < $1.startDate }.map { $0.entry(recordsBodies: bodyLimit > 0) }
        let comment = droppedCount == 0 ? nil : "\(droppedCount) older entries were dropped."
        return HARFile(log: HARLog(entries: shown, comment: comment)).data
    }

    /// Writes a file with all entries.
    ///
    /// A file that exists is replaced, at once and as a whole, and keeps its mode. A
    /// new one can be read by this user only. A device or a pipe is written to, until all is read.
    ///
    /// - Throws: `AtomError.transfer` if the file can't be written.
    public func write(to fileURL: URL) throws(AtomError) {
        do {
            try FileDestination(fileURL).write(har())
        } catch {
            let refusal = error as? FileDestination.Refusal
            throw .transfer(
                TransferError(
                    refusal == nil ? .writingFailed : .destinationUnusable,
                    "The HAR file “\(Redaction.subject(fileURL.lastPathComponent))” can't be written"
                        + (refusal.map { ": \($0.reason)." } ?? "."),
                    delivery: .notSent, underlying: refusal == nil ? error : nil))
        }
    }
}

extension HARRecorder: Redacted {}
