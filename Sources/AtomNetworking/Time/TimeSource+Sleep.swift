extension TimeSource {
    /// Waits for the duration, or until the task is cancelled.
    func sleep(for duration: Duration) async {
        let sleeper = Sleeper()
        let alarm = makeAlarm { sleeper.wake() }
        alarm.set(now.advanced(by: duration))
        await withTaskCancellationHandler {
            await sleeper.wait()
        } onCancel: {
            sleeper.wake()
        }
        alarm.invalidate()
    }
}

/// A task that waits for the first of several things.
private final class Sleeper: Sendable {
    private struct State {
        var isAwake = false
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    func wake() {
        let continuation = state.withLock { state in
            state.isAwake = true
            return state.continuation.take()
        }
        continuation?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isAwake = state.withLock { state in
                if !state.isAwake { state.continuation = continuation }
                return state.isAwake
            }
            if isAwake { continuation.resume() }
        }
    }
}
