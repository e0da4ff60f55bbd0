import Foundation

/// All tokens, and the sessions that they belong to.
///
/// It is a pure value: time is an argument, and it doesn't depend on HTTP. A refresh token works once. If a used one is
/// sent again, either its owner didn't get the response or the token was stolen. After the grace period, and at once if
/// its successor has been used too, the ledger assumes theft and ends the session (RFC 9700 §4.14.2).
struct TokenLedger {
    /// Who has signed in, and for what.
    struct Grant {
        let user: String
        let clientID: String
        var scopes = Scope.usual
        /// The key that the refresh tokens are bound to, as those of a public client are (RFC 9449 §5).
        var keyThumbprint: String?
    }

    /// The tokens for a client.
    struct Issue {
        let session: Int
        let accessToken: String
        let lifetime: TimeInterval
        let refreshToken: String?
        let scopes: Set<Scope>
    }

    /// What an access token allows.
    struct Access {
        let user: String
        let scopes: Set<Scope>
        /// The key that it is bound to.
        let keyThumbprint: String?
    }

    enum RefreshOutcome {
        /// The first use of a refresh token.
        case refreshed(Issue)
        /// Another use of it within the grace period, its successor unused.
        case repeated(Issue)
        /// Any other use of it: the session has ended.
        case reused
        case refused(String)
    }

    private struct Session {
        let grant: Grant
        var hasEnded = false
    }

    private struct AccessToken {
        let session: Int
        let keyThumbprint: String?
        var expiresAt: TimeInterval
    }

    private struct RefreshToken {
        let session: Int
        var usedAt: TimeInterval?
        /// The refresh token that its first use returned.
        var successor: String?
    }

    private var sessions: [Session] = []
    private var accessTokens: [String: AccessToken] = [:]
    private var refreshTokens: [String: RefreshToken] = [:]

    // MARK: Issuing

    /// Starts a session.
    ///
    /// - Parameter key: The key that the access token is bound to.
    mutating func signIn(
        _ grant: Grant, isRefreshable: Bool, key: String? = nil, policy: TokenPolicy, now: TimeInterval
    ) -> Issue {
        sessions.append(Session(grant: grant))
        let session = sessions.count - 1
        return issue(
            session, refreshToken: isRefreshable ? newRefreshToken(session) : nil, key, policy, now)
    }

    /// Uses a refresh token.
    mutating func refresh(
        _ token: String, clientID: String, key: String? = nil, policy: TokenPolicy, now: TimeInterval
    ) -> RefreshOutcome {
        guard let known = refreshTokens[token], sessions[known.session].grant.clientID == clientID else {
            return .refused("The refresh token is unknown.")
        }
        let session = known.session
        guard !sessions[session].hasEnded else { return .refused("The session has ended.") }
        guard [nil, key].contains(sessions[session].grant.keyThumbprint) else {
            return .refused("The refresh token is bound to another key.")
        }
        if let usedAt = known.usedAt {
            // A client that uses the successor has got the response, so only a thief needs the old token.
            guard now - usedAt < policy.gracePeriod, let successor = known.successor,
                refreshTokens[successor]?.usedAt == nil
            else {
                sessions[session].hasEnded = true
                return .reused
            }
            return .repeated(issue(session, refreshToken: successor, key, policy, now))
        }
        let successor = newRefreshToken(session)
        refreshTokens[token]?.usedAt = now
        refreshTokens[token]?.successor = successor
        return .refreshed(issue(session, refreshToken: successor, key, policy, now))
    }

    private mutating func newRefreshToken(_ session: Int) -> String {
        let token = Self.newToken("rt")
        refreshTokens[token] = RefreshToken(session: session)
        return token
    }

    private mutating func issue(
        _ session: Int, refreshToken: String?, _ key: String?, _ policy: TokenPolicy, _ now: TimeInterval
    ) -> Issue {
        let token = Self.newToken("at")
        accessTokens[token] = AccessToken(
            session: session, keyThumbprint: key, expiresAt: now + policy.accessTokenLifetime)
        return Issue(
            session: session, accessToken: token, lifetime: policy.accessTokenLifetime, refreshToken: refreshToken,
            scopes: sessions[session].grant.scopes)
    }

    private static func newToken(_ kind: String) -> String { "\(kind)-\(UUID().uuidString)" }

    // MARK: Checking

    /// What a valid access token allows; `nil` for any other token.
    func access(by token: String, now: TimeInterval) -> Access? {
        guard let known = accessTokens[token], now < known.expiresAt, !sessions[known.session].hasEnded else {
            return nil
        }
        let grant = sessions[known.session].grant
        return Access(user: grant.user, scopes: grant.scopes, keyThumbprint: known.keyThumbprint)
    }

    // MARK: Ending

    /// Revokes a token for its client (RFC 7009): an access token goes alone, a refresh token with its session.
    ///
    /// - Returns: Whether a session has ended.
    mutating func revoke(_ token: String, clientID: String) -> Bool {
        if let known = accessTokens[token], sessions[known.session].grant.clientID == clientID {
            accessTokens[token] = nil
        }
        guard let session = refreshTokens[token]?.session, sessions[session].grant.clientID == clientID else {
            return false
        }
        return end(session)
    }

    /// Ends a session, and returns whether it lived.
    mutating func end(_ session: Int) -> Bool {
        defer { sessions[session].hasEnded = true }
        return !sessions[session].hasEnded
    }

    /// Lets every access token expire.
    mutating func endAccessTokens() {
        for token in accessTokens.keys { accessTokens[token]?.expiresAt = -.infinity }
    }

    /// Ends every session, and returns how many there were.
    mutating func endSessions() -> Int {
        let living = sessions.indices.filter { !sessions[$0].hasEnded }
        for session in living { sessions[session].hasEnded = true }
        return living.count
    }
}
