/// A store for a session's tokens that is asynchronous, can fail, or is shared with other processes or machines.
///
/// The SDK reads it on first use, in every ``exchange(_:)``, and before it reports that no user is signed in; it writes
/// it after a refresh, a sign-in and a sign-out. It makes one call at a time to each object, on any thread; a call that
/// never returns blocks the later ones. All services that use the same object share one session; with a
/// ``FileTokenCredentialStore``, all those with the same authorization server.
///
/// An error reaches the app as the cause of a typed one. Throw when the tokens
/// can't be read (a locked Keychain), and return `nil` only when there are none.
///
/// <!-- given:
/// actor Vault { func read() throws -> TokenCredential? { nil }; func write(_ credential: TokenCredential?) throws {} }
/// -->
/// ```swift
/// import AtomNetworking
///
/// final class VaultStore: TokenCredentialStore {
///     private let vault = Vault()
///
///     func load() async throws -> TokenCredential? { try await vault.read() }
///     func save(_ credential: TokenCredential?) async throws { try await vault.write(credential) }
/// }
/// ```
///
/// Such a store is for one process. You may save to it at any time, also while a refresh runs. A shared store also
/// implements ``exchange(_:)``, with exclusive access; then at most one refresh runs among all processes that share it.
public protocol TokenCredentialStore: AnyObject, Sendable {
    /// The stored tokens; `nil` when there are none.
    ///
    /// Your app may call it, too, at any time: each store of the SDK then reads what is stored.
    ///
    /// - Throws: Any error when they can't be read.
    func load() async throws -> TokenCredential?

    /// Stores tokens in place of the old ones; `nil` removes them.
    ///
    /// When it returns, the tokens survive the end of the process.
    ///
    /// - Throws: Any error when they can't be written, and the old ones stay.
    func save(_ credential: TokenCredential?) async throws

    /// Reads the tokens, computes new ones, and stores them.
    ///
    /// A refresh runs in `body`. A shared store lets no other caller exchange or save in the meantime, limits the wait
    /// for its lock, and throws when the limit has passed. A concurrent ``load()`` may wait, or return the old tokens.
    /// Nothing in an exchange waits for user interaction.
    ///
    /// A store without exclusive access overwrites only the tokens that it
    /// passed to `body`: others that are saved in the meantime stay.
    ///
    /// - Parameter body: Gets the stored tokens and returns the ones to store;
    ///   nothing is written if they are equal. Called once.
    /// - Returns: The result of `body`, or the tokens that another caller has saved in the meantime, if those stay.
    /// - Throws: The error of `body`, or any error when the tokens can't be read or written.
    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential?
}

extension TokenCredentialStore {
    /// Loads, calls `body` and saves, without exclusive access.
    ///
    /// It saves only if the tokens are still those that `body` got. Implement this
    /// method if it matters that another caller may save after that check.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let old = try await load()
        let new = try await body(old)
        guard new != old else { return new }
        let stored = try await load()
        // Only the tokens are compared: not every store returns the exact date.
        guard stored.hasTokens(of: old) else { return stored }
        try await save(new)
        return new
    }
}

extension TokenCredential? {
    /// Whether both have the same tokens, or neither has any.
    func hasTokens(of other: TokenCredential?) -> Bool {
        switch (self, other) {
        case (let one?, let other?): one.hasTokens(of: other)
        case (nil, nil): true
        default: false
        }
    }
}

/// A store that gives tokens to no other authorization server than the one that they came from.
protocol ServerBoundStore: TokenCredentialStore {
    /// A store of the same tokens for one session, which keeps this one.
    func forSession() -> any ServerBoundStore

    /// Says from where the session's tokens come; the first one counts.
    ///
    /// - Returns: Whether this is the one that counts.
    func bind(to origin: Origin) -> Bool
}

/// A store that records that a refresh token is about to be sent.
///
/// If a process dies between the server's response and the write, the stored token is spent, and later the server only
/// says `invalid_grant`. With this note the SDK can tell: ``AuthenticationError/refreshInterrupted(_:delivery:)``.
///
/// Both methods are called inside ``TokenCredentialStore/exchange(_:)``.
public protocol RefreshIntentRecording: TokenCredentialStore {
    /// Records that the refresh token of this credential is about to be sent.
    ///
    /// The note survives the end of the process, and is invalid when another credential has been stored.
    ///
    /// - Returns: Whether there was already such a note: the result of an earlier refresh was never stored.
    /// - Throws: Any error. The refresh token isn't sent: what can't be written now won't take the new tokens either. The
    ///   refresh fails with ``AuthenticationError/refreshFailed(cause:retryAt:delivery:)``, and is tried again later.
    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool

    /// Removes the note: the server has answered without using up the refresh token.
    func removeRefreshIntent(for credential: TokenCredential) async
}
