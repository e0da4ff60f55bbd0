import AtomNetworking
import Foundation

/// An app as the client of an authorization server (RFC 6749 §1.1): who it is, and what it asks for.
public struct OAuthClient: Sendable {
    /// The authorization server.
    public let server: AuthorizationServer
    /// The client's identifier, and its secret if it can keep one.
    public let credential: ClientCredential
    /// The scopes that a sign-in asks for (RFC 6749 §3.3); with `openid` there is an ID token.
    public var scopes: [String]
    /// Additional parameters of an authorization request, such as `prompt` and `login_hint`.
    public var parameters: [QueryItem] = []
    /// The protected resources that the token is for, as URLs (RFC 8707); sent with authorization and token requests.
    public var resources: [String] = []
    /// Whether the client's secret is sent in the `Authorization` field (`client_secret_basic`), as is required of
    /// servers (RFC 6749 §2.3.1), or in the body; `true` if the server says so, or nothing else.
    public var usesClientSecretBasic: Bool
    /// Binds the tokens to a key (RFC 9449); `nil`, the default, for bearer tokens.
    public var proof: DPoP?
    /// How requests to the authorization server are sent: transport, timeouts, time source, observers. What signs, and
    /// cookies and redirects, are not taken from it.
    public var configuration = ServiceConfiguration()

    /// Creates a client; the other options are variables with defaults.
    public init(server: AuthorizationServer, id: String, secret: String? = nil, scopes: [String] = []) {
        fatalError("to be written")
    }

    /// How a service is signed with what this client gets: token endpoint, client, store, revocation, and proof.
    ///
    /// - Parameters:
    ///   - store: Where the tokens are kept.
    ///   - provider: Signs a user in when a request needs it: a ``SignIn``, or `nil` if the app does that itself.
    public func authentication(
        store: any TokenCredentialStore, signIn provider: (any TokenCredentialProvider)? = nil
    ) -> BearerAuthentication {
        fatalError("to be written")
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
        fatalError("to be written")
    }

    /// Ends a sign-in in a browser: checks the callback, and exchanges its code for tokens (RFC 6749 §4.1.3).
    ///
    /// - Throws: ``AtomNetworking/AtomError/signInError`` says which check failed; nothing is kept then.
    public func credential(
        for request: AuthorizationCodeRequest, callback: URL
    ) async throws(AtomError) -> TokenCredential {
        fatalError("to be written")
    }

    /// Begins a sign-in on another device (RFC 8628 §3.1).
    public func deviceAuthorization(scopes: [String]? = nil) async throws(AtomError) -> DeviceAuthorization {
        fatalError("to be written")
    }

    /// Asks for the tokens of a sign-in on another device until somebody has finished it (RFC 8628 §3.4).
    public func credential(for authorization: DeviceAuthorization) async throws(AtomError) -> TokenCredential {
        fatalError("to be written")
    }

    /// Exchanges any other grant for tokens: a token exchange (RFC 8693), an assertion (RFC 7523), a password.
    ///
    /// Don't use a password grant where you can do without: the app sees the password, and there are no second factors.
    /// RFC 9700 §2.4 forbids it.
    ///
    /// - Parameter grant: The parameters, with `grant_type`, without the client's own.
    public func credential(grant: [QueryItem]) async throws(AtomError) -> TokenCredential {
        fatalError("to be written")
    }
}
