/// How a session of bearer tokens is kept alive (RFC 6750, RFC 6749 §6).
///
/// Services with the same ``writable`` share a session. A refresh goes by the
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

    /// Where tokens are asked for.
    public var endpoint: AuthorizationEndpoint

    /// Who asks.
    public var client: ClientCredential

    /// Where the tokens are kept.
    public var writable: any TokenCredentialWritable

    /// How the client authenticates; in the body by default.
    public var clientAuthentication: ClientAuthentication = .clientSecretPost

    /// What else a token request says: `scope`, `audience`, `resource`, ….
    public var parameters: [QueryItem] = []

    /// How long before its expiry a token is refreshed, at the most.
    ///
    /// The default is 30 s. Never more than a quarter of the token's life.
    public var leeway: Duration = .seconds(30)

    /// The longest time a refresh may take; `nil`, the default, takes the
    /// service's `timeout.resource`.
    ///
    /// When it is up the server's answer may be lost, and with it a refresh
    /// token that can be used once.
    public var deadline: Duration?

    /// How many refreshes in ``fruitlessRefreshWindow`` may bring a token that
    /// is refused, or has expired, before any request was accepted with it.
    public var fruitlessRefreshLimit = 3

    /// The window of ``fruitlessRefreshLimit``; 30 s by default.
    public var fruitlessRefreshWindow: Duration = .seconds(30)

    /// Makes a method of authentication; the rest are variables with defaults.
    public init(
        endpoint: AuthorizationEndpoint, client: ClientCredential, writable: any TokenCredentialWritable
    ) {
        self.endpoint = endpoint
        self.client = client
        self.writable = writable
    }
}
