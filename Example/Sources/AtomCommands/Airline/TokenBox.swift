import AtomNetworking
import Foundation

/// Keeps a session's tokens in memory; an app would write them to the keychain.
final class TokenBox: TokenCredentialWritable, @unchecked Sendable {
    private let lock = NSLock()
    private var credential: TokenCredential

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    var tokenCredential: TokenCredential {
        get { lock.withLock { credential } }
        set { lock.withLock { credential = newValue } }
    }
}
