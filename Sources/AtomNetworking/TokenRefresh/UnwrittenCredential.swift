/// A credential that could not be written, and what it was to replace.
struct UnwrittenCredential: Sendable {
    /// What the store should hold; `nil` for nothing.
    let credential: TokenCredential?

    /// What it held when the write failed, if that was known.
    let replaced: Replaced

    /// The sign-in or sign-out that it was written for, until that has been
    /// tried.
    var generation: Int?

    enum Replaced: Sendable {
        case unknown
        case known(TokenCredential?)

        /// What it held, as far as that is known.
        var credential: TokenCredential? { if case .known(let credential) = self { credential } else { nil } }
    }

    /// Whether it still goes before what the store holds: what somebody else
    /// has written since is newer.
    func isWanted(over stored: TokenCredential?) -> Bool {
        switch replaced {
        case .unknown: true
        case .known(let replaced): stored == replaced
        }
    }
}
