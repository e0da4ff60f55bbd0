/// How a service signs its requests.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AuthenticationMethod: Sendable {
    /// A user name and password in every request (RFC 7617).
    case basic(BasicCredential)

    /// An access token in every request (RFC 6750), refreshed when necessary, with the default options: the token
    /// endpoint, the client, and the variable that holds the tokens.
    case bearer(AuthorizationEndpoint, ClientCredential, any TokenCredentialWritable)

    /// An access token in every request, with your own options, a token store or a provider.
    ///
    /// The functions named `bearer` create it.
    case bearerAuthentication(BearerAuthentication)

    /// Nothing is signed.
    case none

    /// An access token in every request, with your own options.
    public static func bearer(_ authentication: BearerAuthentication) -> AuthenticationMethod {
        .bearerAuthentication(authentication)
    }

    /// An access token in every request, kept in a store and refreshed by the SDK, with the default options.
    ///
    /// If an object is also a ``TokenCredentialWritable``, the call is
    /// ambiguous and needs a cast: `tokens as any TokenCredentialStore`.
    ///
    /// - Parameters:
    ///   - endpoint: Where tokens are refreshed.
    ///   - client: The client that requests them.
    ///   - store: Where they are kept.
    ///   - provider: Signs a user in when nobody is signed in, or the refresh token has been refused; `nil`, the
    ///     default, if the app does that with ``Atom/signIn(with:)``.
    /// - Returns: The method.
    public static func bearer(
        _ endpoint: AuthorizationEndpoint, _ client: ClientCredential, _ store: any TokenCredentialStore,
        signIn provider: (any TokenCredentialProvider)? = nil
    ) -> AuthenticationMethod {
        .bearer(BearerAuthentication(endpoint: endpoint, client: client, store: store, signIn: provider))
    }

    /// An access token in every request, which the app gets from its own
    /// source and the store keeps, with the default options.
    public static func bearer(
        _ provider: any TokenCredentialProvider, _ store: any TokenCredentialStore
    ) -> AuthenticationMethod {
        .bearer(BearerAuthentication(provider: provider, store: store))
    }

    /// The options of the session of bearer tokens, if there is one.
    var bearer: BearerAuthentication? {
        switch self {
        case .bearer(let endpoint, let client, let writable):
            BearerAuthentication(endpoint: endpoint, client: client, writable: writable)
        case .bearerAuthentication(let authentication): authentication
        case .basic, .none: nil
        }
    }
}
