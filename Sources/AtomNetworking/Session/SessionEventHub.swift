/// Sends a session's events to all listeners, in the order of their numbers.
///
/// The numbers are issued under the machine's lock, but the threads that send the events may overtake each other. An
/// event waits for those before it, until they have come or their ``EventTurns`` are gone.
final class SessionEventHub: Sendable {
    /// How many events are kept for a slow listener; the oldest are dropped.
    static let capacity = 256

    private struct State {
        /// `nil` for an event that will never come.
        var arrived: [Int: SessionEvent?] = [:]
        /// The number of the event that is sent next.
        var nextNumber = 0
        var isSending = false
    }

    private let state = Guarded(State())
    private let listeners = Listeners<SessionEvent>()
    private let changeListeners = Listeners<Void>()

    /// The events from now on, until the listener drops the stream.
    func events() -> AsyncStream<SessionEvent> { listeners.stream(keeping: Self.capacity) }

    /// An element after each change of the state; a slow listener gets one for several.
    func changes() -> AsyncStream<Void> { changeListeners.stream(keeping: 1) }

    /// The state may be another one, or something be over that `finishRefresh` waits for.
    func noteNewState() { changeListeners.yield(()) }

    func send(_ event: SessionEvent, number: Int) {
        sendThoseThatHaveArrived(with: event, number..<number + 1)
    }

    /// Those of these numbers that have not been sent never will be.
    fileprivate func pass(_ numbers: Range<Int>) { sendThoseThatHaveArrived(with: nil, numbers) }

    private func sendThoseThatHaveArrived(with event: SessionEvent?, _ numbers: Range<Int>) {
        let isFirst = state.withLock { state in
            for number in numbers where number >= state.nextNumber && state.arrived[number] == nil {
                state.arrived[number] = .some(event)
            }
            defer { state.isSending = true }
            return !state.isSending
        }
        guard isFirst else { return }
        // Outside the lock, and on one thread at a time.
        while let event = next() { if let event { listeners.yield(event) } }
    }

    /// The event whose turn it is, for the thread that sends.
    private func next() -> SessionEvent?? {
        state.withLock { state in
            guard let event = state.arrived.removeValue(forKey: state.nextNumber) else {
                state.isSending = false
                return nil
            }
            state.nextNumber += 1
            return .some(event)
        }
    }

    /// Those who listen to a stream; it ends with them.
    private final class Listeners<Element: Sendable>: Sendable {
        private typealias Continuation = AsyncStream<Element>.Continuation

        private let byNumber = Guarded<(last: Int, continuations: [Int: Continuation])>((0, [:]))

        func stream(keeping limit: Int) -> AsyncStream<Element> {
            AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
                let number = byNumber.withLock { listeners in
                    listeners.last += 1
                    listeners.continuations[listeners.last] = continuation
                    return listeners.last
                }
                continuation.onTermination = { [weak self] _ in
                    // Released outside the lock: that may end a listener's task.
                    _ = self?.byNumber.withLock { $0.continuations.removeValue(forKey: number) }
                }
            }
        }

        func yield(_ element: Element) {
            for continuation in byNumber.withLock({ $0.continuations.values }) { continuation.yield(element) }
        }

        deinit {
            for continuation in byNumber.withLock({ $0.continuations.values }) { continuation.finish() }
        }
    }
}

/// The turns of a batch's events among all: those that it hasn't taken when it ends hold up no others.
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
/// A caller is told before the app. If its 401 is still arriving, the notification waits.
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
