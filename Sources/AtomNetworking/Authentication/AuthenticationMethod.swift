/// How a service signs its requests.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AuthenticationMethod: Sendable {
    /// A user name and password in every request (RFC 7617).
    case basic(BasicCredential)

    /// An access token in every request, refreshed when it has to be
    /// (RFC 6750), with the default options: where tokens are refreshed, who
    /// asks for them, and where they are kept.
    case bearer(AuthorizationEndpoint, ClientCredential, any TokenCredentialWritable)

    /// An access token in every request, with options of your own, a token
    /// store or a provider.
    ///
    /// The functions named `bearer` make it.
    case bearerAuthentication(BearerAuthentication)

    /// Nothing is signed.
    case none

    /// An access token in every request, with options of your own.
    ///
    /// - Parameter authentication: How the session is kept alive.
    /// - Returns: The method.
    public static func bearer(_ authentication: BearerAuthentication) -> AuthenticationMethod {
        .bearerAuthentication(authentication)
    }

    /// An access token in every request, kept in a store, with the default
    /// options.
    ///
    /// An object that is a ``TokenCredentialWritable`` as well doesn't compile
    /// here before it says which of the two it is meant as:
    /// `tokens as any TokenCredentialStore`.
    ///
    /// - Parameters:
    ///   - endpoint: Where tokens are refreshed.
    ///   - client: Who asks for them.
    ///   - store: Where they are kept.
    /// - Returns: The method.
    public static func bearer(
        _ endpoint: AuthorizationEndpoint, _ client: ClientCredential, _ store: any TokenCredentialStore
    ) -> AuthenticationMethod {
        .bearer(BearerAuthentication(endpoint: endpoint, client: client, store: store))
    }

    /// An access token in every request that the app gets in its own way, with
    /// the default options.
    ///
    /// - Parameters:
    ///   - provider: Gets a credential when there is none that is good.
    ///   - store: Where it is kept.
    /// - Returns: The method.
    public static func bearer(
        _ provider: any TokenCredentialProvider, _ store: any TokenCredentialStore
    ) -> AuthenticationMethod {
        .bearer(BearerAuthentication(provider: provider, store: store))
    }

    /// How the session of bearer tokens is kept alive, if there is one.
    var bearer: BearerAuthentication? {
        switch self {
        case .bearer(let endpoint, let client, let writable):
            BearerAuthentication(endpoint: endpoint, client: client, writable: writable)
        case .bearerAuthentication(let authentication): authentication
        case .basic, .none: nil
        }
    }
}
