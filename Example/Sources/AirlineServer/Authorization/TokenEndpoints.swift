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

    /// An error response (RFC 6749 §5.2).
    private struct Refusal: Error {
        let code: String
        let description: String

        init(_ code: String, _ description: String) {
            self.code = code
            self.description = description
        }

        var response: LoopbackServer.Response {
            .encoding(
                ["error": code, "error_description": description], status: code == "invalid_client" ? 401 : 400,
                headers: [("Cache-Control", "no-store")])
        }
    }

    private func token(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let delay = state.withLock { state in
            state.counters.tokenRequests += 1
            return state.policy.delayMilliseconds
        }
        let response: LoopbackServer.Response
        do throws(Refusal) {
            response = .encoding(TokenResponse(try issue(for: request)), headers: [("Cache-Control", "no-store")])
        } catch {
            state.withLock { $0.counters.tokenRequestsRefused += 1 }
            response = error.response
        }
        return delay > 0 ? response.delayed(milliseconds: delay) : response
    }

    private func issue(for request: LoopbackServer.Request) throws(Refusal) -> TokenLedger.Issue {
        let client = try client(of: request)
        switch request.form("grant_type") {
        case "password":
            guard let user = request.form("username"), let password = AirlineServer.users[user],
                request.form("password") == password
            else { throw Refusal("invalid_grant", "The user name or the password is wrong.") }
            return signIn(user, client, isRefreshable: true)
        case "client_credentials":
            guard client.secret != nil else {
                throw Refusal("unauthorized_client", "Only a client with a secret can use this grant.")
            }
            // RFC 6749 §4.4.3: no refresh token.
            return signIn(client.id, client, isRefreshable: false)
        case "refresh_token":
            return try refresh(request.form("refresh_token") ?? "", client)
        default:
            throw Refusal("unsupported_grant_type", "The grants are password, refresh_token and client_credentials.")
        }
    }

    /// Identifies and authenticates the client (RFC 6749 §2.3.1).
    private func client(of request: LoopbackServer.Request) throws(Refusal) -> OAuthClient {
        // Both parts are form-encoded before they are joined.
        let basic = request.basicCredential.map { ($0.name.removingPercentEncoding, $0.secret.removingPercentEncoding) }
        let (id, secret) = basic ?? (request.form("client_id"), request.form("client_secret"))
        guard let client = OAuthClient.all.first(where: { $0.id == id && ($0.secret ?? "") == secret ?? "" })
        else { throw Refusal("invalid_client", "The client is unknown or its secret is wrong.") }
        return client
    }

    private func signIn(_ user: String, _ client: OAuthClient, isRefreshable: Bool) -> TokenLedger.Issue {
        state.withLock { state in
            state.counters.signIns += 1
            state.counters.tokensIssued += 1
            return state.ledger.signIn(
                user, clientID: client.id, isRefreshable: isRefreshable, policy: state.policy, now: .now)
        }
    }

    private func refresh(_ token: String, _ client: OAuthClient) throws(Refusal) -> TokenLedger.Issue {
        try state.withLock { (state) throws(Refusal) in
            switch state.ledger.refresh(token, clientID: client.id, policy: state.policy, now: .now) {
            case .refreshed(let issue):
                state.counters.refreshes += 1
                state.counters.tokensIssued += 1
                return issue
            case .repeated(let issue):
                state.counters.repeatedRefreshes += 1
                state.counters.tokensIssued += 1
                return issue
            case .reused:
                state.counters.reuseDetected += 1
                state.counters.sessionsEnded += 1
                throw Refusal("invalid_grant", "The refresh token was used before; the session has ended.")
            case .refused(let reason):
                throw Refusal("invalid_grant", reason)
            }
        }
    }

    private func revoke(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        do throws(Refusal) {
            let client = try client(of: request)
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

/// The token response (RFC 6749 §5.1).
private struct TokenResponse: Encodable {
    let accessToken: String
    let tokenType = "Bearer"
    let expiresIn: Double
    let refreshToken: String?

    init(_ issue: TokenLedger.Issue) {
        accessToken = issue.accessToken
        expiresIn = issue.lifetime
        refreshToken = issue.refreshToken
    }

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
    }
}

extension TimeInterval {
    /// Seconds of a clock that never runs backwards.
    static var now: TimeInterval { ProcessInfo.processInfo.systemUptime }
}
