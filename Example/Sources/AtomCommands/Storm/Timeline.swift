import AtomNetworking
import Foundation

/// What happened to many requests, and when.
struct Timeline: Sendable {
    /// What a request does for a time.
    enum Phase: Sendable {
        /// It waits for a connection or for the session.
        case waiting
        /// It is on the wire for the first time.
        case wire
        /// It is on the wire once more, after a 401.
        case again
    }

    struct Span: Sendable {
        let phase: Phase
        /// In seconds since the beginning of the recording.
        let start: Double
        let end: Double
    }

    struct Request: Sendable {
        /// Counted from 1, in the order in which they were made.
        let number: Int
        var spans: [Span] = []
        /// When a 401 arrived.
        var refusals: [Double] = []
        var waitedForSession = false
        var isFailed = false
    }

    var requests: [Request] = []
    var refreshes: [Span] = []
}

/// Records a timeline, as an observer of the service.
final class TimelineRecorder: RequestObserver, @unchecked Sendable {
    /// A request whose outcome isn't known yet.
    private struct Running {
        var request: Timeline.Request
        var phase = Timeline.Phase.waiting
        var since: Double

        /// Ends the present phase, and begins another one.
        mutating func begin(_ next: Timeline.Phase, at moment: Double) {
            if moment > since { request.spans.append(.init(phase: phase, start: since, end: moment)) }
            (phase, since) = (next, moment)
        }
    }

    private let start = Date()
    // The following properties are accessed only under `lock`.
    private let lock = NSLock()
    private var recorded = Timeline()
    private var running: [UInt64: Running] = [:]
    private var count = 0

    /// What was recorded, in the order in which the requests were made.
    var timeline: Timeline {
        var timeline = lock.withLock { recorded }
        timeline.requests.sort { $0.number < $1.number }
        return timeline
    }

    func observe(_ event: RequestEvent) {
        guard let id = event.requestID else { return }
        let now = event.date.timeIntervalSince(start)
        lock.withLock {
            switch event.purpose {
            case .service: note(event.kind, of: id, at: now)
            case .token:
                guard case .finished(let summary) = event.kind else { return }
                let start = now - summary.duration / .seconds(1)
                recorded.refreshes.append(.init(phase: .wire, start: start, end: now))
            case .revocation: break
            }
        }
    }

    private func note(_ kind: RequestEvent.Kind, of id: UInt64, at now: Double) {
        switch kind {
        case .described:
            count += 1
            running[id] = Running(request: .init(number: count), since: now)
        case .queued(let reason):
            running[id]?.begin(.waiting, at: now)
            if reason == .session { running[id]?.request.waitedForSession = true }
        case .sent(let request):
            running[id]?.begin(request.attempt > 1 ? .again : .wire, at: now)
        case .answered(let head) where head.statusCode == 401:
            running[id]?.request.refusals.append(now)
            running[id]?.begin(.waiting, at: now)
        case .finished(let summary):
            running[id]?.begin(.waiting, at: now)
            guard var request = running.removeValue(forKey: id)?.request else { return }
            request.isFailed = summary.failure != nil
            recorded.requests.append(request)
        default: break
        }
    }
}
