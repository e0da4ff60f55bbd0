/// How a session of bearer tokens is kept alive (RFC 6750, RFC 6749 §6).
///
/// Services that keep their tokens in the same object share a session, with a ``FileTokenCredentialStore`` if they also
/// have the same authorization server. A refresh uses the options of the service whose request started it. The leeway
/// and the limit of fruitless refreshes are those of the service that was created first.
///
/// <!-- given: final class Tokens: TokenCredentialWritable, @unchecked Sendable {
///     var tokenCredential = TokenCredential(accessToken: "", expiresAt: .distantFuture, refreshToken: "")
/// }
/// let tokens = Tokens()
/// let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/oauth/token")
/// let client = ClientCredential(id: "app")
/// -->
/// ```swift
/// import AtomNetworking
///
/// var bearer = BearerAuthentication(endpoint: endpoint, client: client, writable: tokens)
/// bearer.usesClientSecretBasic = true
/// bearer.parameters = [QueryItem(name: "audience", value: "https://api.example.com")]
/// let configuration = ServiceConfiguration(authenticationMethod: .bearer(bearer))
/// ```
public struct BearerAuthentication: Sendable {
    /// Where a new credential comes from.
    package enum Refresh: Sendable {
        case endpoint(AuthorizationEndpoint, ClientCredential)
        /// The app's own source.
        case provider(any TokenCredentialProvider)
        /// A token endpoint, and the app's own source if nobody is signed in or the server refused the refresh token.
        case endpointOrProvider(AuthorizationEndpoint, ClientCredential, any TokenCredentialProvider)

        var endpoint: (address: AuthorizationEndpoint, client: ClientCredential)? {
            switch self {
            case .endpoint(let endpoint, let client), .endpointOrProvider(let endpoint, let client, _):
                (endpoint, client)
            case .provider: nil
            }
        }

        var provider: (any TokenCredentialProvider)? {
            switch self {
            case .endpoint: nil
            case .provider(let provider), .endpointOrProvider(_, _, let provider): provider
            }
        }
    }

    package var refresh: Refresh

    package let keeper: SessionKeeper

    /// Where a token is revoked when the app signs out (RFC 7009); `nil`, the default, for nowhere.
    ///
    /// The SDK tries this once, after ``Atom/signOut()`` has forgotten the token. Only
    /// ``Atom/signOut(waitingForRevocation:)``, which needs an endpoint, waits for it.
    public var revocationEndpoint: AuthorizationEndpoint?

    /// Where the access token may be sent; by default anywhere over HTTPS, and over plain HTTP only on this device.
    ///
    /// Each service has its own, also if services share a session. It also allows an authorization server over plain
    /// HTTP elsewhere; one over HTTPS needs no allowance.
    public var allowedOrigins: AllowedOrigins = .secure

    /// Whether the client's identifier and secret are sent in the `Authorization` field (`client_secret_basic`, RFC
    /// 6749 §2.3.1), and not in the body (`client_secret_post`), as is the default.
    public var usesClientSecretBasic = false

    /// Additional parameters of a token request: `scope`, `audience`, `resource`, ….
    public var parameters: [QueryItem] = []

    /// What means that the access token is no longer valid, beside a 401 and a 403 with `error="invalid_token"`.
    ///
    /// It holds for all endpoints of the service; <doc:TokenRefresh> has an example. A 401 that demands another scope or
    /// sign-in isn't meant (RFC 6750 §3.1, RFC 9470 §3).
    public var tokenRejections: [TokenRejection] = []

    /// The error codes by which the token endpoint ends the session, beside `invalid_grant` (RFC 6749 §5.2).
    ///
    /// With any other code another attempt may succeed, so the user stays signed in. GitHub, for example, answers
    /// `bad_refresh_token`, with a status of 200.
    public var sessionEndingErrors: Set<String> = []

    /// The token types that are sent as bearer tokens, beside `Bearer`, in any case; eBay's is `User Access Token`.
    ///
    /// A token of another type is refused (RFC 6749 §7.1).
    public var tokenTypes: Set<String> = []

    /// Binds the tokens to a key; `nil`, the default, for bearer tokens.
    ///
    /// A token response with a token of another type is refused then. Services that share a session have the same key:
    /// the session goes by that of the service that was created first.
    public var proof: (any TokenProof)?

    /// The longest time before its expiry in which a token is refreshed.
    ///
    /// The default is 30 s, and zero with a provider alone, which may show a login
    /// screen. The leeway is never more than a quarter of the lifetime that the token has when the SDK first reads it.
    public var leeway: Duration = .seconds(30)

    /// The longest time a refresh may take; those who wait have their own deadlines.
    ///
    /// With a token endpoint, `nil`, the default, uses the service's `timeout.resource`. When the deadline passes, those
    /// who wait are told; the server's response is still taken if it comes within an hour. With a provider alone the default is
    /// five minutes, and `nil` removes the limit.
    public var deadline: Duration?

    /// The longest time for which the provider of ``init(endpoint:client:store:signIn:)`` may take; five minutes by
    /// default, and `nil` for no limit.
    public var signInDeadline: Duration? = .seconds(300)

    var providerDeadline: Duration? { if case .provider = refresh { deadline } else { signInDeadline } }

    /// How many refreshes in ``fruitlessRefreshWindow`` may return a token that
    /// is rejected, or has expired, before any request was accepted with it.
    public var fruitlessRefreshLimit = 3

    /// The window of ``fruitlessRefreshLimit``; 30 s by default.
    public var fruitlessRefreshWindow: Duration = .seconds(30)

    /// Creates a method of authentication; the other options are variables with defaults.
    public init(
        endpoint: AuthorizationEndpoint, client: ClientCredential, writable: any TokenCredentialWritable
    ) {
        refresh = .endpoint(endpoint, client)
        keeper = .variable(writable)
    }

    /// Creates a method of authentication whose tokens are kept in a store.
    ///
    /// A provider is asked for a sign-in when a request finds the store empty, or its access token no longer valid and
    /// the refresh token refused by the token endpoint (`invalid_grant`, RFC 6749 §5.2); never with a client of the
    /// grant type `clientCredentials`. A refresh holds the store's lock, so no refresh token is spent twice, even with
    /// several processes; a call of the provider doesn't.
    ///
    /// - Parameters:
    ///   - endpoint: Where tokens are refreshed.
    ///   - client: The client that requests them.
    ///   - store: Where they are kept.
    ///   - provider: Signs a user in; `nil`, the default, if the app does that with ``Atom/signIn(with:)``.
    public init(
        endpoint: AuthorizationEndpoint, client: ClientCredential, store: any TokenCredentialStore,
        signIn provider: (any TokenCredentialProvider)? = nil
    ) {
        refresh = provider.map { .endpointOrProvider(endpoint, client, $0) } ?? .endpoint(endpoint, client)
        keeper = .store(store)
    }

    /// Creates a method of authentication whose tokens come from the app's own source.
    public init(provider: any TokenCredentialProvider, store: any TokenCredentialStore) {
        refresh = .provider(provider)
        keeper = .store(store)
        leeway = .zero
        deadline = .seconds(300)
    }
}
