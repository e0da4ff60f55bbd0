import AtomNetworking
import Foundation

/// A transport that records the timeline of a storm.
///
/// Requests have their number in `X-Request-ID`; what has none is a refresh. It
/// keeps the exchanges of a request only until the request ends.
final class StormTap: Transport, @unchecked Sendable {
    private let base: any Transport
    private let stopwatch: Stopwatch
    private let lock = NSLock()
    private var running: [Int: (start: Double, attempts: [StormTimeline.Attempt])] = [:]
    /// When each refresh started that hasn't ended.
    private var refreshing: [Int: Double] = [:]
    private var refreshesStarted = 0
    /// The refreshes whose response has a good status.
    private var answered: Set<Int> = []
    private var timeline: StormTimeline

    init(
        requests: Int, _ stopwatch: Stopwatch, over base: any Transport = ServiceConfiguration().makeDefaultTransport()
    ) {
        self.base = base
        self.stopwatch = stopwatch
        timeline = StormTimeline(planned: requests)
    }

    var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

    /// A request is about to be resumed.
    func begin(_ number: Int, at seconds: Double) {
        lock.withLock { running[number] = (seconds, []) }
    }

    /// The result of a request is known.
    func end(_ number: Int, at seconds: Double, _ outcome: StormTimeline.Outcome) {
        lock.withLock {
            guard let request = running.removeValue(forKey: number) else { return }
            timeline.note(
                .init(
                    number: number, start: request.start, end: seconds, attempts: request.attempts, outcome: outcome))
        }
    }

    /// What was recorded, when the storm is over.
    func timeline(until seconds: Double) -> StormTimeline {
        lock.withLock {
            var timeline = timeline
            for start in refreshing.values { timeline.note(.init(start: start, end: seconds, isSuccessful: false)) }
            timeline.close(at: seconds)
            return timeline
        }
    }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let exchange = began(request.headerFields["X-Request-ID"].flatMap { Int($0) }, at: stopwatch.seconds)
        return base.start(request) { [self] event in
            note(event, of: exchange)
            receive(event)
        }
    }

    private enum Exchange {
        case request(Int, attempt: Int)
        case refresh(Int)
        /// Of a request that has already ended.
        case late
    }

    private func began(_ number: Int?, at seconds: Double) -> Exchange {
        lock.withLock {
            guard let number else {
                refreshesStarted += 1
                refreshing[refreshesStarted] = seconds
                return .refresh(refreshesStarted)
            }
            guard let attempt = running[number]?.attempts.count else { return .late }
            running[number]?.attempts.append(.init(start: seconds))
            return .request(number, attempt: attempt)
        }
    }

    private func note(_ event: TransportEvent, of exchange: Exchange) {
        let now = stopwatch.seconds
        lock.withLock {
            switch (exchange, event) {
            case (.request(let number, let attempt), .response(let head)):
                running[number]?.attempts[attempt].status = head.statusCode
                // The rest of it is of no interest to anybody.
                if head.statusCode == 401 { running[number]?.attempts[attempt].end = now }
            case (.request(let number, let attempt), .finished), (.request(let number, let attempt), .failed):
                if running[number]?.attempts[attempt].end == nil { running[number]?.attempts[attempt].end = now }
            case (.refresh(let number), .finished), (.refresh(let number), .failed):
                guard let start = refreshing.removeValue(forKey: number) else { return }
                timeline.note(.init(start: start, end: now, isSuccessful: answered.remove(number) != nil))
            case (.refresh(let number), .response(let head)):
                if (200...299).contains(head.statusCode) { answered.insert(number) }
            case (_, .sent), (_, .data), (_, .measured), (.late, _): break
            }
        }
    }
}
