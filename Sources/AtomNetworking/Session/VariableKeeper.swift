/// Keeps a session's credential in a variable of the app's.
final class VariableKeeper: SessionKeeper {
    private let writable: any TokenCredentialWritable

    init(_ writable: any TokenCredentialWritable) {
        self.writable = writable
    }

    var needsLoading: Bool { false }

    var current: TokenCredential? { writable.tokenCredential }

    var journal: (any RefreshIntentRecording)? { nil }

    func serially<T: Sendable>(
        for session: SessionActor, _ operation: @escaping @Sendable () async -> T
    ) -> Task<T, Never> {
        Task.detached(priority: .userInitiated, operation: operation)
    }

    func look(for session: SessionActor) -> Task<Result<CredentialLook?, any Error>, Never> {
        Task.detached { .success(nil) }
    }

    func contents(for session: SessionActor) async -> TokenCredential? { nil }

    func exchange(
        _ report: RefreshReport, for session: SessionActor, _ body: @Sendable (CredentialLook?) async -> Void
    ) async throws {
        await body(nil)
    }

    func write(_ credential: TokenCredential, version: Int, for session: SessionActor) {
        // Read once more: a credential that somebody else has put there meanwhile is not overwritten.
        session.observe()
        guard session.guarded.with({ $0.mayStore(version: version) }) else {
            return session.guarded.with { $0.wasSet(credential) }
        }
        set(to: credential, for: session)
    }

    func keep(_ credential: TokenCredential, _ report: RefreshReport, for session: SessionActor) {
        set(to: credential, for: session)
        session.observe()
    }

    func wrote(
        _ credential: TokenCredential, over replaced: UnwrittenCredential.Replaced, error: (any Error)?,
        for session: SessionActor
    ) -> Bool { false }

    func rewrite(_ credential: TokenCredential, version: Int, for session: SessionActor) {
        write(credential, version: version, for: session)
        session.stored(version: version)
    }

    func rewrite(_ credential: TokenCredential, overSpent spent: TokenCredential?, for session: SessionActor) async {
        set(to: credential, for: session)
        session.observe()
    }

    func replace(
        by credential: TokenCredential?, in generation: Int, for session: SessionActor
    ) -> @Sendable () async -> Replacement {
        set(to: credential ?? .empty, for: session)
        return { Replacement() }
    }

    func hasToWrite(again: Bool) -> Bool { false }

    /// Sets the variable, and once more if it was set to something newer
    /// meanwhile.
    ///
    /// Several threads may set it at once, among them the app's: the thread that
    /// is last sets it to the newest credential.
    private func set(to credential: TokenCredential, for session: SessionActor) {
        var credential = credential
        while true {
            writable.tokenCredential = credential
            session.guarded.with { $0.wasSet(credential) }
            // A credential that somebody else has put there since stays.
            guard writable.tokenCredential.hasTokens(of: credential),
                let last = session.guarded.with({ $0.nextToSet(after: credential) })
            else { return }
            credential = last
        }
    }
}
