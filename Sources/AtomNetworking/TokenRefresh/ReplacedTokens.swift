/// The last tokens that a session has done away with.
///
/// A store that lags, or that did not take a new credential, goes on handing
/// them out; going back to them would spend a refresh token twice, and a
/// server that watches for that kills the session.
struct ReplacedTokens: Sendable {
    private var accessTokens: [String] = []
    private var refreshTokens: [String] = []
    /// The last one as a whole: some servers prolong a token, and all that is
    /// new is its expiry.
    private var last: TokenCredential?

    /// Whether the credential is one of those.
    func contains(_ credential: TokenCredential) -> Bool {
        credential == last || accessTokens.contains(credential.accessToken)
            || refreshTokens.contains(credential.refreshToken)
    }

    /// Notes what the newer credential doesn't go on using.
    mutating func insert(_ old: TokenCredential, replacedBy new: TokenCredential? = nil) {
        if let new { remove(new) }
        if old.accessToken != new?.accessToken { Self.append(old.accessToken, to: &accessTokens) }
        if old.refreshToken != new?.refreshToken { Self.append(old.refreshToken, to: &refreshTokens) }
        if old != new { last = old }
    }

    /// Notes a refresh token that a refresh has used up whose answer was
    /// dropped.
    mutating func insertSpent(_ old: TokenCredential, replacedBy new: TokenCredential, inUse: TokenCredential?) {
        guard old.refreshToken != new.refreshToken, old.refreshToken != inUse?.refreshToken else { return }
        Self.append(old.refreshToken, to: &refreshTokens)
    }

    /// Forgets a credential that is in use again.
    mutating func remove(_ credential: TokenCredential) {
        accessTokens.removeAll { $0 == credential.accessToken }
        refreshTokens.removeAll { $0 == credential.refreshToken }
        if last == credential { last = nil }
    }

    private static func append(_ token: String, to tokens: inout [String]) {
        guard !token.isEmpty else { return }
        tokens.append(token)
        // A store is a few refreshes behind, not many.
        if tokens.count > 32 { tokens.removeFirst() }
    }
}
