import Foundation

/// Sends a session's events to all listeners, in the order of their numbers.
///
/// The numbers are issued under the machine's lock, but the threads that send
/// the events may overtake each other. An event waits for those before it, until
/// they have come or their ``EventTurns`` are gone.
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
        sendThoseThatHaveArrived(with: event, number..<number + 1)
    }

    /// Those of these numbers that have not been sent never will be.
    fileprivate func pass(_ numbers: Range<Int>) { sendThoseThatHaveArrived(with: nil, numbers) }

    private func sendThoseThatHaveArrived(with event: SessionEvent?, _ numbers: Range<Int>) {
        guard listeners.arrived(event, numbers) else { return }
        // Outside the lock, and on one thread at a time.
        while let (event, listeners) = listeners.next() {
            for listener in listeners { if let event { listener.yield(event) } }
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
            /// `nil` for an event that will never come.
            var arrived: [Int: SessionEvent?] = [:]
            /// The number of the event that is sent next.
            var nextNumber = 0
            var isSending = false
        }

        private let state = Guarded(State())

        var all: [AsyncStream<SessionEvent>.Continuation] { state.withLock { $0.continuations.all } }

        /// Keeps an event until its turn comes, unless it is known already.
        ///
        /// - Returns: Whether the caller has to send the events whose turn it is.
        func arrived(_ event: SessionEvent?, _ numbers: Range<Int>) -> Bool {
            state.withLock { state in
                for number in numbers where number >= state.nextNumber && state.arrived[number] == nil {
                    state.arrived[number] = .some(event)
                }
                guard !state.isSending else { return false }
                state.isSending = true
                return true
            }
        }

        /// The event whose turn it is, for the thread that sends.
        func next() -> (SessionEvent?, [AsyncStream<SessionEvent>.Continuation])? {
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

/// The turns of a batch's events among all: those that it hasn't taken when it
/// ends hold up no others.
final class EventTurns: Sendable {
    let numbers: Range<Int>
    private let hub: SessionEventHub

    init(_ numbers: Range<Int>, of hub: SessionEventHub) {
        self.numbers = numbers
        self.hub = hub
    }

    deinit { hub.pass(numbers) }
}

/// Notifications of a session's end that wait for callers.
///
/// A caller is told before the app. If its 401 is still arriving, the
/// notification waits.
final class HeldNotices: Sendable {
    typealias Post = @Sendable () -> Void

    private struct State {
        /// How many callers have to be told first.
        var holders = 0
        var posts: [Post] = []
    }

    private let state = Guarded(State())

    /// A caller may have to be told first; a `release` follows.
    func hold() { state.withLock { $0.holders += 1 } }

    /// The caller of one `hold` has been told.
    func release() {
        let posts = state.withLock { state -> [Post] in
            state.holders -= 1
            guard state.holders == 0 else { return [] }
            defer { state.posts = [] }
            return state.posts
        }
        for post in posts { post() }
    }

    /// Posts a notification now, or when the callers have been told.
    func post(_ post: @escaping Post) {
        let isHeld = state.withLock { state in
            if state.holders > 0 { state.posts.append(post) }
            return state.holders > 0
        }
        if !isHeld { post() }
    }
}
