/// The first of several values, for one caller that waits.
final class FirstValue<T: Sendable>: Sendable {
    private struct State {
        var value: T?
        var waiting: CheckedContinuation<T, Never>?
    }

    private let state = Guarded(State())

    var isSettled: Bool { known != nil }

    /// The value, if there is one.
    var known: T? { state.withLock { $0.value } }

    /// - Returns: Whether it is the first value.
    @discardableResult
    func settle(_ value: T) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<T, Never>?) in
            guard state.value == nil else { return (false, nil) }
            state.value = .some(value)
            return (true, state.waiting.take())
        }
        waiting?.resume(returning: value)
        return isFirst
    }

    /// The value, which this one is when the caller's task is cancelled before.
    func value(ifCancelled last: T) async -> T {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            settle(last)
        }
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
