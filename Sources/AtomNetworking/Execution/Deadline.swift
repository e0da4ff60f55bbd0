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
private final class FirstResult<T: Sendable>: @unchecked Sendable {
    // Both are touched under `lock` only.
    private let lock = NSLock()
    private var result: Result<T, any Error>?
    private var waiting: CheckedContinuation<Result<T, any Error>, Never>?

    func settle(_ result: Result<T, any Error>) {
        let waiting = lock.withLock { () -> CheckedContinuation<Result<T, any Error>, Never>? in
            guard self.result == nil else { return nil }
            self.result = result
            defer { self.waiting = nil }
            return self.waiting
        }
        waiting?.resume(returning: result)
    }

    func value() async -> Result<T, any Error> {
        await withCheckedContinuation { continuation in
            let known = lock.withLock { () -> Result<T, any Error>? in
                if result == nil { waiting = continuation }
                return result
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
