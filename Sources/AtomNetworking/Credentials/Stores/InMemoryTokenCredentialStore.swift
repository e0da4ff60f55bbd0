/// Keeps tokens in memory while the process runs.
///
/// It has no lock: a credential that is saved while an exchange runs stays, and the exchange returns it.
public final class InMemoryTokenCredentialStore: TokenCredentialStore {
    private let credential: Guarded<TokenCredential?>

    /// Creates a store that contains the credential.
    public init(_ credential: TokenCredential? = nil) {
        self.credential = Guarded(credential)
    }

    /// The tokens; `nil` when there are none.
    public func load() async throws -> TokenCredential? {
        credential.withLock { $0 }
    }

    /// Keeps the tokens; `nil` drops them.
    public func save(_ credential: TokenCredential?) async throws {
        self.credential.withLock { $0 = credential }
    }

    /// Reads the tokens, computes new ones, and stores them unless other tokens have been saved in the meantime.
    ///
    /// - Returns: The tokens that are stored then.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let old = credential.withLock { $0 }
        let new = try await body(old)
        return credential.withLock { stored in
            if new != old, stored.hasTokens(of: old) { stored = new }
            return stored
        }
    }
}
