/// The grant for which an access token is issued (RFC 6749 §1.3).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum GrantType: String, Sendable, Hashable {
    /// A refresh token (RFC 6749 §6).
    case refreshToken = "refresh_token"

    /// The client's own credentials (RFC 6749 §4.4): there is no refresh token,
    /// and a new access token is requested when one is needed.
    case clientCredentials = "client_credentials"
}

/// The app's credential at the authorization server (RFC 6749 §2.3.1).
public struct ClientCredential: Sendable, Hashable {
    /// The grant for which tokens are issued.
    public let grantType: GrantType

    /// The client's identifier.
    public let id: String

    /// The client's secret; `nil` for a public client.
    public let secret: String?

    /// Creates a client's credential.
    public init(grantType: GrantType = .refreshToken, id: String, secret: String? = nil) {
        self.grantType = grantType
        self.id = id
        self.secret = secret
    }
}

extension ClientCredential: Redacted {
    /// The identifier, never the secret.
    public var description: String { "ClientCredential(id: \(id))" }
}

/// A type that can be converted to a client's credential.
public protocol ClientCredentialConvertible: Sendable {
    /// The credential.
    var clientCredential: ClientCredential { get }
}
