import Foundation

/// Hands a session's events to all who listen.
final class SessionEventHub: Sendable {
    /// What is kept for a listener that is slow; the oldest go first.
    static let capacity = 256

    private let listeners = Listeners()

    /// The events from now on, until the listener lets go of them.
    func events() -> AsyncStream<SessionEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.capacity)) { [listeners] continuation in
            let number = listeners.add(continuation)
            continuation.onTermination = { [weak listeners] _ in listeners?.remove(number) }
        }
    }

    func send(_ event: SessionEvent) {
        for listener in listeners.all { listener.yield(event) }
    }

    deinit {
        for listener in listeners.all { listener.finish() }
    }

    private final class Listeners: Sendable {
        private struct State {
            var continuations: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
            var lastNumber = 0
        }

        private let state = Guarded(State())

        var all: [AsyncStream<SessionEvent>.Continuation] { state.withLock { Array($0.continuations.values) } }

        func add(_ continuation: AsyncStream<SessionEvent>.Continuation) -> Int {
            state.withLock { state in
                state.lastNumber += 1
                state.continuations[state.lastNumber] = continuation
                return state.lastNumber
            }
        }

        func remove(_ number: Int) {
            // What is let go of here may end a listener's task: not under the lock.
            _ = state.withLock { $0.continuations.removeValue(forKey: number) }
        }
    }
}
