/// How a session of bearer tokens is kept alive (RFC 6750, RFC 6749 §6).
///
/// Services that keep their tokens in the same object share a session. A refresh goes by the
/// options of the service whose request set it off; the leeway and the limit
/// of fruitless refreshes are those of the service that was made first.
///
/// <!-- given:
/// final class Tokens: TokenCredentialWritable, @unchecked Sendable {
///     var tokenCredential = TokenCredential(accessToken: "", expiresAt: .distantFuture, refreshToken: "")
/// }
/// let tokens = Tokens()
/// let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/oauth/token")
/// let client = ClientCredential(id: "app")
/// -->
/// ```swift
/// var bearer = BearerAuthentication(endpoint: endpoint, client: client, writable: tokens)
/// bearer.clientAuthentication = .clientSecretBasic
/// bearer.parameters = [QueryItem(name: "audience", value: "https://api.example.com")]
/// let configuration = ServiceConfiguration(authenticationMethod: .bearer(bearer))
/// ```
public struct BearerAuthentication: Sendable {
    /// How the client authenticates at the token endpoint (RFC 6749 §2.3.1).
    public enum ClientAuthentication: Sendable, Hashable {
        /// Identifier and secret in the body.
        case clientSecretPost
        /// Identifier and secret in the `Authorization` field.
        case clientSecretBasic
    }

    /// Where a new credential comes from.
    public enum Renewal: Sendable {
        /// A token endpoint, asked as this client.
        case endpoint(AuthorizationEndpoint, ClientCredential)
        /// The app's own way.
        case provider(any TokenCredentialProvider)
    }

    /// Where a new credential comes from.
    public let renewal: Renewal

    /// Where the tokens are kept.
    let source: CredentialSource

    /// Where a token is revoked when the app signs out (RFC 7009); `nil`, the
    /// default, for nowhere.
    ///
    /// Tried once, after ``Atom/signOut()`` has forgotten the token; nobody
    /// waits for it.
    public var revocationEndpoint: AuthorizationEndpoint?

    /// How the client authenticates; in the body by default.
    public var clientAuthentication: ClientAuthentication = .clientSecretPost

    /// What else a token request says: `scope`, `audience`, `resource`, ….
    public var parameters: [QueryItem] = []

    /// How long before its expiry a token is refreshed, at the most.
    ///
    /// The default is 30 s, and zero with a provider, which may be a login
    /// screen. Never more than a quarter of the token's life.
    public var leeway: Duration = .seconds(30)

    /// The longest time a refresh may take.
    ///
    /// With a token endpoint, `nil`, the default, takes the service's
    /// `timeout.resource`; when it is up the server's answer may be lost, and
    /// with it a refresh token that can be used once. With a provider the
    /// default is five minutes, and `nil` lifts it. The requests that wait have
    /// deadlines of their own.
    public var deadline: Duration?

    /// How many refreshes in ``fruitlessRefreshWindow`` may bring a token that
    /// is refused, or has expired, before any request was accepted with it.
    public var fruitlessRefreshLimit = 3

    /// The window of ``fruitlessRefreshLimit``; 30 s by default.
    public var fruitlessRefreshWindow: Duration = .seconds(30)

    /// What the client proves itself with, if it has a secret.
    var clientSecret: String? { if case .endpoint(_, let client) = renewal { client.secret } else { nil } }

    /// Makes a method of authentication; the rest are variables with defaults.
    public init(
        endpoint: AuthorizationEndpoint, client: ClientCredential, writable: any TokenCredentialWritable
    ) {
        renewal = .endpoint(endpoint, client)
        source = .writable(writable)
    }

    /// Makes a method of authentication whose tokens are in a store.
    public init(endpoint: AuthorizationEndpoint, client: ClientCredential, store: any TokenCredentialStore) {
        renewal = .endpoint(endpoint, client)
        source = .store(store)
    }

    /// Makes a method of authentication whose tokens the app gets in its own
    /// way.
    public init(provider: any TokenCredentialProvider, store: any TokenCredentialStore) {
        renewal = .provider(provider)
        source = .store(store)
        leeway = .zero
        deadline = .seconds(300)
    }
}
