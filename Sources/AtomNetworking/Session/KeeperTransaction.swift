extension SessionKeeper {
    /// What a variable holds now; `nil` for a store, which has to be loaded.
    var current: TokenCredential? { if case .variable(let variable) = self { variable.tokenCredential } else { nil } }

    var store: (any TokenCredentialStore)? { if case .store(let store) = self { store } else { nil } }

    /// What a store holds; `nil` for a variable.
    func load() async throws -> TokenCredential? { try await store?.load() }

    /// Runs a refresh, with what a store holds.
    ///
    /// The store then writes what the refresh returns besides its outcome; a variable was set by then.
    ///
    /// - Returns: The outcome, or `nil` if the refresh has not run; and what the
    ///   store holds in the end, or why it could not be read or written.
    func transaction<Outcome: Sendable>(
        _ refresh: @Sendable (TokenCredential?) async -> (Outcome, TokenCredential?)
    ) async -> (outcome: Outcome?, written: Result<TokenCredential?, any Error>) {
        guard let store else { return (await refresh(nil).0, .success(nil)) }
        let run = SingleRun<Outcome>()
        let written = await Result {
            try await store.exchange { stored in try await run.once { await refresh(stored) } }
        }
        return (run.outcome, written)
    }

    /// Notes that a refresh token may be spent soon; `nil` if the store can't, or there is none.
    ///
    /// - Throws: Why the refresh token must not be spent: others have the store now, or what can't be written won't
    ///   take its successor either.
    func note(spending credential: TokenCredential?) async throws -> SpendingNote? {
        guard let journal = store as? any RefreshIntentRecording, let credential, !credential.refreshToken.isEmpty
        else { return nil }
        let wasInterrupted = try await journal.recordRefreshIntent(for: credential)
        return SpendingNote(credential: credential, wasInterrupted: wasInterrupted, journal: journal)
    }
}

/// A note in a store that a refresh token may be spent.
struct SpendingNote: Sendable {
    let credential: TokenCredential
    /// Whether an earlier refresh has noted it, and its result was never stored.
    let wasInterrupted: Bool
    fileprivate let journal: any RefreshIntentRecording

    /// The refresh token has not been spent by this refresh.
    func remove() async {
        if !wasInterrupted { await removeInAnyCase() }
    }

    func removeInAnyCase() async { await journal.removeRefreshIntent(for: credential) }
}

/// Runs the body of an exchange only once, since a refresh token can be spent only once.
final class SingleRun<Outcome: Sendable>: Sendable {
    private enum State {
        case pending
        case running
        case over(Outcome, TokenCredential?)
    }

    private let state = Guarded(State.pending)

    var outcome: Outcome? { state.withLock { if case .over(let outcome, _) = $0 { outcome } else { nil } } }

    /// Runs the body the first time, and returns the same result every time: a
    /// store may call it again because it could not write.
    ///
    /// - Throws: If the store calls it while it runs.
    func once(_ body: () async -> (Outcome, TokenCredential?)) async throws(TokenStoreError) -> TokenCredential? {
        let before = state.withLock { state in
            defer { if case .pending = state { state = .running } }
            return state
        }
        switch before {
        case .over(_, let result): return result
        case .running: throw .refused("its exchange runs its body twice at once")
        case .pending:
            let (outcome, result) = await body()
            state.withLock { $0 = .over(outcome, result) }
            return result
        }
    }
}
