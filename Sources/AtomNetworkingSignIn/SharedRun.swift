import AtomNetworking

/// One sign-in that several callers wait for; it ends when it is done, or when nobody waits any more.
final class SharedRun: Sendable {
    /// The result, and whether a session gets it, too.
    typealias Outcome = (result: Result<TokenCredential, AtomError>, isSessionTold: Bool)

    private struct Waiter {
        let isOfSession: Bool
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var tickets = 0
        var task: Task<Void, Never>?
        var hasBegun = false
        var outcome: Outcome?
        /// Nobody waits any more, and it is being ended.
        var isGivenUp = false
    }

    private let state = Guarded(State())

    /// Another caller waits.
    ///
    /// - Returns: Its ticket; `nil` if it is over.
    func join(isOfSession: Bool) -> Int? {
        state.withLock { state in
            guard state.outcome == nil, !state.isGivenUp else { return nil }
            state.tickets += 1
            state.waiters[state.tickets] = Waiter(isOfSession: isOfSession)
            return state.tickets
        }
    }

    /// Begins it, the first time.
    func begin(_ work: @escaping @Sendable () async -> Result<TokenCredential, AtomError>) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        // No caller's cancellation reaches it. It is told by a task-local value of the SDK's that it is a provider's call,
        // in which a signed request of the same service fails at once: it would wait for itself.
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

    private static let cancelled: Outcome = (.failure(.cancelled(.notSent)), false)

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

    private func end(with result: Result<TokenCredential, AtomError>) {
        let (outcome, waiters) = state.withLock { state -> (Outcome, [Int: Waiter]) in
            let outcome: Outcome = (result, state.waiters.values.contains { $0.isOfSession })
            state.outcome = outcome
            defer { state.waiters = [:] }
            return (outcome, state.waiters)
        }
        for waiter in waiters.sorted(by: { $0.key < $1.key }) {
            waiter.value.continuation?.resume(returning: outcome)
        }
    }
}
