import AtomNetworking
import Foundation

/// Keeps the events of all requests.
final class RecordingObserver: RequestObserver, @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var heard: [RequestEvent] = []
    private let whileObserving: @Sendable (RequestEvent) -> Void

    /// - Parameter whileObserving: Called with each event after it is kept.
    init(_ whileObserving: @escaping @Sendable (RequestEvent) -> Void = { _ in }) {
        self.whileObserving = whileObserving
    }

    func observe(_ event: RequestEvent) {
        lock.withLock { heard.append(event) }
        whileObserving(event)
    }

    var events: [RequestEvent] { lock.withLock { heard } }

    /// The app's own requests, as the lines of a log without the number.
    func story(of purpose: RequestEvent.Purpose = .service, at path: String? = nil) -> [String] {
        events.filter { $0.purpose == purpose && (path == nil || $0.request?.url.hasSuffix(path ?? "") == true) }
            .map { event in event.description.split(separator: "] ", maxSplits: 1).last.map(String.init) ?? "" }
    }

    /// The ends of requests.
    var summaries: [RequestSummary] {
        events.compactMap { if case .finished(let summary) = $0.kind { summary } else { nil } }
    }
}
