import Foundation

/// All tokens, their owners, and their states.
///
/// It is a pure value: time is an argument, and it doesn't depend on HTTP.
/// Every sign-in starts a *family*; refreshes keep the session in its family. A
/// refresh token works once. If a used one is sent again, either its owner
/// didn't get the response or the token was stolen. After the grace period, and at
/// once if its successor has been used too, the ledger assumes theft and
/// revokes the whole family (RFC 9700 §4.14.2).
struct TokenLedger {
    private var families: [Family] = []
    private var accessTokens: [String: AccessToken] = [:]
    private var refreshTokens: [String: RefreshToken] = [:]
    private var issued = 0

    struct Owner: Hashable {
        var user: String?
        var clientID: String
        var scope: [String]
    }

    /// The tokens for a client.
    struct Issue {
        /// The number of the access token, from 1, which identifies it without
        /// showing it.
        var number: Int
        var family: Int
        var accessToken: String
        var lifetime: TimeInterval
        var refreshToken: String?
        var scope: [String]
    }

    private struct Family {
        var owner: Owner
        var isRevoked = false
        var newestAccessToken = 0
        var currentRefreshToken: String?
    }

    private struct AccessToken {
        var number: Int
        var family: Int
        var expiresAt: TimeInterval
        var isRevoked = false
        var wasRejected = false
    }

    private struct RefreshToken {
        var family: Int
        var expiresAt: TimeInterval?
        var usedAt: TimeInterval?
        /// The refresh token that its first use returned.
        var successor: String?
    }
}

// MARK: - Issuing

extension TokenLedger {
    /// Starts a family.
    mutating func signIn(_ owner: Owner, isRefreshable: Bool, policy: TokenPolicy, now: TimeInterval) -> Issue {
        families.append(Family(owner: owner))
        let family = families.count - 1
        if isRefreshable {
            addRefreshToken(to: family, policy: policy, now: now)
        }
        return issueAccessToken(
            in: family,
            scope: owner.scope,
            refreshToken: families[family].currentRefreshToken,
            policy: policy,
            now: now
        )
    }

    enum RefreshOutcome {
        /// The first use of a refresh token.
        case refreshed(Issue)
        /// Another use of it within the grace period, its successor unused.
        case repeated(Issue)
        /// Any other use of it: the family is revoked.
        case reused(family: Int)
        case refused(OAuthError)
    }

    /// Uses a refresh token.
    mutating func refresh(
        _ token: String,
        clientID: String,
        scope requested: [String]?,
        policy: TokenPolicy,
        now: TimeInterval
    ) -> RefreshOutcome {
        guard let known = refreshTokens[token], families[known.family].owner.clientID == clientID else {
            return .refused(OAuthError(.invalidGrant, "The refresh token is unknown."))
        }
        let family = known.family
        guard !families[family].isRevoked else {
            return .refused(OAuthError(.invalidGrant, "The session was revoked."))
        }
        if let expiresAt = known.expiresAt, now >= expiresAt {
            return .refused(OAuthError(.invalidGrant, "The refresh token has expired."))
        }
        let granted = families[family].owner.scope
        let scope = requested ?? granted
        guard Set(scope).isSubset(of: granted) else {
            return .refused(OAuthError(.invalidScope, "A refresh can't request more scopes than were granted."))
        }
        if let usedAt = known.usedAt {
            // A client that uses the successor has got the response, so only a
            // thief needs the old token.
            guard now - usedAt < policy.gracePeriod, let successor = known.successor,
                refreshTokens[successor]?.usedAt == nil
            else {
                revokeFamily(family)
                return .reused(family: family)
            }
            return .repeated(
                issueAccessToken(in: family, scope: scope, refreshToken: successor, policy: policy, now: now)
            )
        }
        if policy.refreshRevokesAccessTokens {
            revokeAccessTokens(of: family)
        }
        if policy.rotatesRefreshTokens {
            refreshTokens[token]?.usedAt = now
            addRefreshToken(to: family, policy: policy, now: now)
            refreshTokens[token]?.successor = families[family].currentRefreshToken
        }
        let successor = policy.rotatesRefreshTokens ? families[family].currentRefreshToken : nil
        return .refreshed(
            issueAccessToken(in: family, scope: scope, refreshToken: successor, policy: policy, now: now)
        )
    }

    private mutating func addRefreshToken(to family: Int, policy: TokenPolicy, now: TimeInterval) {
        let token = Self.newToken(prefix: "rt")
        refreshTokens[token] = RefreshToken(family: family, expiresAt: policy.refreshTokenLifetime.map { now + $0 })
        families[family].currentRefreshToken = token
    }

    private mutating func issueAccessToken(
        in family: Int,
        scope: [String],
        refreshToken: String?,
        policy: TokenPolicy,
        now: TimeInterval
    ) -> Issue {
        issued += 1
        let token = Self.newToken(prefix: "at")
        let lifetime = policy.accessTokenLifetime
        accessTokens[token] = AccessToken(number: issued, family: family, expiresAt: now + lifetime)
        families[family].newestAccessToken = issued
        return Issue(
            number: issued,
            family: family,
            accessToken: token,
            lifetime: lifetime,
            refreshToken: refreshToken,
            scope: scope
        )
    }

    /// 128 random bits in hexadecimal, after a prefix that names the type.
    private static func newToken(prefix: String) -> String {
        let digits = (0..<2).map { _ in
            let half = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - half.count) + half
        }
        return "\(prefix)-" + digits.joined()
    }
}

// MARK: - Checking

extension TokenLedger {
    /// The state of an access token in a request.
    struct Judgement {
        enum Verdict {
            case good(Owner)
            case expired
            case revoked
            case unknown
        }

        var verdict: Verdict
        var number: Int?
        /// A newer access token of the same family has been issued.
        var isSuperseded = false
        /// The client has already got a 401 for this token.
        var wasRejected = false
    }

    mutating func judge(_ token: String, now: TimeInterval) -> Judgement {
        guard let known = accessTokens[token] else {
            return Judgement(verdict: .unknown)
        }
        let family = families[known.family]
        var judgement = Judgement(
            verdict: .good(family.owner),
            number: known.number,
            isSuperseded: family.newestAccessToken > known.number,
            wasRejected: known.wasRejected
        )
        if known.isRevoked || family.isRevoked {
            judgement.verdict = .revoked
        } else if now >= known.expiresAt {
            judgement.verdict = .expired
        } else {
            return judgement
        }
        accessTokens[token]?.wasRejected = true
        return judgement
    }
}

// MARK: - Revoking

extension TokenLedger {
    enum RevocationOutcome {
        case accessTokenRevoked(number: Int)
        case familyRevoked(family: Int)
        case nothingToRevoke
        case refused(OAuthError)
    }

    /// Revokes one token for the client (RFC 7009).
    ///
    /// Revoking a refresh token revokes its whole family.
    mutating func revoke(_ token: String, clientID: String) -> RevocationOutcome {
        guard let family = accessTokens[token]?.family ?? refreshTokens[token]?.family else {
            return .nothingToRevoke
        }
        guard families[family].owner.clientID == clientID else {
            return .refused(OAuthError(.unauthorizedClient, "The token belongs to another client."))
        }
        if let number = accessTokens[token]?.number {
            accessTokens[token]?.isRevoked = true
            return .accessTokenRevoked(number: number)
        }
        guard !families[family].isRevoked else { return .nothingToRevoke }
        revokeFamily(family)
        return .familyRevoked(family: family)
    }

    /// Lets every valid access token expire; returns their number.
    mutating func expireAccessTokens(now: TimeInterval) -> Int {
        endAccessTokens(now: now) { $0.expiresAt = now }
    }

    /// Revokes every valid access token; returns their number.
    mutating func revokeAccessTokens(now: TimeInterval) -> Int {
        endAccessTokens(now: now) { $0.isRevoked = true }
    }

    /// Revokes every family with all its tokens; returns the families.
    mutating func revokeFamilies() -> [Int] {
        let living = families.indices.filter { !families[$0].isRevoked }
        for family in living {
            revokeFamily(family)
        }
        return living
    }

    private mutating func revokeFamily(_ family: Int) {
        families[family].isRevoked = true
    }

    private mutating func revokeAccessTokens(of family: Int) {
        for (token, known) in accessTokens where known.family == family {
            accessTokens[token]?.isRevoked = true
        }
    }

    private mutating func endAccessTokens(now: TimeInterval, _ end: (inout AccessToken) -> Void) -> Int {
        var count = 0
        for (token, known) in accessTokens {
            guard !known.isRevoked, !families[known.family].isRevoked, now < known.expiresAt else { continue }
            var ended = known
            end(&ended)
            accessTokens[token] = ended
            count += 1
        }
        return count
    }
}
