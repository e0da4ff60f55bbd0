/// Waits for a task that may never end.
enum BoundedWait {
    /// The value of a task; `nil` if its time is up first, when it is cancelled,
    /// or if the caller's own task is cancelled first, when it goes on.
    static func value<T: Sendable>(
        of task: Task<T, Never>, within duration: Duration? = nil, time: any TimeSource
    ) async -> T? {
        let first = FirstValue<T?>()
        let alarm = duration.map { duration in
            let alarm = time.makeAlarm {
                first.settle(nil)
                // Only now: the value of the cancelled task must not come first.
                task.cancel()
            }
            alarm.set(time.now.advanced(by: duration))
            return alarm
        }
        // Detached: nobody can stop waiting for a task itself.
        Task.detached(name: "Bounded wait", priority: .userInitiated) { first.settle(await task.value) }
        let value = await first.value(ifCancelled: nil)
        alarm?.invalidate()
        return value
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
