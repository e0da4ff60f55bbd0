import Foundation

/// What one check has seen so far.
final class Findings: Sendable {
    private let state = Guarded((problems: [String](), isOffered: true))

    var problems: [String] { state.withLock { $0.problems } }

    /// Notes what was seen if it must not be.
    @discardableResult
    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) -> Bool {
        if !condition { note(problem()) }
        return condition
    }

    func note(_ problem: String) {
        state.withLock { if !$0.problems.contains(problem) { $0.problems.append(problem) } }
    }

    /// The implementation doesn't have what the check is about.
    func notOffered() { state.withLock { $0.isOffered = false } }

    func finding(_ name: String, _ requirement: String) -> ContractReport.Finding {
        state.withLock { state in
            let outcome: ContractReport.Finding.Outcome =
                !state.problems.isEmpty ? .violated(state.problems) : state.isOffered ? .met : .notOffered
            return ContractReport.Finding(name: name, requirement: requirement, outcome: outcome)
        }
    }
}

/// A value that comes once, from any thread, or not in time.
final class Arrival<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [Int: CheckedContinuation<Value?, Never>] = [:]
        var waits = 0
    }

    private let state = Guarded(State())

    var value: Value? { state.withLock { $0.value } }

    /// The first value counts.
    func arrive(_ value: Value) {
        let waiting = state.withLock { state in
            if state.value == nil { state.value = value }
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Waits for the value; `nil` if it doesn't come in time.
    func wait(_ patience: Duration) async -> Value? {
        await withCheckedContinuation { continuation in
            let (value, ticket) = state.withLock { state -> (Value?, Int) in
                if let value = state.value { return (value, 0) }
                state.waits += 1
                state.waiting[state.waits] = continuation
                return (nil, state.waits)
            }
            if let value { return continuation.resume(returning: value) }
            DispatchQueue.global().asyncAfter(deadline: .now() + patience.interval) { [self] in
                state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: nil)
            }
        }
    }
}

extension Duration {
    var interval: TimeInterval { TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18 }
}

/// The result of what may never return; `nil` if it doesn't in time.
func result<Value: Sendable>(
    within patience: Duration, of operation: @escaping @Sendable () async throws -> Value
) async -> Result<Value, any Error>? {
    let arrival = Arrival<Result<Value, any Error>>()
    let task = Task.detached {
        do { arrival.arrive(.success(try await operation())) } catch { arrival.arrive(.failure(error)) }
    }
    guard let result = await arrival.wait(patience) else {
        task.cancel()
        return nil
    }
    return result
}
