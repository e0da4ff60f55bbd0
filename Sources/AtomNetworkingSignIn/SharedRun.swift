import AtomNetworking

/// One sign-in that several callers wait for; it ends when it is done, or when nobody waits any more.
final class SharedRun: Sendable {
    /// Without a credential where one that was brought before is enough.
    typealias Outcome = Result<TokenCredential?, AtomError>

    private struct Waiter {
        /// The service that somebody wants to sign in to; `nil` for a session, which gets the result by itself.
        let atom: Atom?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var tickets = 0
        var task: Task<Void, Never>?
        var watchers: [CheckedContinuation<Void, Never>] = []
        var hasBegun = false
        var outcome: Outcome?
        /// Nobody waits any more, and it is being ended.
        var isGivenUp = false
    }

    private let state = Guarded(State())

    /// The first service that somebody wants to sign in to, and whether a session waits for the result.
    var listeners: (atom: Atom?, isOfSession: Bool) {
        state.withLock { state in
            let inOrder = state.waiters.sorted { $0.key < $1.key }.map(\.value.atom)
            return (inOrder.compactMap { $0 }.first, inOrder.contains { $0 == nil })
        }
    }

    /// Waits until it is over, without a part in it.
    func isOver() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.outcome == nil { state.watchers.append(continuation) }
                return state.outcome != nil
            }
            if isOver { continuation.resume() }
        }
    }

    /// Another caller waits.
    ///
    /// - Parameter atom: The service that it wants to sign in to; `nil` for a session.
    /// - Returns: Its ticket; `nil` if it is over.
    func join(for atom: Atom?) -> Int? {
        state.withLock { state in
            guard state.outcome == nil, !state.isGivenUp else { return nil }
            state.tickets += 1
            state.waiters[state.tickets] = Waiter(atom: atom)
            return state.tickets
        }
    }

    /// Begins it, the first time.
    func begin(_ work: @escaping @Sendable () async -> Outcome) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        // No caller's cancellation reaches it. It is told by a task-local value of the SDK's that it is a provider's
        // call, in which a signed request of the same service fails at once: it would wait for itself.
        let task = Task(name: "Sign-in", priority: .userInitiated) { self.end(with: await work()) }
        let isGivenUp = state.withLock { state in
            state.task = task
            return state.isGivenUp
        }
        if isGivenUp { task.cancel() }
    }

    /// Waits for the outcome; a caller that is cancelled gets its cancellation at once.
    func outcome(of ticket: Int) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    guard state.waiters[ticket] != nil else { return Self.cancelled }
                    state.waiters[ticket]?.continuation = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            leave(ticket)
        }
    }

    private static let cancelled = Outcome.failure(.cancelled(.notSent))

    private func leave(_ ticket: Int) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard state.outcome == nil else { return (nil, nil) }
            let waiter = state.waiters.removeValue(forKey: ticket)
            guard state.waiters.isEmpty else { return (waiter, nil) }
            state.isGivenUp = true
            return (waiter, state.task)
        }
        waiter?.continuation?.resume(returning: Self.cancelled)
        task?.cancel()
    }

    private func end(with outcome: Outcome) {
        let (waiters, watchers) = state.withLock { state in
            state.outcome = outcome
            defer { (state.waiters, state.watchers) = ([:], []) }
            return (state.waiters, state.watchers)
        }
        for waiter in waiters.sorted(by: { $0.key < $1.key }) {
            waiter.value.continuation?.resume(returning: outcome)
        }
        for watcher in watchers { watcher.resume() }
    }
}
