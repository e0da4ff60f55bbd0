import Foundation

/// Sends a session's events to all listeners, in the order of their numbers.
///
/// The numbers are issued under the machine's lock, but the threads that send
/// the events may overtake each other. An event waits for those before it, each
/// of which will come.
final class SessionEventHub: Sendable {
    /// How many events are kept for a slow listener; the oldest are dropped.
    static let capacity = 256

    private let listeners = Listeners()
    private let changeListeners = Guarded(Continuations<Void>())

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
            let number = changeListeners.withLock { $0.add(continuation) }
            continuation.onTermination = { _ in _ = changeListeners.withLock { $0.remove(number) } }
        }
    }

    /// The state may be another one, or something be over that
    /// `finishRefresh` waits for.
    func noteNewState() {
        for listener in changeListeners.withLock({ $0.all }) { listener.yield() }
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
        for listener in changeListeners.withLock({ $0.all }) { listener.finish() }
    }

    /// The continuations of listeners, by their numbers.
    private struct Continuations<Element: Sendable> {
        private var byNumber: [Int: AsyncStream<Element>.Continuation] = [:]
        private var last = 0

        var all: [AsyncStream<Element>.Continuation] { Array(byNumber.values) }

        mutating func add(_ continuation: AsyncStream<Element>.Continuation) -> Int {
            last += 1
            byNumber[last] = continuation
            return last
        }

        /// Returns the continuation, so that it is released outside the lock:
        /// that may end a listener's task.
        mutating func remove(_ number: Int) -> AsyncStream<Element>.Continuation? {
            byNumber.removeValue(forKey: number)
        }
    }

    private final class Listeners: Sendable {
        private struct State {
            var continuations = Continuations<SessionEvent>()
            var arrived: [Int: SessionEvent] = [:]
            /// The number of the event that is sent next.
            var nextNumber = 0
            var isSending = false
        }

        private let state = Guarded(State())

        var all: [AsyncStream<SessionEvent>.Continuation] { state.withLock { $0.continuations.all } }

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
                return (event, state.continuations.all)
            }
        }

        func add(_ continuation: AsyncStream<SessionEvent>.Continuation) -> Int {
            state.withLock { $0.continuations.add(continuation) }
        }

        func remove(_ number: Int) {
            _ = state.withLock { $0.continuations.remove(number) }
        }
    }
}
