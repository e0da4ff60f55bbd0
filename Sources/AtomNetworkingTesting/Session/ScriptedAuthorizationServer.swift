import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An OAuth 2.0 authorization server in memory, at an origin of its own on a
/// ``ScriptedTransport``.
///
/// It refreshes tokens (RFC 6749 §6), issues tokens to a client (§4.4) and
/// revokes them (RFC 7009). Refresh tokens rotate, and using one twice revokes
/// all tokens of the same sign-in (RFC 9700 §4.14.2). It goes by the wire's
/// clock.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// struct Profile: Requestable {
///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
/// }
///
/// let (atom, wire) = Atom.scripted(.status(204), signedIn: true, expiringIn: .seconds(60))
/// wire.clock.advance(by: .seconds(61))
/// try await atom.enqueue(Profile()).resume()
/// assert(wire.authorizationServer.counts.refreshes == 1)
/// ```
public final class ScriptedAuthorizationServer: Sendable {
    /// What has happened so far.
    public struct Counts: Sendable, Hashable {
        /// Requests for a token, with any result.
        public var refreshes = 0
        /// Access tokens that were issued for them, including lost answers.
        public var tokensIssued = 0
        /// Refresh tokens that were used twice.
        public var reuses = 0
        /// Refresh tokens that were refused for any other reason.
        public var refusals = 0
        /// Requests to revoke a token.
        public var revocations = 0
        /// Requests to the service with a valid access token.
        public var accepted = 0
        /// Requests to the service with an access token that has expired or was revoked.
        public var dead = 0
        /// Requests to the service with an access token that was never issued.
        public var unknown = 0

        /// Creates counts of nothing.
        public init() {}
    }

    private enum Fault {
        case refusal
        case unavailable(status: Int, retryAfter: Int?)
        case lostAnswer
        case delay(Duration)
    }

    private struct AccessToken {
        let family: Int
        let expiresAt: MonotonicInstant
        var isRevoked = false
    }

    private struct RefreshToken {
        let family: Int
        var isSpent = false
    }

    private struct State {
        var isInUse = false
        var lifetime: Duration = .seconds(3_600)
        var counts = Counts()
        var requests: [RecordedRequest] = []
        var accessTokens: [String: AccessToken] = [:]
        var refreshTokens: [String: RefreshToken] = [:]
        var deadFamilies: Set<Int> = []
        var families = 0
        var tokens = 0
        var faults = Ordered<Fault>()
        var gate: ReleaseGate?
    }

    /// The origin, `https://authorization.test`.
    public static let origin: BaseURL = valid { () throws(AtomError) in try BaseURL(host: "authorization.test") }

    private let clock: ManualClock
    private let state = Guarded(State())

    init(clock: ManualClock) {
        self.clock = clock
    }

    /// What has happened so far.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Every request to this server, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// For how long the access tokens are valid that it issues from now on.
    public var lifetime: Duration {
        get { state.withLock { $0.lifetime } }
        set { state.withLock { $0.lifetime = newValue } }
    }

    /// The token endpoint.
    public var tokenEndpoint: AuthorizationEndpoint { Self.endpoint("/token") }

    /// The revocation endpoint.
    public var revocationEndpoint: AuthorizationEndpoint { Self.endpoint("/revoke") }

    /// Begins a new sign-in and returns its tokens, for example for `Atom.signIn(with:)`.
    public func signIn() -> TokenCredential {
        let now = (clock.now, clock.date)
        return state.withLock { state in
            state.families += 1
            let (access, refresh) = Self.issue(&state, family: state.families, at: now.0)
            return TokenCredential(
                accessToken: access, expiresAt: now.1.addingTimeInterval(state.lifetime / .seconds(1)),
                refreshToken: refresh)
        }
    }

    /// A method of authentication with this server; its options can be changed.
    ///
    /// From now on the wire answers a request with a 401 if it has an access token that isn't valid.
    ///
    /// - Parameters:
    ///   - store: Where the tokens are kept, for example `wire.tokenStore`.
    ///   - provider: Signs a user in when a refresh can't help, with tokens of ``signIn()``.
    public func authentication(
        _ store: any TokenCredentialStore, signIn provider: (any TokenCredentialProvider)? = nil
    ) -> BearerAuthentication {
        state.withLock { $0.isInUse = true }
        var authentication = BearerAuthentication(
            endpoint: tokenEndpoint, client: ClientCredential(id: "client", secret: "secret"), store: store,
            signIn: provider)
        authentication.revocationEndpoint = revocationEndpoint
        return authentication
    }
}

// MARK: - What goes wrong

extension ScriptedAuthorizationServer {
    /// Revokes every access token; the refresh tokens stay valid.
    public func revokeAccessTokens() {
        state.withLock { state in
            for token in state.accessTokens.keys { state.accessTokens[token]?.isRevoked = true }
        }
    }

    /// Revokes every token, as if the user had signed out elsewhere.
    public func endSessions() {
        state.withLock { state in
            for family in 0..<state.families { Self.revoke(&state, family: family + 1) }
        }
    }

    /// Refuses the next refreshes with `invalid_grant` (RFC 6749 §5.2).
    public func refuseRefreshes(_ count: Int = 1) { add(.refusal, count) }

    /// Answers the next refreshes without tokens.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - status: The status code.
    ///   - retryAfter: The `Retry-After` field, in seconds.
    public func failRefreshes(_ count: Int = 1, status: Int = 503, retryAfter: Int? = nil) {
        add(.unavailable(status: status, retryAfter: retryAfter), count)
    }

    /// Grants the next refresh, and the connection is lost before the answer.
    public func loseAnswerOfNextRefresh() { add(.lostAnswer, 1) }

    /// Grants the next refresh, and answers when the clock has been advanced so far.
    public func delayNextRefresh(by duration: Duration) { add(.delay(duration), 1) }

    /// Grants refreshes, but answers them only after ``releaseRefreshes()``.
    public func holdRefreshes() { state.withLock { $0.gate = $0.gate ?? ReleaseGate() } }

    /// Answers the refreshes that are held; later ones aren't held.
    public func releaseRefreshes() {
        let gate = state.withLock { state in
            defer { state.gate = nil }
            return state.gate
        }
        gate?.release()
    }

    private func add(_ fault: Fault, _ count: Int) {
        state.withLock { $0.faults.add(fault, count) }
    }
}

// MARK: - Answering

extension ScriptedAuthorizationServer {
    /// Whether access tokens are checked.
    var isInUse: Bool { state.withLock { $0.isInUse } }

    func isAt(_ target: TargetURL) -> Bool { target.host == Self.origin.host }

    /// Checks the access token of a request to the service.
    func accepts(_ token: String) -> Bool {
        let now = clock.now
        return state.withLock { state in
            guard let known = state.accessTokens[token] else {
                state.counts.unknown += 1
                return false
            }
            guard !known.isRevoked, now < known.expiresAt else {
                state.counts.dead += 1
                return false
            }
            state.counts.accepted += 1
            return true
        }
    }

    func answer(_ request: RecordedRequest) -> ScriptedResponse {
        let now = clock.now
        return state.withLock { state in
            state.requests.append(request)
            switch request.path {
            case "/token":
                state.counts.refreshes += 1
                let fault = state.faults.next()
                let answer = Self.answer(&state, request, fault, at: now)
                return state.gate.map { ScriptedResponse(.gated($0, answer), name: "held") } ?? answer
            case "/revoke":
                state.counts.revocations += 1
                let token = request.form("token") ?? ""
                if let family = state.refreshTokens[token]?.family ?? state.accessTokens[token]?.family {
                    Self.revoke(&state, family: family)
                }
                return .status(200)
            default:
                return .status(404)
            }
        }
    }

    private static func answer(
        _ state: inout State, _ request: RecordedRequest, _ fault: Fault?, at now: MonotonicInstant
    ) -> ScriptedResponse {
        switch fault {
        case .unavailable(let status, let retryAfter):
            .status(status, headerItems: retryAfter.map { ["Retry-After": "\($0)"] } ?? [])
        case .refusal:
            refusal(&state)
        case .lostAnswer:
            {
                _ = grant(&state, request, at: now)
                return .failure(.networkConnectionLost)
            }()
        case .delay(let duration):
            .delayed(duration, grant(&state, request, at: now))
        case nil:
            grant(&state, request, at: now)
        }
    }

    private static func grant(
        _ state: inout State, _ request: RecordedRequest, at now: MonotonicInstant
    ) -> ScriptedResponse {
        guard isClient(request) else { return .json(text: #"{"error":"invalid_client"}"#, status: 401) }
        let family: Int
        switch request.form("grant_type") {
        case "client_credentials":
            state.families += 1
            family = state.families
        case "refresh_token":
            let presented = request.form("refresh_token") ?? ""
            guard let token = state.refreshTokens[presented], !state.deadFamilies.contains(token.family) else {
                return refusal(&state)
            }
            guard !token.isSpent else {
                state.counts.reuses += 1
                revoke(&state, family: token.family)
                return .json(text: #"{"error":"invalid_grant","error_description":"reused"}"#, status: 400)
            }
            state.refreshTokens[presented]?.isSpent = true
            family = token.family
        default:
            return .json(text: #"{"error":"unsupported_grant_type"}"#, status: 400)
        }
        let (access, refresh) = issue(&state, family: family, at: now)
        state.counts.tokensIssued += 1
        let isForClient = request.form("grant_type") == "client_credentials"
        let addition = isForClient ? "" : #","refresh_token":"\#(refresh)""#
        return .json(
            text: #"{"access_token":"\#(access)","token_type":"Bearer","#
                + #""expires_in":\#(state.lifetime / .seconds(1))\#(addition)}"#)
    }

    /// Whether the client has authenticated, in the body or with Basic (RFC 6749 §2.3.1).
    private static func isClient(_ request: RecordedRequest) -> Bool {
        if let authorization = request["Authorization"] {
            return authorization == "Basic " + Data("client:secret".utf8).base64EncodedString()
        }
        return request.form("client_id") == "client" && request.form("client_secret") == "secret"
    }

    private static func refusal(_ state: inout State) -> ScriptedResponse {
        state.counts.refusals += 1
        return .json(text: #"{"error":"invalid_grant"}"#, status: 400)
    }

    private static func issue(
        _ state: inout State, family: Int, at now: MonotonicInstant
    ) -> (access: String, refresh: String) {
        state.tokens += 1
        let (access, refresh) = ("A\(state.tokens)", "R\(state.tokens)")
        state.accessTokens[access] = AccessToken(family: family, expiresAt: now.advanced(by: state.lifetime))
        state.refreshTokens[refresh] = RefreshToken(family: family)
        return (access, refresh)
    }

    private static func revoke(_ state: inout State, family: Int) {
        state.deadFamilies.insert(family)
        for token in state.accessTokens.keys where state.accessTokens[token]?.family == family {
            state.accessTokens[token]?.isRevoked = true
        }
    }

    private static func endpoint(_ path: String) -> AuthorizationEndpoint {
        valid { () throws(AtomError) in try AuthorizationEndpoint(host: origin.host, path: path) }
    }

    private static func valid<Value>(_ make: () throws(AtomError) -> Value) -> Value {
        do {
            return try make()
        } catch {
            preconditionFailure("The constants of this file are valid: \(error)")
        }
    }
}
