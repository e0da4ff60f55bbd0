import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// An OAuth 2.0 authorization server and a resource server, on the loopback
/// interface.
///
/// `POST /token` refreshes (RFC 6749 §6). Refresh tokens rotate, and using one
/// twice revokes all tokens of the same sign-in (RFC 9700 §4.14.2). Any other
/// path responds to a valid access token with 200 and to everything else with
/// 401.
///
/// ```swift
/// let server = try LoopbackAuthorizationServer()
/// defer { server.stop() }
/// let tokens = RecordingTokens(server.signIn())
/// let atom = Atom(serviceConfiguration: try server.configuration(tokens: tokens, over: transport.make()))
/// server.revokeAccessTokens(afterAccepting: 500)
/// ```
final class LoopbackAuthorizationServer: Sendable {
    /// The counts so far.
    struct Counts: Sendable, Equatable {
        /// Requests for a refresh, with any result.
        var refreshes = 0
        /// Access tokens issued by refreshes, including lost responses.
        var tokensIssued = 0
        /// Refresh tokens that were used twice.
        var reuses = 0
        /// Refresh tokens of a revoked family, or never issued.
        var invalidGrants = 0
        /// Requests that got a 200.
        var accepted = 0
        /// Requests with an access token that is no longer valid: expired,
        /// revoked, or superseded if that revokes it.
        var dead = 0
        /// Requests without an access token.
        var unsigned = 0
        /// Requests with a token that was never issued.
        var unknown = 0
    }

    fileprivate struct AccessToken {
        let family: Int
        var expiresAt: MonotonicInstant
        var isRevoked = false
    }

    fileprivate struct RefreshToken {
        let family: Int
        var isSpent = false
    }

    fileprivate enum Fault {
        case unavailable(status: Int, retryAfter: Int?)
        case lostAnswer
    }

    fileprivate struct State {
        let time: ManualClock
        var counts = Counts()
        var lifetime: Duration
        var accessTokens: [String: AccessToken] = [:]
        var refreshTokens: [String: RefreshToken] = [:]
        var families = 0
        var tokens = 0
        var deadFamilies: Set<Int> = []
        var faults: [Fault] = []
        var refreshGate: Gate?
        var resourceGate: Gate?
        /// The number of accepted requests after which all access tokens are
        /// revoked.
        var revokesAt: Int?
        var onAccepted: (@Sendable (Int) -> Void)?
    }

    /// The clock of the server and of its clients, which only the test advances.
    let time: ManualClock
    private let state: Locked<State>
    private let loopback: LoopbackServer

    /// - Parameters:
    ///   - lifetime: The lifetime of access tokens.
    ///   - revokesSuperseded: Whether a refresh revokes the earlier access
    ///     tokens.
    /// - Parameter rejection: What a request without a valid access token gets.
    init(
        lifetime: Duration = .seconds(3_600), revokesSuperseded: Bool = false,
        rejection: LoopbackServer.Response = .challenge(#"Bearer error="invalid_token""#)
    ) throws {
        time = ManualClock()
        let state = Locked(State(time: time, lifetime: lifetime))
        self.state = state
        loopback = try LoopbackServer { request in
            guard request.path == "/token" else { return Self.resource(request, state, rejection) }
            return Self.token(request, state, revokesSuperseded: revokesSuperseded)
        }
    }

    /// Stops the server.
    func stop() { loopback.stop() }

    var counts: Counts { state.value.counts }

    /// The number of issued access tokens that are still valid.
    var liveAccessTokens: Int {
        state.with { state in
            let now = time.now
            return state.accessTokens.values.count { !$0.isRevoked && now < $0.expiresAt }
        }
    }

    /// Suspends until this many requests, including refreshes, are in progress
    /// at the same time; `false` if that doesn't happen in time.
    @discardableResult
    func waitForRequestsInProgress(_ count: Int) async -> Bool {
        await loopback.waitForRequestsInProgress(count)
    }
}

// MARK: - Clients

extension LoopbackAuthorizationServer {
    /// The tokens of a new sign-in.
    func signIn() -> TokenCredential {
        state.with { state in
            state.families += 1
            let (access, refresh) = state.issue(family: state.families)
            return TokenCredential(
                accessToken: access, expiresAt: time.date + state.lifetime / .seconds(1),
                refreshToken: refresh)
        }
    }

    /// A configuration that refreshes at this server.
    func configuration(
        tokens: any TokenCredentialWritable, over transport: any Transport,
        timeout: ServiceTimeout = ServiceTimeout(request: 300, resource: 300),
        bearer configure: (inout BearerAuthentication) -> Void = { _ in }
    ) throws -> ServiceConfiguration {
        var bearer = BearerAuthentication(
            endpoint: try AuthorizationEndpoint(
                scheme: .http, host: loopback.host, port: loopback.port, path: "/token"),
            client: ClientCredential(id: "client", secret: "secret"), writable: tokens)
        configure(&bearer)
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(bearer), dispatchQueue: DispatchQueue(label: "completions"),
            timeout: timeout)
        configuration.transport = transport
        configuration.timeSource = time
        return configuration
    }

    /// A resource that requires an access token.
    func endpoint(_ path: String = "/resource") -> any Requestable {
        ResourceEndpoint(host: loopback.host, port: loopback.port, pathText: path)
    }

    private struct ResourceEndpoint: Requestable {
        let host: String
        let port: Int
        let pathText: String

        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: host, port: port) }
        func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
    }
}

// MARK: - Switches

extension LoopbackAuthorizationServer {
    /// Expires every access token now.
    func expireAccessTokens() {
        state.with { state in
            for token in state.accessTokens.keys { state.accessTokens[token]?.expiresAt = time.now }
        }
    }

    /// Revokes every access token after this many more accepted requests.
    func revokeAccessTokens(afterAccepting count: Int = 0) {
        state.with { state in
            state.revokesAt = state.counts.accepted + count
            state.revokeIfDue()
        }
    }

    /// Responds to the next refreshes with a status and without tokens.
    func failRefreshes(_ count: Int, status: Int = 503, retryAfter: Int? = nil) {
        let fault = Fault.unavailable(status: status, retryAfter: retryAfter)
        state.with { $0.faults += Array(repeating: fault, count: count) }
    }

    /// Grants the next refresh, but closes the connection before the response.
    func loseAnswerOfNextRefresh() {
        state.with { $0.faults.append(.lostAnswer) }
    }

    /// Grants refreshes, but responds only after the gate has been opened.
    func holdRefreshes(until gate: Gate) {
        state.with { $0.refreshGate = gate }
    }

    /// Accepts requests for resources, but responds only after the gate has
    /// been opened.
    func holdResources(until gate: Gate) {
        state.with { $0.resourceGate = gate }
    }

    /// The hook is called with the number of accepted requests for each of
    /// them, before its response.
    func onAccepted(_ hook: @escaping @Sendable (Int) -> Void) {
        state.with { $0.onAccepted = hook }
    }
}

// MARK: - Responses

extension LoopbackAuthorizationServer {
    private static func resource(
        _ request: LoopbackServer.Request, _ state: Locked<State>, _ rejection: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        let authorization = request["Authorization"]
        let (accepted, hook, gate) = state.with { state -> (Int?, (@Sendable (Int) -> Void)?, Gate?) in
            guard state.accept(authorization) else { return (nil, nil, nil) }
            defer { state.revokeIfDue() }
            return (state.counts.accepted, state.onAccepted, state.resourceGate)
        }
        guard let accepted else { return rejection }
        hook?(accepted)
        return gate.map { .json("{}").after($0) } ?? .json("{}")
    }

    private static func token(
        _ request: LoopbackServer.Request, _ state: Locked<State>, revokesSuperseded: Bool
    ) -> LoopbackServer.Response {
        let (response, gate) = state.with { state -> (LoopbackServer.Response, Gate?) in
            state.counts.refreshes += 1
            let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
            if case .unavailable(let status, let retryAfter) = fault {
                let headers = retryAfter.map { [("Retry-After", String($0))] } ?? []
                return (.text("down", status: status, headers: headers), state.refreshGate)
            }
            let response = state.refresh(request, revokesSuperseded: revokesSuperseded)
            if case .lostAnswer = fault { return (.closeImmediately, state.refreshGate) }
            return (response, state.refreshGate)
        }
        return gate.map { response.after($0) } ?? response
    }
}

extension LoopbackAuthorizationServer.State {
    fileprivate mutating func issue(family: Int) -> (access: String, refresh: String) {
        tokens += 1
        let (access, refresh) = ("A\(tokens)", "R\(tokens)")
        accessTokens[access] = .init(family: family, expiresAt: time.now.advanced(by: lifetime))
        refreshTokens[refresh] = .init(family: family)
        return (access, refresh)
    }

    fileprivate mutating func revokeIfDue() {
        guard let revokesAt, counts.accepted >= revokesAt else { return }
        self.revokesAt = nil
        for token in accessTokens.keys { accessTokens[token]?.isRevoked = true }
    }

    private mutating func revoke(family: Int) {
        for token in accessTokens.keys where accessTokens[token]?.family == family {
            accessTokens[token]?.isRevoked = true
        }
    }

    /// Checks a request for a resource by its `Authorization` field (RFC 6750
    /// §2.1).
    fileprivate mutating func accept(_ authorization: String?) -> Bool {
        guard let authorization else {
            counts.unsigned += 1
            return false
        }
        guard authorization.hasPrefix("Bearer "), let token = accessTokens[String(authorization.dropFirst(7))] else {
            counts.unknown += 1
            return false
        }
        guard !token.isRevoked, time.now < token.expiresAt else {
            counts.dead += 1
            return false
        }
        counts.accepted += 1
        return true
    }

    /// Exchanges a refresh token for new tokens (RFC 6749 §6).
    fileprivate mutating func refresh(
        _ request: LoopbackServer.Request, revokesSuperseded: Bool
    ) -> LoopbackServer.Response {
        guard request.form("client_id") == "client", request.form("client_secret") == "secret" else {
            return .json(#"{"error":"invalid_client"}"#, status: 401)
        }
        guard request.form("grant_type") == "refresh_token", let presented = request.form("refresh_token") else {
            return .json(#"{"error":"invalid_request"}"#, status: 400)
        }
        guard let token = refreshTokens[presented], !deadFamilies.contains(token.family) else {
            counts.invalidGrants += 1
            return .json(#"{"error":"invalid_grant"}"#, status: 400)
        }
        guard !token.isSpent else {
            counts.reuses += 1
            deadFamilies.insert(token.family)
            revoke(family: token.family)
            return .json(#"{"error":"invalid_grant","error_description":"reused"}"#, status: 400)
        }
        refreshTokens[presented]?.isSpent = true
        if revokesSuperseded { revoke(family: token.family) }
        let (access, refresh) = issue(family: token.family)
        counts.tokensIssued += 1
        let seconds = lifetime / .seconds(1)
        return .json(
            #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":\#(seconds),"#
                + #""refresh_token":"\#(refresh)"}"#)
    }
}
