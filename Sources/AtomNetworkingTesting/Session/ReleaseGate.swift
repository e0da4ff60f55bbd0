/// Holds what waits until it is released.
final class ReleaseGate: Sendable {
    private struct State {
        var isReleased = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())

    /// Calls the closure when the gate is released, or now if it has been.
    func whenReleased(_ proceed: @escaping @Sendable () -> Void) {
        let isReleased = state.withLock { state in
            if !state.isReleased { state.waiting.append(proceed) }
            return state.isReleased
        }
        if isReleased { proceed() }
    }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for proceed in waiting { proceed() }
    }
}
