/// How a service signs its requests.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AuthenticationMethod: Sendable {
    /// A user name and password in every request (RFC 7617).
    case basic(BasicCredential)

    /// An access token in every request, refreshed when it has to be
    /// (RFC 6750).
    case bearer(BearerAuthentication)

    /// Nothing is signed.
    case none

    /// An access token in every request, with the default options.
    ///
    /// - Parameters:
    ///   - endpoint: Where tokens are refreshed.
    ///   - client: Who asks for them.
    ///   - writable: Where they are kept.
    /// - Returns: The method.
    public static func bearer(
        _ endpoint: AuthorizationEndpoint, _ client: ClientCredential, _ writable: any TokenCredentialWritable
    ) -> AuthenticationMethod {
        .bearer(BearerAuthentication(endpoint: endpoint, client: client, writable: writable))
    }

    /// An access token in every request, kept in a store, with the default
    /// options.
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
}
