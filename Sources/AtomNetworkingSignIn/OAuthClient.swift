import AtomNetworking
import Foundation

/// An app as the client of an authorization server (RFC 6749 §1.1): who it is, and what it asks for.
public struct OAuthClient: Sendable {
    /// The authorization server.
    public let server: AuthorizationServer
    /// The client's identifier, and its secret if it can keep one.
    public let clientCredential: ClientCredential
    /// The scopes that a sign-in asks for (RFC 6749 §3.3); with `openid` there is an ID token.
    public var scopes: [String]
    /// Additional parameters of the request that begins a sign-in, such as `prompt`, `login_hint` and `audience`.
    public var parameters: [QueryItem] = []
    /// The protected resources that the token is for, as URLs (RFC 8707); sent with authorization and token requests.
    public var resources: [String] = []
    /// Whether the client's secret is sent in the `Authorization` field (`client_secret_basic`, RFC 6749 §2.3.1), and
    /// not in the body; `true` unless the server names other methods only.
    public var usesClientSecretBasic: Bool
    /// Binds the tokens to a key (RFC 9449); `nil`, the default, for bearer tokens.
    public var proof: DPoP?
    /// How requests to the authorization server are sent: transport, timeouts, time source, observers and log.
    ///
    /// Nothing else is taken from it: no signers, adapters, plugins, header fields, cookies, redirects or retries.
    public var configuration = ServiceConfiguration()

    /// Creates a client; the other options are variables with defaults.
    public init(server: AuthorizationServer, id: String, secret: String? = nil, scopes: [String] = []) {
        self.server = server
        clientCredential = ClientCredential(id: id, secret: secret)
        self.scopes = scopes
        // What servers that say nothing support (RFC 8414 §2).
        usesClientSecretBasic = server.tokenEndpointAuthenticationMethods?.contains("client_secret_basic") ?? true
    }

    /// How a service is signed with what this client gets: token endpoint, client, store, revocation, and proof.
    ///
    /// - Parameters:
    ///   - store: Where the tokens are kept.
    ///   - provider: Signs a user in when a request needs it: a ``SignIn``, or `nil` if the app does that itself.
    public func authentication(
        store: any TokenCredentialStore, signIn provider: (any TokenCredentialProvider)? = nil
    ) -> BearerAuthentication {
        var bearer = BearerAuthentication(
            endpoint: server.tokenEndpoint, client: clientCredential, store: store, signIn: provider)
        bearer.revocationEndpoint = server.revocationEndpoint
        bearer.usesClientSecretBasic = usesClientSecretBasic
        bearer.proof = proof
        // A service whose requests wait for a person has a long timeout, which isn't meant for a refresh.
        bearer.deadline = .seconds(30)
        // A sign-in ends by itself: before that a second page would be opened.
        bearer.signInDeadline = .seconds(1_800)
        bearer.parameters = resourceItems
        return bearer
    }

    /// Begins a sign-in in a browser (RFC 6749 §4.1.1, RFC 7636): makes the address of its page.
    ///
    /// If the server has an endpoint for pushed requests (RFC 9126), the parameters are sent there.
    ///
    /// - Parameters:
    ///   - redirectURI: Where the server sends the browser afterwards, as it is registered there.
    ///   - scopes: What is asked for; `nil` for ``scopes``.
    public func authorizationRequest(
        redirectURI: String, scopes: [String]? = nil
    ) async throws(AtomError) -> AuthorizationCodeRequest {
        try await authorizationRequest(
            redirectURI: redirectURI, scopes: scopes, secret: AuthorizationCodeRequest.secret)
    }

    /// Ends a sign-in in a browser: checks the callback, and exchanges its code for tokens (RFC 6749 §4.1.3).
    ///
    /// - Throws: An error whose `signInError` says which check failed; nothing is kept then.
    public func credential(
        for request: AuthorizationCodeRequest, callback: URL
    ) async throws(AtomError) -> TokenCredential {
        let code = try request.code(in: callback, of: server)
        let form = [
            QueryItem(name: "grant_type", value: "authorization_code"), QueryItem(name: "code", value: code),
            QueryItem(name: "redirect_uri", value: request.redirectURI),
            QueryItem(name: "code_verifier", value: request.codeVerifier),
        ]
        let tokens = try await ServerRequest(of: self).credential(
            form + resourceItems, scopes: request.scopes, nonce: request.nonce)
        if request.nonce != nil, tokens.idToken == nil {
            let reason = "there is none, though the scope openid was asked for (OpenID Connect Core §3.1.3.3)"
            throw .signIn(.invalidIDToken(reason), delivery: .answered)
        }
        return tokens
    }

    /// Exchanges any other grant for tokens: a token exchange (RFC 8693), an assertion (RFC 7523), a password.
    ///
    /// RFC 9700 §2.4 forbids the password grant: the app sees the password, and a second factor can't be asked for.
    ///
    /// - Parameter grant: The parameters, with `grant_type`, without the client's identifier and secret. If there is no
    ///   `scope`, or no `resource`, the client's ``scopes`` and ``resources`` are added.
    /// - Throws: `AtomError.requestable` for a grant without its type, or with the client's own parameters.
    public func credential(grant: [QueryItem]) async throws(AtomError) -> TokenCredential {
        let names = grant.map(\.name)
        guard names.count(where: { $0 == "grant_type" }) == 1 else {
            throw .requestable(
                .invalidBody(.init(subject: "grant_type", reason: "a grant has one grant_type (RFC 6749 §4.5)")))
        }
        if let name = names.first(where: { ["client_id", "client_secret"].contains($0) }) {
            throw .requestable(.invalidBody(.init(subject: name, reason: "the client adds it by itself; remove it")))
        }
        var form = grant
        if !names.contains("scope") { form += Self.scopeItems(scopes) }
        if !names.contains("resource") { form += resourceItems }
        return try await ServerRequest(of: self).credential(form)
    }

    /// Begins a sign-in in a browser; a test brings its own chance.
    func authorizationRequest(
        redirectURI: String, scopes: [String]?, secret: @Sendable () -> String
    ) async throws(AtomError) -> AuthorizationCodeRequest {
        let page = try authorizationPage()
        try RedirectURI.check(redirectURI)
        // Also one that is given as "openid email" has a nonce.
        let scopes: [String] = (scopes ?? self.scopes).flatMap { $0.split(separator: " ").map(String.init) }
        let state = secret()
        let codeVerifier = secret()
        let nonce = scopes.contains("openid") ? secret() : nil

        var items = [
            QueryItem(name: "response_type", value: "code"), QueryItem(name: "client_id", value: clientCredential.id),
            QueryItem(name: "redirect_uri", value: redirectURI), QueryItem(name: "state", value: state),
            QueryItem(name: "code_challenge", value: AuthorizationCodeRequest.codeChallenge(for: codeVerifier)),
            QueryItem(name: "code_challenge_method", value: "S256"),
        ]
        items += Self.scopeItems(scopes) + resourceItems
        items += QueryItem.items(name: "nonce", value: nonce)
        // RFC 9449 §10.
        items += QueryItem.items(name: "dpop_jkt", value: proof?.keyThumbprint)
        items += parameters

        if let endpoint = server.pushedAuthorizationRequestEndpoint {
            let pushed = try await ServerRequest(of: self).send(items, to: endpoint).decode(PushedRequest.self)
            // The rest is at the server (RFC 9126 §4).
            items = [
                QueryItem(name: "client_id", value: clientCredential.id),
                QueryItem(name: "request_uri", value: pushed.requestURI),
            ]
        }
        let target = TargetURL(base: page.baseURL(), path: page.path(), queryItems: (page.queryItems ?? []) + items)
        guard let url = target.url else { throw .unexpected }
        return AuthorizationCodeRequest(
            url: url, redirectURI: redirectURI, scopes: scopes, state: state, nonce: nonce, codeVerifier: codeVerifier)
    }

    /// The address of the page, which may have a query (RFC 6749 §3.1), if server and client allow a sign-in.
    private func authorizationPage() throws(AtomError) -> URLEndpoint {
        guard let address = server.authorizationEndpoint else { throw .signIn(.unsupported("a page for a sign-in")) }
        // Without it a stolen code can be exchanged: it is never left out for a server that doesn't name it.
        guard server.codeChallengeMethods?.contains("S256") != false else {
            throw .signIn(.unsupported("PKCE with S256"))
        }
        if server.requiresPushedRequests, server.pushedAuthorizationRequestEndpoint == nil {
            throw .signIn(.unsupported("an endpoint for pushed requests, though it takes no others (RFC 9126 §5)"))
        }
        if proof != nil, server.proofAlgorithms?.contains("ES256") == false {
            throw .signIn(.unsupported("DPoP with ES256"))
        }
        guard try AuthorizationEndpoint(address).target.isSecure else {
            let reason = "a page for a sign-in comes over HTTPS, but from this device (RFC 6749 §3.1)"
            throw .requestable(.invalidURL(.init(subject: address, reason: reason)))
        }
        try checkParameters()
        return try URLEndpoint(address)
    }

    /// Refuses what the app adds, if it would take the place of what the client sets.
    func checkParameters() throws(AtomError) {
        // The callback is read from the query.
        let isOther = { (item: QueryItem) in item.name == "response_mode" && item.value != "query" }
        if let item = parameters.first(where: { Self.ownParameters.contains($0.name) || isOther($0) }) {
            let reason = "a sign-in depends on this parameter, which the client sets by itself; remove it"
            throw .requestable(.unsupportedConfiguration(.init(subject: item.name, reason: reason)))
        }
    }

    /// What the app must not replace, and a request object, which would (RFC 9101 §5).
    private static let ownParameters: Set<String> = [
        "response_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "resource", "dpop_jkt", "request", "request_uri",
    ]

    static func scopeItems(_ scopes: [String]) -> [QueryItem] {
        scopes.isEmpty ? [] : [QueryItem(name: "scope", value: scopes.joined(separator: " "))]
    }

    var resourceItems: [QueryItem] { QueryItem.items(name: "resource", value: resources) }
}

/// What a server says to a pushed request (RFC 9126 §2.2).
private struct PushedRequest: Decodable {
    private enum CodingKeys: String, CodingKey {
        case requestURI = "request_uri"
    }

    let requestURI: String
}
