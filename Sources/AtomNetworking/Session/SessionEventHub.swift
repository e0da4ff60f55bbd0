import Foundation

/// Hands a session's events to all who listen, in the order of their numbers.
///
/// A number is given out under the machine's lock; the threads that bring the
/// events may overtake each other. An event waits for those before it, each of
/// which is on its way.
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

    func send(_ event: SessionEvent, number: Int) {
        guard listeners.arrived(event, number) else { return }
        // Told outside the lock, by one thread at a time.
        while let (event, listeners) = listeners.next() {
            for listener in listeners { listener.yield(event) }
        }
    }

    deinit {
        for listener in listeners.all { listener.finish() }
    }

    private final class Listeners: Sendable {
        private struct State {
            var continuations: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
            var lastListener = 0
            var arrived: [Int: SessionEvent] = [:]
            /// The number of the event that is told next.
            var nextNumber = 0
            var isTelling = false
        }

        private let state = Guarded(State())

        var all: [AsyncStream<SessionEvent>.Continuation] { state.withLock { Array($0.continuations.values) } }

        /// - Returns: Whether the caller is to tell what there is to tell.
        func arrived(_ event: SessionEvent, _ number: Int) -> Bool {
            state.withLock { state in
                state.arrived[number] = event
                guard !state.isTelling else { return false }
                state.isTelling = true
                return true
            }
        }

        /// The event whose turn it is, for the thread that tells.
        func next() -> (SessionEvent, [AsyncStream<SessionEvent>.Continuation])? {
            state.withLock { state in
                guard let event = state.arrived.removeValue(forKey: state.nextNumber) else {
                    state.isTelling = false
                    return nil
                }
                state.nextNumber += 1
                return (event, Array(state.continuations.values))
            }
        }

        func add(_ continuation: AsyncStream<SessionEvent>.Continuation) -> Int {
            state.withLock { state in
                state.lastListener += 1
                state.continuations[state.lastListener] = continuation
                return state.lastListener
            }
        }

        func remove(_ number: Int) {
            // What is let go of here may end a listener's task: not under the lock.
            _ = state.withLock { $0.continuations.removeValue(forKey: number) }
        }
    }
}
