import Foundation

/// Sends a session's events to all listeners, in the order of their numbers.
///
/// The numbers are issued under the machine's lock, but the threads that send
/// the events may overtake each other. An event waits for those before it, each
/// of which will come.
final class SessionEventHub: Sendable {
    /// How many events are kept for a slow listener; the oldest are dropped.
    static let capacity = 256

    private struct ChangeListeners {
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
        var last = 0
    }

    private let listeners = Listeners()
    private let changeListeners = Guarded(ChangeListeners())

    /// The events from now on, until the listener drops the stream.
    func events() -> AsyncStream<SessionEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.capacity)) { [listeners] continuation in
            let number = listeners.add(continuation)
            continuation.onTermination = { [weak listeners] _ in listeners?.remove(number) }
        }
    }

    /// An element after each change of the state; a slow listener gets one for
    /// several.
    func changes() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { [changeListeners] continuation in
            let number = changeListeners.withLock { state in
                state.last += 1
                state.continuations[state.last] = continuation
                return state.last
            }
            continuation.onTermination = { _ in
                // Released outside the lock, as below.
                _ = changeListeners.withLock { $0.continuations.removeValue(forKey: number) }
            }
        }
    }

    /// The state may be another one.
    func noteNewState() {
        for listener in changeListeners.withLock({ Array($0.continuations.values) }) { listener.yield() }
    }

    func send(_ event: SessionEvent, number: Int) {
        guard listeners.arrived(event, number) else { return }
        // Outside the lock, and on one thread at a time.
        while let (event, listeners) = listeners.next() {
            for listener in listeners { listener.yield(event) }
        }
    }

    deinit {
        for listener in listeners.all { listener.finish() }
        for listener in changeListeners.withLock({ Array($0.continuations.values) }) { listener.finish() }
    }

    private final class Listeners: Sendable {
        private struct State {
            var continuations: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
            var lastListener = 0
            var arrived: [Int: SessionEvent] = [:]
            /// The number of the event that is sent next.
            var nextNumber = 0
            var isSending = false
        }

        private let state = Guarded(State())

        var all: [AsyncStream<SessionEvent>.Continuation] { state.withLock { Array($0.continuations.values) } }

        /// Keeps an event until its turn comes.
        ///
        /// - Returns: Whether the caller has to send the events whose turn it is.
        func arrived(_ event: SessionEvent, _ number: Int) -> Bool {
            state.withLock { state in
                state.arrived[number] = event
                guard !state.isSending else { return false }
                state.isSending = true
                return true
            }
        }

        /// The event whose turn it is, for the thread that sends.
        func next() -> (SessionEvent, [AsyncStream<SessionEvent>.Continuation])? {
            state.withLock { state in
                guard let event = state.arrived.removeValue(forKey: state.nextNumber) else {
                    state.isSending = false
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
            // The continuation is released outside the lock, since that may end a listener's task.
            _ = state.withLock { $0.continuations.removeValue(forKey: number) }
        }
    }
}
