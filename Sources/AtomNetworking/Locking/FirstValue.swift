/// The first of several values, for one caller that waits.
final class FirstValue<T: Sendable>: Sendable {
    private struct State {
        var value: T?
        var waiting: CheckedContinuation<T, Never>?
    }

    private let state = Guarded(State())

    func settle(_ value: T) {
        let waiting = state.withLock { state -> CheckedContinuation<T, Never>? in
            guard state.value == nil else { return nil }
            state.value = .some(value)
            return state.waiting.take()
        }
        waiting?.resume(returning: value)
    }

    func value() async -> T {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.value == nil { state.waiting = continuation }
                return state.value
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
