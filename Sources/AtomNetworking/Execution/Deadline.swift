import Foundation

/// Waits for something that may take for ever.
enum Deadline {
    /// The value of a task, or a failure when its time is up; then it is
    /// cancelled, and what it still brings is dropped.
    ///
    /// - Parameter duration: The time that it has, bounded; `nil` for any.
    static func value<T: Sendable>(
        of task: Task<Result<T, any Error>, Never>, within duration: Duration?, time: any TimeSource
    ) async -> Result<T, any Error> {
        guard let duration else { return await task.value }
        let first = FirstResult<T>()
        let alarm = time.makeAlarm {
            task.cancel()
            first.settle(
                .failure(
                    AtomError.session(
                        URLError(.timedOut, "Nothing came in \(duration)", delivery: .notSent))))
        }
        alarm.set(time.now.advanced(by: duration))
        Task { first.settle(await task.value) }
        let result = await first.value()
        alarm.invalidate()
        return result
    }
}

/// The first of several results, for one who waits.
private final class FirstResult<T: Sendable>: Sendable {
    private struct State {
        var result: Result<T, any Error>?
        var waiting: CheckedContinuation<Result<T, any Error>, Never>?
    }

    private let state = Guarded(State())

    func settle(_ result: Result<T, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Result<T, any Error>, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiting.take()
        }
        waiting?.resume(returning: result)
    }

    func value() async -> Result<T, any Error> {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
