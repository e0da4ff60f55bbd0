/// The refresh tokens that refreshes of a session have exchanged for others.
///
/// Such a token is never sent again, whoever puts it back into the store: a
/// server that rotates takes the second use of one for a theft and ends the
/// session (RFC 9700 §4.14.2). A token that the server did not replace isn't
/// spent.
struct SpentTokens: Sendable {
    private struct Entry {
        let refreshToken: String
        /// What it has come to; `nil` once that was signed out.
        var successor: TokenCredential?
    }

    private var entries: [Entry] = []

    /// Whether the credential's refresh token was exchanged.
    func contains(_ credential: TokenCredential) -> Bool {
        entries.contains { $0.refreshToken == credential.refreshToken }
    }

    /// What the credential has come to, if its refresh token was exchanged
    /// and nobody has signed out since.
    func successor(of credential: TokenCredential) -> TokenCredential? {
        entries.last { $0.refreshToken == credential.refreshToken }?.successor
    }

    /// Notes that a refresh has exchanged a credential for another one.
    ///
    /// - Parameter isWanted: Whether the session that it was for goes on.
    mutating func insert(_ old: TokenCredential, replacedBy new: TokenCredential, isWanted: Bool) {
        guard !old.refreshToken.isEmpty, old.refreshToken != new.refreshToken else { return }
        let successor = isWanted ? new : nil
        for index in entries.indices where entries[index].successor?.refreshToken == old.refreshToken {
            entries[index].successor = successor
        }
        // One that the server issues again is as good as new.
        entries.removeAll { $0.refreshToken == old.refreshToken || $0.refreshToken == new.refreshToken }
        entries.append(Entry(refreshToken: old.refreshToken, successor: successor))
        // A store is a few refreshes behind, not many.
        if entries.count > Self.limit { entries.removeFirst() }
    }

    /// Notes that a session was signed out: what had come to it leads nowhere.
    mutating func forget(_ credential: TokenCredential) {
        for index in entries.indices where entries[index].successor?.refreshToken == credential.refreshToken {
            entries[index].successor = nil
        }
    }

    private static let limit = 64
}
