/// Keeps a session's credential: in a variable of the app's, or in a store.
///
/// A variable is read and set at once, on any thread. A store takes time, can
/// fail, and may be shared with other processes; its operations run one after
/// the other. A keeper does no more than that: what a session does is the same
/// for both.
///
/// The session holds its keeper; therefore a keeper doesn't hold the session,
/// but gets it with each call.
protocol SessionKeeper: AnyObject, Sendable {
    /// Whether the session has to load the credential; otherwise it reads
    /// ``current`` with every request.
    var needsLoading: Bool { get }

    /// What is kept now; `nil` where it has to be loaded.
    var current: TokenCredential? { get }

    /// Remembers that a refresh token is about to be spent, if it can.
    var journal: (any RefreshIntentRecording)? { get }

    /// Runs an operation when those before it have ended, if this keeper runs
    /// one at a time.
    ///
    /// The task is detached: it runs at the SDK's priority and with no
    /// task-local values of the caller's.
    func serially<T: Sendable>(
        for session: SessionActor, _ operation: @escaping @Sendable () async -> T
    ) -> Task<T, Never>

    /// Loads what is kept; `nil` where that is ``current``, which every request
    /// reads.
    func look(for session: SessionActor) -> Task<Result<CredentialLook?, any Error>, Never>

    /// Loads what is kept: an empty credential for nothing, and `nil` where that
    /// is ``current``, or can't be read.
    func contents(for session: SessionActor) async -> TokenCredential?

    /// Runs a refresh, and then writes the credential that it has noted.
    ///
    /// - Parameters:
    ///   - report: Where the refresh notes its outcome.
    ///   - body: The refresh; run once at most, with what is kept, or `nil` where
    ///     that is ``current``.
    func exchange(
        _ report: RefreshReport, for session: SessionActor, _ body: @Sendable (CredentialLook?) async -> Void
    ) async throws

    /// Writes a credential that the session has committed to in an exchange, at
    /// once or when the exchange ends.
    func write(_ credential: TokenCredential, version: Int, for session: SessionActor)

    /// Writes a credential with a new refresh token and the old access token, at
    /// once or when the exchange ends.
    func keep(_ credential: TokenCredential, _ report: RefreshReport, for session: SessionActor)

    /// The write of an exchange has ended; if it failed, it is tried again
    /// later.
    ///
    /// - Parameter error: Why the write failed; `nil` if it succeeded.
    /// - Returns: Whether it succeeded after one that had failed.
    func wrote(
        _ credential: TokenCredential, over replaced: UnwrittenCredential.Replaced, error: (any Error)?,
        for session: SessionActor
    ) -> Bool

    /// Writes a credential over one that is out of date, but not over somebody
    /// else's, and tells the machine.
    func rewrite(_ credential: TokenCredential, version: Int, for session: SessionActor)

    /// Writes a credential over the one whose refresh token it has replaced.
    ///
    /// - Parameter spent: That one.
    func rewrite(_ credential: TokenCredential, overSpent spent: TokenCredential?, for session: SessionActor) async

    /// Writes the credential of a sign-in, or `nil` for a sign-out, over whatever
    /// is kept.
    ///
    /// When this returns, the write has its place among the operations.
    ///
    /// - Parameter generation: The generation that the sign-in or sign-out has
    ///   started.
    /// - Returns: A function that waits until the write has ended.
    func replace(
        by credential: TokenCredential?, in generation: Int, for session: SessionActor
    ) -> @Sendable () async -> Replacement

    /// Whether a sign-in or sign-out is still to be written.
    ///
    /// - Parameter again: Whether a write counts too that has failed and is tried
    ///   again later.
    func hasToWrite(again: Bool) -> Bool
}

/// What a store holds, as it was read.
struct CredentialLook: Sendable {
    /// What is stored.
    let stored: TokenCredential?
    /// What is stored, or would be if every write had succeeded.
    let intended: TokenCredential?
}

/// The result of writing a sign-in or sign-out.
struct Replacement: Sendable {
    /// What the store held before; `nil` for nothing, or if it was not read.
    var found: TokenCredential?
    /// Why it could not be written.
    var failure: AuthenticationError?
}
