import Observation

/// Waits until an observed value meets a condition.
func wait(until condition: @escaping @MainActor () -> Bool) async {
    while !Task.isCancelled {
        let (changes, change) = AsyncStream<Void>.makeStream()
        let isMet = withObservationTracking(condition) { change.finish() }
        if isMet { return }
        for await _ in changes {}
        // `onChange` is called before the change: let it happen.
        await Task.yield()
    }
}

/// The result of a task; `nil` if the test's time is over before.
func result<Success: Sendable>(of task: Task<Success, any Error>) async -> Result<Success, any Error>? {
    let (results, ending) = AsyncStream<Result<Success, any Error>>.makeStream()
    Task { ending.yield(await task.result) }
    for await result in results { return result }
    return nil
}
