/// Runs the body of an exchange only once, since a refresh token can be spent
/// only once.
final class SingleRun: Sendable {
    private enum State {
        case pending
        case running
        case over(TokenCredential?)
    }

    private let state = Guarded(State.pending)

    /// Runs the body the first time, and returns the same result every time: a
    /// store may call it again because it could not write.
    ///
    /// - Throws: If the store calls it while it runs.
    func once(_ body: () async -> TokenCredential?) async throws(TokenStoreError) -> TokenCredential? {
        let before = state.withLock { state in
            defer { if case .pending = state { state = .running } }
            return state
        }
        switch before {
        case .over(let result): return result
        case .running: throw .refused("its exchange runs its body twice at once")
        case .pending:
            let result = await body()
            state.withLock { $0 = .over(result) }
            return result
        }
    }
}
