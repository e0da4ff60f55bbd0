import Foundation

/// All tokens, and the sessions that they belong to.
///
/// It is a pure value: time is an argument, and it doesn't depend on HTTP. A refresh token works once. If a used one is
/// sent again, either its owner didn't get the response or the token was stolen. After the grace period, and at once if
/// its successor has been used too, the ledger assumes theft and ends the session (RFC 9700 §4.14.2).
struct TokenLedger {
    /// The tokens for a client.
    struct Issue {
        let accessToken: String
        let lifetime: TimeInterval
        let refreshToken: String?
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
        let user: String
        let clientID: String
        var hasEnded = false
    }

    private struct AccessToken {
        let session: Int
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
    mutating func signIn(
        _ user: String, clientID: String, isRefreshable: Bool, policy: TokenPolicy, now: TimeInterval
    ) -> Issue {
        sessions.append(Session(user: user, clientID: clientID))
        let session = sessions.count - 1
        return issue(
            session, refreshToken: isRefreshable ? newRefreshToken(session) : nil, policy, now)
    }

    /// Uses a refresh token.
    mutating func refresh(
        _ token: String, clientID: String, policy: TokenPolicy, now: TimeInterval
    ) -> RefreshOutcome {
        guard let known = refreshTokens[token], sessions[known.session].clientID == clientID else {
            return .refused("The refresh token is unknown.")
        }
        let session = known.session
        guard !sessions[session].hasEnded else { return .refused("The session has ended.") }
        if let usedAt = known.usedAt {
            // A client that uses the successor has got the response, so only a thief needs the old token.
            guard now - usedAt < policy.gracePeriod, let successor = known.successor,
                refreshTokens[successor]?.usedAt == nil
            else {
                sessions[session].hasEnded = true
                return .reused
            }
            return .repeated(issue(session, refreshToken: successor, policy, now))
        }
        let successor = newRefreshToken(session)
        refreshTokens[token]?.usedAt = now
        refreshTokens[token]?.successor = successor
        return .refreshed(issue(session, refreshToken: successor, policy, now))
    }

    private mutating func newRefreshToken(_ session: Int) -> String {
        let token = Self.newToken("rt")
        refreshTokens[token] = RefreshToken(session: session)
        return token
    }

    private mutating func issue(
        _ session: Int, refreshToken: String?, _ policy: TokenPolicy, _ now: TimeInterval
    ) -> Issue {
        let token = Self.newToken("at")
        accessTokens[token] = AccessToken(session: session, expiresAt: now + policy.accessTokenLifetime)
        return Issue(accessToken: token, lifetime: policy.accessTokenLifetime, refreshToken: refreshToken)
    }

    private static func newToken(_ kind: String) -> String { "\(kind)-\(UUID().uuidString)" }

    // MARK: Checking

    /// The user of a valid access token; `nil` for any other token.
    func user(of token: String, now: TimeInterval) -> String? {
        guard let known = accessTokens[token], now < known.expiresAt, !sessions[known.session].hasEnded else {
            return nil
        }
        return sessions[known.session].user
    }

    // MARK: Ending

    /// Revokes a token for its client (RFC 7009): an access token goes alone, a refresh token with its session.
    ///
    /// - Returns: Whether a session has ended.
    mutating func revoke(_ token: String, clientID: String) -> Bool {
        if let known = accessTokens[token], sessions[known.session].clientID == clientID {
            accessTokens[token] = nil
        }
        guard let session = refreshTokens[token]?.session, sessions[session].clientID == clientID,
            !sessions[session].hasEnded
        else { return false }
        sessions[session].hasEnded = true
        return true
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
