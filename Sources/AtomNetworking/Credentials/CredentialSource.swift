/// Where a session's tokens are: an app's variable, or a store.
enum CredentialSource: Sendable {
    case writable(any TokenCredentialWritable)
    case store(any TokenCredentialStore)

    /// What makes it the same session for all who use it.
    var object: AnyObject {
        switch self {
        case .writable(let writable): writable
        case .store(let store): store
        }
    }
}
