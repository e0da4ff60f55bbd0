/// The refresh tokens that a session's refreshes have exchanged for new ones.
///
/// Such a token is never sent again, even if somebody puts it back into the store: a server that rotates refresh tokens
/// takes a second use for a theft and ends the session (RFC 9700 §4.14.2).
struct SpentTokens: Sendable {
    private struct Entry {
        let refreshToken: String
        /// The credential that replaced it; `nil` once that was signed out.
        var successor: TokenCredential?
    }

    private var entries: [Entry] = []

    func contains(_ credential: TokenCredential) -> Bool {
        entries.contains { $0.refreshToken == credential.refreshToken }
    }

    /// The credential that replaced this one, unless it was signed out since.
    func successor(of credential: TokenCredential) -> TokenCredential? {
        entries.last { $0.refreshToken == credential.refreshToken }?.successor
    }

    /// The refresh tokens that were exchanged for this credential.
    func predecessors(of credential: TokenCredential) -> [String] {
        entries.filter { $0.successor?.refreshToken == credential.refreshToken }.map(\.refreshToken)
    }

    /// A refresh has exchanged a credential for a new one.
    ///
    /// - Parameter isWanted: Whether the session that it was for goes on.
    mutating func insert(_ old: TokenCredential, replacedBy new: TokenCredential, isWanted: Bool) {
        guard !old.refreshToken.isEmpty, old.refreshToken != new.refreshToken else { return }
        let successor = isWanted ? new : nil
        replace(old, by: successor)
        // A refresh token that the server issues again is not spent any more.
        entries.removeAll { $0.refreshToken == old.refreshToken || $0.refreshToken == new.refreshToken }
        entries.append(Entry(refreshToken: old.refreshToken, successor: successor))
        // A store may be a few refreshes behind, but not many.
        if entries.count > Self.limit { entries.removeFirst() }
    }

    /// A session was signed out: its credential replaces nothing any more.
    mutating func forget(_ credential: TokenCredential) { replace(credential, by: nil) }

    private mutating func replace(_ old: TokenCredential, by successor: TokenCredential?) {
        for index in entries.indices where entries[index].successor?.refreshToken == old.refreshToken {
            entries[index].successor = successor
        }
    }

    private static let limit = 64
}
