/// Keeps tokens for as long as the process runs.
public final class InMemoryTokenCredentialStore: TokenCredentialStore {
    private let credential: Guarded<TokenCredential?>

    /// Makes a store that holds the credential.
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
}
