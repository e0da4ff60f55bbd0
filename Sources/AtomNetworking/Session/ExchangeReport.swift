/// What came of an exchange with a store, noted inside it: it may still throw
/// when all is done but the write.
final class ExchangeReport: Sendable {
    private enum Run {
        case pending
        case running
        case over(TokenCredential?)
    }

    private struct State {
        var run = Run.pending
        var outcome: SessionActor.RefreshOutcome?
        var stored = UnwrittenCredential.Replaced.unknown
        var kept: TokenCredential?
    }

    private let state = Guarded(State())

    /// What became of a refresh; `nil` if the exchange has not come to it.
    var outcome: SessionActor.RefreshOutcome? { state.withLock { $0.outcome } }

    /// What was stored before.
    var stored: UnwrittenCredential.Replaced { state.withLock { $0.stored } }

    /// What is to be stored although the refresh failed: the server has
    /// replaced the refresh token.
    var kept: TokenCredential? { state.withLock { $0.kept } }

    /// Runs the body of the exchange, once: a refresh token can be spent once.
    ///
    /// - Returns: What came of it, also for a store that calls it again because
    ///   it could not write.
    /// - Throws: When the store calls it while it runs.
    func once(_ body: () async -> TokenCredential?) async throws(TokenStoreError) -> TokenCredential? {
        let before = state.withLock { state in
            defer { if case .pending = state.run { state.run = .running } }
            return state.run
        }
        switch before {
        case .over(let result): return result
        case .running: throw .refused("its exchange runs its body twice at once")
        case .pending:
            let result = await body()
            state.withLock { $0.run = .over(result) }
            return result
        }
    }

    /// What comes first counts.
    func note(_ outcome: SessionActor.RefreshOutcome) {
        state.withLock { $0.outcome = $0.outcome ?? outcome }
    }

    func note(kept: TokenCredential) {
        state.withLock { $0.kept = kept }
    }

    func note(stored: TokenCredential?) {
        state.withLock { $0.stored = .known(stored) }
    }
}
