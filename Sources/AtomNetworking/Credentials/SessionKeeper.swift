/// Where a session's tokens are; neither knows anything of a session.
package enum SessionKeeper: Sendable {
    /// Read and set at once, on any thread.
    case variable(any TokenCredentialWritable)
    /// It takes time, can fail, and may be shared with other processes.
    case store(any TokenCredentialStore)

    /// What makes it the same session for all who use it.
    var object: AnyObject {
        switch self {
        case .variable(let variable): variable
        case .store(let store): store
        }
    }
}
