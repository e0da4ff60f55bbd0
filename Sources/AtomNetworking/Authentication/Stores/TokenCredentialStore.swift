/// Where a session's tokens are kept, when that takes time, can fail, or is
/// shared with other processes or machines.
///
/// The SDK reads it on first use, in every ``exchange(_:)``, and before it says
/// that nobody is signed in; it writes it after a refresh, a sign-in and a
/// sign-out. It calls one method at a time for each object, on any thread; one
/// that never returns blocks those after it. Everything that uses the same
/// object shares one session.
///
/// What a method throws reaches the app as the cause of a typed error: throw
/// when the tokens can't be read (a locked Keychain, a disk error), and return
/// `nil` only when there are none.
///
/// <!-- given:
/// actor Vault { func read() throws -> TokenCredential? { nil }; func write(_ credential: TokenCredential?) throws {} }
/// -->
/// ```swift
/// final class VaultStore: TokenCredentialStore {
///     private let vault = Vault()
///
///     func load() async throws -> TokenCredential? { try await vault.read() }
///     func save(_ credential: TokenCredential?) async throws { try await vault.write(credential) }
/// }
/// ```
///
/// Such a store is for one process, and you may save to it at any time: what is
/// saved while a refresh runs stays. One that is shared implements
/// ``exchange(_:)`` too, and keeps all others out while it runs; then at most
/// one refresh runs among all who share it.
public protocol TokenCredentialStore: AnyObject, Sendable {
    /// The stored tokens; `nil` when there are none.
    ///
    /// - Throws: Anything, when they can't be read.
    func load() async throws -> TokenCredential?

    /// Stores tokens in place of the old ones; `nil` removes them.
    ///
    /// Done when it returns: what was stored survives the end of the process.
    ///
    /// - Throws: Anything, when they can't be written; the old ones are still
    ///   there then.
    func save(_ credential: TokenCredential?) async throws

    /// Reads the tokens, computes new ones, and stores them.
    ///
    /// A refresh runs in `body`: a shared store lets nobody else exchange or
    /// save meanwhile, waits a limited time for its turn, and throws when that
    /// is up. Who loads meanwhile may wait, or get what was stored before.
    /// Nothing that waits for a person runs in it.
    ///
    /// A store that keeps nobody out writes only over what it gave to `body`:
    /// what somebody else saves meanwhile, for example to sign out, stays.
    ///
    /// - Parameter body: Takes what is stored and returns what is to be
    ///   stored; nothing is written if that is the same. Called once.
    /// - Returns: What `body` returned, or what somebody else has saved
    ///   meanwhile, if that stays.
    /// - Throws: What `body` throws, or anything when the tokens can't be read
    ///   or written.
    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential?
}

extension TokenCredentialStore {
    /// Loads, calls `body` and saves, with nothing that keeps others out.
    ///
    /// Loads again before it saves, and saves only if the tokens are still
    /// those that `body` was given. Between that look and the write somebody
    /// may still come: implement it where that matters.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let old = try await load()
        let new = try await body(old)
        guard new != old else { return new }
        let stored = try await load()
        // By the tokens: not every store gives a date back as it was.
        guard stored.hasTokens(of: old) else { return stored }
        try await save(new)
        return new
    }
}

extension TokenCredential? {
    /// Whether both tokens are the other's, or neither has any.
    func hasTokens(of other: TokenCredential?) -> Bool {
        switch (self, other) {
        case (let one?, let other?): one.hasTokens(of: other)
        case (nil, nil): true
        default: false
        }
    }
}

/// A store that remembers that a refresh token is about to be spent.
///
/// A refresh token that rotates can be used once. When a process dies between
/// the server's answer and the write, the stored token is dead, and all that
/// the server says later is `invalid_grant`. With this note the SDK can say
/// what happened: ``AuthenticationError/refreshInterrupted(_:delivery:)``.
///
/// Both methods are called inside ``TokenCredentialStore/exchange(_:)``.
public protocol RefreshIntentRecording: TokenCredentialStore {
    /// Notes, before it is sent, that the refresh token of this credential is
    /// about to be spent.
    ///
    /// The note survives the end of the process, and means nothing any more
    /// once another credential is stored.
    ///
    /// - Returns: Whether such a note was there already: an earlier refresh
    ///   was begun and its answer never stored.
    /// - Throws: Anything, when it can't be written; the refresh goes on
    ///   without it.
    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool

    /// Removes the note: the server has answered, and the refresh token was
    /// not spent.
    func removeRefreshIntent(for credential: TokenCredential) async
}
