import Foundation

/// Keeps tokens for as long as the process runs.
public final class InMemoryTokenCredentialStore: TokenCredentialStore, @unchecked Sendable {
    // `credential` is touched under `lock` only.
    private let lock = NSLock()
    private var credential: TokenCredential?

    /// Makes a store that holds the credential.
    public init(_ credential: TokenCredential? = nil) {
        self.credential = credential
    }

    /// The tokens; `nil` when there are none.
    public func load() async throws -> TokenCredential? {
        lock.withLock { credential }
    }

    /// Keeps the tokens; `nil` drops them.
    public func save(_ credential: TokenCredential?) async throws {
        lock.withLock { self.credential = credential }
    }
}
