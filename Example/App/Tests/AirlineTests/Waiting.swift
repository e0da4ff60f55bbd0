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
