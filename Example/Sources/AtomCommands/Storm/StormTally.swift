import AtomNetworking
import Foundation

/// Numbers requests and counts their results.
final class StormTally: @unchecked Sendable {
    private let lock = NSLock()
    private let total: Int
    private var handedOut = 0
    private var latencies: [Duration] = []
    private var cancelled = 0
    private var mixedUp = 0
    private var failures: [String: Int] = [:]

    init(total: Int) {
        self.total = total
        latencies.reserveCapacity(total)
    }

    /// The next number, from 1; `nil` after the last one.
    func nextNumber() -> Int? {
        lock.withLock {
            guard handedOut < total else { return nil }
            handedOut += 1
            return handedOut
        }
    }

    func note(_ result: Result<Miles, AtomError>, of number: Int, seconds: Double) {
        lock.withLock {
            switch result {
            case .success(let miles) where miles.number == String(number): latencies.append(.seconds(seconds))
            case .success: mixedUp += 1
            case .failure(.cancelled): cancelled += 1
            case .failure(let error): failures[error.description, default: 0] += 1
            }
        }
    }

    func report(seconds: Double, counters: StormReport.ServerSide?) -> StormReport {
        lock.withLock {
            StormReport(
                requests: total, answered: latencies.count, mixedUp: mixedUp, cancelled: total - handedOut + cancelled,
                failures: failures, seconds: seconds, latencies: Latencies(latencies), server: counters)
        }
    }
}
