import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// An OAuth 2.0 authorization server in memory, at an origin of its own on a
/// ``ScriptedTransport``.
///
/// It refreshes tokens (RFC 6749 §6), issues tokens to a client (§4.4) and
/// revokes them (RFC 7009). Refresh tokens rotate, and using one twice revokes
/// all tokens of the same sign-in (RFC 9700 §4.14.2). It goes by the wire's
/// clock.
///
/// It signs people in: in its ``browser``, with PKCE (RFC 7636) and pushed
/// requests (RFC 9126), and on other devices (RFC 8628). It has metadata (RFC
/// 8414), issues ID tokens and binds tokens to keys (RFC 9449). It can't sign and
/// verifies no signature.
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
        /// Requests for a token, with any result, apart from those that end a sign-in.
        public var refreshes = 0
        /// Access tokens that the token endpoint has issued, including lost answers.
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
        /// Pages that the browser has shown.
        public var pages = 0
        /// Authorization requests that were pushed.
        public var pushedRequests = 0
        /// Authorization codes that callbacks have brought.
        public var codesIssued = 0
        /// Authorization codes that the token endpoint has refused.
        public var codesRefused = 0
        /// Sign-ins on other devices that have begun.
        public var deviceRequests = 0
        /// Proofs that were missing or wrong, at the token endpoint and at the service; not those without a new nonce.
        public var proofsRefused = 0
        /// Requests to the service whose access token lacks a scope.
        public var scopesRefused = 0

        /// Creates counts of nothing.
        public init() {}
    }

    /// The origin, `https://authorization.test`.
    public static let origin: BaseURL = valid { () throws(AtomError) in try BaseURL(host: "authorization.test") }

    private let clock: ManualClock
    private let wire: Watched<WireState>
    private let state = Guarded(AuthorizationServerState())

    init(clock: ManualClock, wire: Watched<WireState>) {
        (self.clock, self.wire) = (clock, wire)
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
        let moment = AuthorizationServerState.Moment(clock)
        return state.withLock { state in
            let session = state.begin(AuthorizationServerState.Session(subject: state.subject))
            let (access, refresh) = state.issue(for: session, at: moment.instant)
            return TokenCredential(
                accessToken: access, expiresAt: moment.date.addingTimeInterval(state.lifetime / .seconds(1)),
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

    /// An app as a client of this server, on the network of a wire.
    func client(scopes: [String], on wire: ScriptedTransport) -> OAuthClient {
        let hasKey = state.withLock { state in
            state.isInUse = true
            return state.demandsProofs
        }
        var server = Self.valid { () throws(AtomError) in
            try AuthorizationServer(
                issuer: AuthorizationServerState.issuer,
                authorizationEndpoint: AuthorizationServerState.issuer + "/authorize",
                tokenEndpoint: AuthorizationServerState.issuer + "/token")
        }
        server.revocationEndpoint = revocationEndpoint
        server.pushedAuthorizationRequestEndpoint = Self.endpoint("/par")
        server.deviceAuthorizationEndpoint = Self.endpoint("/device")
        server.codeChallengeMethods = ["S256"]
        server.proofAlgorithms = ["ES256"]
        server.tokenEndpointAuthenticationMethods = ["none", "client_secret_basic", "client_secret_post"]
        server.sendsIssuerInCallback = true
        var client = OAuthClient(server: server, id: AuthorizationServerState.publicClient, scopes: scopes)
        wire.connect(&client.configuration)
        if hasKey {
            client.proof = Self.valid { () throws(AtomError) in try DPoP(key: ScriptedKey()) }
        }
        return client
    }
}

// MARK: - Signing in

extension ScriptedAuthorizationServer {
    /// The browser that shows the pages of this server.
    public var browser: ScriptedBrowser { ScriptedBrowser(self) }

    /// Who signs in from now on: the `sub` of ID tokens.
    public var subject: String {
        get { state.withLock { $0.subject } }
        set { state.withLock { $0.subject = newValue } }
    }

    /// Says how the next pages end, which the person would approve otherwise.
    ///
    /// - Parameters:
    ///   - ending: How.
    ///   - count: How many pages.
    public func nextPage(_ ending: ScriptedBrowser.Ending, times count: Int = 1) {
        state.withLock { $0.endings.add(ending, count) }
    }

    /// Shows pages, but ends them only after ``releasePages()``.
    public func holdPages() { state.withLock { $0.pageGate = $0.pageGate ?? ReleaseGate() } }

    /// Ends the pages that are held; later ones aren't held.
    public func releasePages() { release(\.pageGate) }

    /// Lets the person approve the sign-ins on other devices that have begun.
    ///
    /// Until then the token endpoint answers `authorization_pending`, and `slow_down` if it is asked too often.
    public func approveDevices() { state.withLock { $0.decideDevices(true) } }

    /// Lets the person decline the sign-ins on other devices that have begun.
    public func declineDevices() { state.withLock { $0.decideDevices(false) } }

    /// Whether each token request needs a proof (RFC 9449), to whose key the tokens are bound then.
    ///
    /// The proof needs a nonce of the token endpoint. The service checks the proofs of bound tokens. Everything is
    /// checked but the signature and the time.
    public var demandsProofs: Bool {
        get { state.withLock { $0.demandsProofs } }
        set { state.withLock { $0.demandsProofs = newValue } }
    }

    /// Replaces the nonces of proofs; the service, which wants none before, wants one from now on (RFC 9449 §8, §9).
    public func renewNonces() { state.withLock { $0.renewNonces() } }

    /// Lets the service refuse access tokens without a scope: with a 403 and `insufficient_scope` (RFC 6750 §3.1).
    ///
    /// A request that is refused uses up no answer. Tokens of ``signIn()`` have no scopes.
    ///
    /// - Parameters:
    ///   - scope: The scope.
    ///   - path: The path, in which `*` stands for one segment and `**` for any number of them.
    public func require(scope: String, at path: String) { state.withLock { $0.neededScopes.append((path, scope)) } }
}

// MARK: - What goes wrong

extension ScriptedAuthorizationServer {
    /// Revokes every access token; the refresh tokens stay valid.
    public func revokeAccessTokens() {
        state.withLock { $0.revokeAccessTokens() }
    }

    /// Revokes every token, as if the user had signed out elsewhere.
    public func endSessions() {
        state.withLock { $0.endSessions() }
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
    public func releaseRefreshes() { release(\.gate) }

    private func release(_ gate: WritableKeyPath<AuthorizationServerState, ReleaseGate?>) {
        let held = state.withLock { $0[keyPath: gate].take() }
        held?.release()
    }

    private func add(_ fault: AuthorizationServerState.Fault, _ count: Int) {
        state.withLock { $0.faults.add(fault, count) }
    }
}

// MARK: - Answering

extension ScriptedAuthorizationServer {
    /// Whether access tokens are checked.
    var isInUse: Bool { state.withLock { $0.isInUse } }

    func isAt(_ target: TargetURL) -> Bool { target.host == Self.origin.host }

    func answer(_ request: RecordedRequest) -> ScriptedResponse {
        let moment = AuthorizationServerState.Moment(clock)
        return state.withLock { $0.answer(request, at: moment) }
    }

    /// Checks the access token of a request to the service; `nil` if nothing is wrong with it.
    func refusal(of request: RecordedRequest) -> ScriptedResponse? {
        let now = clock.now
        return state.withLock { $0.refusal(of: request, at: now) }
    }

    /// Shows a page.
    ///
    /// - Returns: What it waits for.
    func beginPage() -> ReleaseGate? {
        wire.withLock { $0.activity += 1 }
        return state.withLock { state in
            state.counts.pages += 1
            return state.pageGate
        }
    }

    func endPage(_ page: URL, redirectURI: String) throws -> URL {
        let moment = AuthorizationServerState.Moment(clock)
        return try state.withLock { try $0.endPage(page, redirectURI: redirectURI, at: moment) }
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

/// A key that signs nothing, for a server that verifies nothing.
private struct ScriptedKey: DPoPKey {
    /// The base point of P-256, which has the private key 1 (SEC 2 §2.4.2).
    let publicKey = Data([
        0x04,
        0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
        0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
        0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16,
        0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
    ])

    func signature(for message: Data) -> Data { Data(count: 64) }
}
