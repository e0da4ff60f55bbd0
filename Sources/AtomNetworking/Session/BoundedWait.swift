import Foundation

/// Waits for a task that may never end.
enum BoundedWait {
    /// The result of a task, or a failure when its time is up; then the task is
    /// cancelled, and its result is dropped.
    ///
    /// - Parameter duration: The time that it has, bounded; `nil` for no limit.
    static func result<T: Sendable>(
        of task: Task<Result<T, any Error>, Never>, within duration: Duration?, time: any TimeSource
    ) async -> Result<T, any Error> {
        guard let duration else { return await task.value }
        let first = FirstValue<Result<T, any Error>>()
        let alarm = time.makeAlarm {
            first.settle(
                .failure(
                    AtomError.session(
                        URLError(.timedOut, "Nothing came in \(duration)", delivery: .notSent))))
            // Only now: the result of the cancelled task must not come first.
            task.cancel()
        }
        alarm.set(time.now.advanced(by: duration))
        Task.detached(priority: .userInitiated) { first.settle(await task.value) }
        let result = await first.value()
        alarm.invalidate()
        return result
    }

    /// The value of a task, or `nil` if the caller's own task is cancelled
    /// first; the task goes on.
    static func valueUnlessCancelled<T: Sendable>(of task: Task<T, Never>) async -> T? {
        let first = FirstValue<T?>()
        Task.detached(priority: .userInitiated) { first.settle(await task.value) }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.settle(nil)
        }
    }
}
