/// Keeps a session's credential: in a variable of the app's, or in a store.
///
/// A variable is read and set at once, by any thread. A store takes time, can
/// fail, and may be shared with other processes; its operations run one after
/// the other. All that follows from what is read and written is the session's,
/// and the same for both.
///
/// The session holds its keeper, so the keeper is given the session with each
/// call.
protocol SessionKeeper: AnyObject, Sendable {
    /// Whether the session has to load the credential; otherwise it reads
    /// ``current`` with every request.
    var needsLoading: Bool { get }

    /// What is kept now; `nil` where it has to be loaded.
    var current: TokenCredential? { get }

    /// Remembers that a refresh token is about to be spent, if it can.
    var journal: (any RefreshIntentRecording)? { get }

    /// Runs an operation after those that were asked for before, if this
    /// keeper runs one at a time.
    ///
    /// The task is detached: it runs at the SDK's priority and with no
    /// task-local values of the caller's.
    func serially<T: Sendable>(
        for session: SessionActor, _ operation: @escaping @Sendable () async -> T
    ) -> Task<T, Never>

    /// Loads what is kept; `nil` where it is ``current``, and was read with the
    /// request.
    func look(for session: SessionActor) -> Task<Result<CredentialLook?, any Error>, Never>

    /// What is kept by now, an empty credential for nothing; `nil` where it is
    /// ``current``, or can't be read.
    func contents(for session: SessionActor) async -> TokenCredential?

    /// Runs a refresh, and writes what the report says when it has run.
    ///
    /// - Parameters:
    ///   - report: What the refresh has brought.
    ///   - body: The refresh, run once at most; it is given what ``look(for:)``
    ///     gives.
    func exchange(
        _ report: RefreshReport, for session: SessionActor, _ body: @Sendable (CredentialLook?) async -> Void
    ) async throws

    /// The session has committed to a credential in an exchange: it is written
    /// at once, or when the exchange ends.
    func write(_ credential: TokenCredential, version: Int, for session: SessionActor)

    /// The server has replaced the refresh token and brought no access token:
    /// this is written at once, or when the exchange ends.
    func keep(_ credential: TokenCredential, _ report: RefreshReport, for session: SessionActor)

    /// Notes how the write of an exchange has ended; one that failed is tried
    /// again later.
    ///
    /// - Parameter error: Why the write failed; `nil` if it succeeded.
    /// - Returns: Whether it makes up for one that failed before.
    func wrote(
        _ credential: TokenCredential, over replaced: UnwrittenCredential.Replaced, error: (any Error)?,
        for session: SessionActor
    ) -> Bool

    /// Writes a credential over one that is out of date, and tells the
    /// machine; what somebody else has written is not overwritten.
    func rewrite(_ credential: TokenCredential, version: Int, for session: SessionActor)

    /// Writes what an outdated refresh token has been replaced by over it.
    ///
    /// - Parameter spent: What is kept, if this can't be written.
    func rewrite(_ credential: TokenCredential, overSpent spent: TokenCredential?, for session: SessionActor) async

    /// Writes what the app has said by signing in or, if it is `nil`, out,
    /// whatever is kept.
    ///
    /// The write has its turn when this returns.
    ///
    /// - Parameter generation: The one that the app has begun with it.
    /// - Returns: Waits until it is written.
    func replace(
        by credential: TokenCredential?, in generation: Int, for session: SessionActor
    ) -> @Sendable () async -> Replacement
}

/// What a store holds.
struct CredentialLook: Sendable {
    /// What is stored.
    let stored: TokenCredential?
    /// What is stored, or would be if every write had succeeded.
    let intended: TokenCredential?
}

/// What came of a write of the app's.
struct Replacement: Sendable {
    /// What was kept before, if it was read.
    var found: TokenCredential?
    /// Why it could not be written.
    var failure: AuthenticationError?
}
