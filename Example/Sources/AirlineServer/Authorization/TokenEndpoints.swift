import AtomNetworkingTesting
import Foundation

/// The authorization server: tokens (RFC 6749 §3.2) and their revocation (RFC 7009).
struct TokenEndpoints {
    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "POST \(AirlineServer.tokenPath)": { token($0) },
            "POST \(AirlineServer.revocationPath)": { revoke($0) },
        ]
    }

    private func token(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let delay = state.withLock { state in
            state.counters.tokenRequests += 1
            return state.policy.delayMilliseconds
        }
        let response: LoopbackServer.Response
        do throws(OAuthRefusal) {
            response = .encoding(try issue(for: request), headers: [("Cache-Control", "no-store")])
        } catch {
            state.withLock { $0.counters.tokenRequestsRefused += 1 }
            response = error.response
        }
        return delay > 0 ? response.delayed(milliseconds: delay) : response
    }

    private func issue(for request: LoopbackServer.Request) throws(OAuthRefusal) -> TokenResponse {
        let client = try RegisteredClient(of: request)
        return try state.withLock { (state) throws(OAuthRefusal) in
            let key = try state.key(provenBy: request)
            func signIn(
                _ user: String, _ scopes: Set<Scope>, nonce: String? = nil, isRefreshable: Bool = true
            ) -> TokenResponse {
                state.counters.signIns += 1
                state.counters.tokensIssued += 1
                let grant = TokenLedger.Grant(
                    user: user, clientID: client.id, scopes: scopes, keyThumbprint: client.secret == nil ? key : nil)
                let issue = state.ledger.signIn(
                    grant, isRefreshable: isRefreshable, key: key, policy: state.policy, now: .now)
                return TokenResponse(
                    issue, key: key, idToken: scopes.contains(.openid) ? state.idToken(for: grant, nonce) : nil)
            }
            switch request.form("grant_type") {
            case "authorization_code":
                let code = request.form("code") ?? ""
                if let session = state.authorizations.session(ofUsed: code), state.ledger.end(session) {
                    state.counters.sessionsEnded += 1
                }
                let granted = try state.authorizations.request(
                    of: code, clientID: client.id, redirectURI: request.form("redirect_uri"),
                    verifier: request.form("code_verifier"), keyThumbprint: key, now: .now)
                let response = signIn(granted.user, granted.request.scopes, nonce: granted.request.nonce)
                state.authorizations.use(code, for: response.session)
                return response
            case "urn:ietf:params:oauth:grant-type:device_code":
                let granted = try state.authorizations.takeDecision(
                    request.form("device_code") ?? "", clientID: client.id, now: .now)
                return signIn(granted.user, granted.scopes)
            case "password":
                guard let user = AirlineServer.user(of: request) else {
                    throw OAuthRefusal("invalid_grant", "The user name or the password is wrong.")
                }
                // More needs the person's consent, on the page.
                return signIn(user, try Set(request.form("scope"), of: Scope.usual))
            case "client_credentials":
                guard client.secret != nil else {
                    throw OAuthRefusal("unauthorized_client", "Only a client with a secret can use this grant.")
                }
                // No person, and so no ID token. RFC 6749 §4.4.3: no refresh token.
                let scopes = try Set(request.form("scope"), of: Set(Scope.allCases).subtracting([.openid]))
                return signIn(client.id, scopes, isRefreshable: false)
            case "refresh_token":
                return TokenResponse(
                    try state.refresh(request.form("refresh_token") ?? "", client, key: key), key: key)
            default:
                throw OAuthRefusal("unsupported_grant_type", "The metadata has a list of the grants.")
            }
        }
    }

    private func revoke(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        do throws(OAuthRefusal) {
            let client = try RegisteredClient(of: request)
            state.withLock { state in
                if state.ledger.revoke(request.form("token") ?? "", clientID: client.id) {
                    state.counters.sessionsEnded += 1
                }
            }
            // RFC 7009 §2.2: an unknown token also gets a 200.
            return .empty(200)
        } catch {
            return error.response
        }
    }
}

extension ServerState {
    fileprivate mutating func refresh(
        _ token: String, _ client: RegisteredClient, key: String?
    ) throws(OAuthRefusal) -> TokenLedger.Issue {
        switch ledger.refresh(token, clientID: client.id, key: key, policy: policy, now: .now) {
        case .refreshed(let issue):
            counters.refreshes += 1
            counters.tokensIssued += 1
            return issue
        case .repeated(let issue):
            counters.repeatedRefreshes += 1
            counters.tokensIssued += 1
            return issue
        case .reused:
            counters.reuseDetected += 1
            counters.sessionsEnded += 1
            throw OAuthRefusal("invalid_grant", "The refresh token was used before; the session has ended.")
        case .refused(let reason):
            throw OAuthRefusal("invalid_grant", reason)
        }
    }

    fileprivate func idToken(for grant: TokenLedger.Grant, _ nonce: String?) -> String? {
        let now = Int(Date().timeIntervalSince1970)
        return idTokens.token(
            .init(
                iss: issuer, sub: grant.user, aud: grant.clientID, iat: now, exp: now + 3600, nonce: nonce,
                name: grant.user.capitalized))
    }
}

/// The token response (RFC 6749 §5.1).
private struct TokenResponse: Encodable {
    let session: Int
    let accessToken: String
    let tokenType: String
    let expiresIn: Double
    let refreshToken: String?
    let scope: String
    let idToken: String?

    init(_ issue: TokenLedger.Issue, key: String?, idToken: String? = nil) {
        session = issue.session
        accessToken = issue.accessToken
        tokenType = key == nil ? "Bearer" : "DPoP"
        expiresIn = issue.lifetime
        refreshToken = issue.refreshToken
        scope = issue.scopes.text
        self.idToken = idToken
    }

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case scope
        case idToken = "id_token"
    }
}

extension TimeInterval {
    /// Seconds of a clock that never runs backwards.
    static var now: TimeInterval { ProcessInfo.processInfo.systemUptime }
}
