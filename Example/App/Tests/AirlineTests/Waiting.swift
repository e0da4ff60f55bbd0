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

/// The values that an observed one has had, each noted when it is about to change.
final class History<Value> {
    private(set) var values: [Value] = []

    init(of value: @escaping @MainActor () -> Value) { note(value) }

    private func note(_ value: @escaping @MainActor () -> Value) {
        // What is observed changes on the main actor, and calls this there.
        values.append(withObservationTracking(value) { MainActor.assumeIsolated { self.note(value) } })
    }
}
