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

    private final class Listeners: @unchecked Sendable {
        // All is touched under `lock` only.
        private let lock = NSLock()
        private var continuations: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
        private var lastNumber = 0

        var all: [AsyncStream<SessionEvent>.Continuation] { lock.withLock { Array(continuations.values) } }

        func add(_ continuation: AsyncStream<SessionEvent>.Continuation) -> Int {
            lock.withLock {
                lastNumber += 1
                continuations[lastNumber] = continuation
                return lastNumber
            }
        }

        func remove(_ number: Int) {
            // What is let go of here may end a listener's task: not under the lock.
            _ = lock.withLock { continuations.removeValue(forKey: number) }
        }
    }
}
