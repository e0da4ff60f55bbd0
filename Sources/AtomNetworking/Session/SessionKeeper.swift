/// Where a session's credential is kept: in a variable of the app's, or in a
/// store.
///
/// A variable is read and set at once, on any thread. A store takes time, can
/// fail, and may be shared with other processes. Neither knows anything of a
/// session.
enum SessionKeeper: Sendable {
    case variable(any TokenCredentialWritable)
    case store(StoreKeeper)

    /// What is kept now; `nil` where it has to be loaded.
    var current: TokenCredential? {
        switch self {
        case .variable(let variable): variable.tokenCredential
        case .store: nil
        }
    }

    /// The store, if the credential has to be loaded.
    var store: StoreKeeper? { if case .store(let store) = self { store } else { nil } }

    /// What a store holds; `nil` for a variable.
    func load() async throws -> TokenCredential? { try await store?.load() }

    /// Runs a refresh, with what a store holds.
    ///
    /// The store then writes what the refresh returns besides its outcome; a
    /// variable was set by then.
    ///
    /// - Returns: The outcome, or `nil` if the refresh has not run; and what the
    ///   store holds in the end, or why it could not be read or written.
    func exchange<Outcome: Sendable>(
        _ refresh: @Sendable (TokenCredential?) async -> (Outcome, TokenCredential?)
    ) async -> (outcome: Outcome?, written: Result<TokenCredential?, any Error>) {
        switch self {
        case .variable: (await refresh(nil).0, .success(nil))
        case .store(let store): await store.exchange(refresh)
        }
    }
}

/// A store, as the session uses it.
struct StoreKeeper: Sendable {
    let store: any TokenCredentialStore

    func load() async throws -> TokenCredential? { try await store.load() }

    func save(_ credential: TokenCredential?) async throws { try await store.save(credential) }

    /// Reads, decides and writes, with nobody between if the store can do that.
    func exchange<Outcome: Sendable>(
        _ body: @Sendable (TokenCredential?) async -> (Outcome, TokenCredential?)
    ) async -> (outcome: Outcome?, written: Result<TokenCredential?, any Error>) {
        let run = SingleRun<Outcome>()
        let written = await Result {
            try await store.exchange { stored in try await run.once { await body(stored) } }
        }
        return (run.outcome, written)
    }

    /// Notes that a refresh token may be spent soon; `nil` if the store can't, or
    /// there is none.
    func note(spending credential: TokenCredential?) async -> SpendingNote? {
        guard let journal = store as? any RefreshIntentRecording, let credential, !credential.refreshToken.isEmpty
        else { return nil }
        // Refreshing without the note is better than not refreshing.
        let wasInterrupted = (try? await journal.recordRefreshIntent(for: credential)) ?? false
        return SpendingNote(credential: credential, wasInterrupted: wasInterrupted, journal: journal)
    }
}

/// A note in a store that a refresh token may be spent.
struct SpendingNote: Sendable {
    let credential: TokenCredential
    /// Whether an earlier refresh has noted it, and its result was never stored.
    let wasInterrupted: Bool
    fileprivate let journal: any RefreshIntentRecording

    /// Removes it: the refresh token has not been spent by this refresh.
    func remove() async {
        if !wasInterrupted { await removeInAnyCase() }
    }

    func removeInAnyCase() async { await journal.removeRefreshIntent(for: credential) }
}

/// Runs the body of an exchange only once, since a refresh token can be spent
/// only once.
final class SingleRun<Outcome: Sendable>: Sendable {
    private enum State {
        case pending
        case running
        case over(Outcome, TokenCredential?)
    }

    private let state = Guarded(State.pending)

    /// What the body has come to.
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
