import AtomNetworking
import Foundation

/// One request, sent many times by one service, a number of them concurrently.
struct Repetition: Sendable {
    let requests: Int
    let concurrency: Int

    /// Runs until all requests have an outcome, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - service: Sends the request.
    ///   - advance: Called after each request, on any thread.
    func run(_ service: Service, _ advance: @escaping @Sendable () -> Void) async -> RepeatReport {
        let tally = RepeatTally(total: requests)
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<concurrency {
                group.addTask {
                    while !Task.isCancelled, tally.next() {
                        let start = ContinuousClock.now
                        let result = await outcome { () async throws(AtomError) in try await service.resume() }
                        tally.note(result, latency: start.duration(to: .now))
                        advance()
                    }
                }
            }
        }
        return tally.report(elapsed: start.duration(to: .now), concurrency: concurrency)
    }
}

/// Hands out the requests of a repetition, and counts their outcomes.
private final class RepeatTally: @unchecked Sendable {
    private let lock = NSLock()
    private var left: Int
    private var latencies: [Duration] = []
    private var report: RepeatReport

    init(total: Int) {
        left = total
        latencies.reserveCapacity(total)
        report = RepeatReport(requests: total)
    }

    /// Whether there is one more request to send.
    func next() -> Bool {
        lock.withLock {
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    func note(_ result: Result<AtomResponse, AtomError>, latency: Duration) {
        lock.withLock {
            if report.note(result) { latencies.append(latency) }
        }
    }

    func report(elapsed: Duration, concurrency: Int) -> RepeatReport {
        lock.withLock {
            report.notSent = left
            report.elapsed = elapsed
            report.concurrency = concurrency
            report.latencies = Latencies(latencies)
            return report
        }
    }
}
