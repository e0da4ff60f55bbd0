/// A credential that could not be written, and what it should have replaced.
struct UnwrittenCredential: Sendable {
    /// What the store should hold; `nil` for nothing.
    let credential: TokenCredential?

    /// What the store held when the write failed, if that was known.
    let replaced: Replaced

    /// The sign-in or sign-out that it belongs to, until its write was tried.
    var generation: Int?

    enum Replaced: Sendable {
        case unknown
        case known(TokenCredential?)

        /// What the store held; `nil` for nothing, or when it isn't known.
        var credential: TokenCredential? { if case .known(let credential) = self { credential } else { nil } }
    }

    /// Whether it should still replace what the store holds; what somebody else
    /// has written since is newer.
    func isWanted(over stored: TokenCredential?) -> Bool {
        switch replaced {
        case .unknown: true
        case .known(let replaced): stored == replaced
        }
    }
}
