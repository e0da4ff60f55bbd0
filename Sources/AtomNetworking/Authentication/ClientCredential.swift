/// What an access token is asked for with (RFC 6749 §1.3).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum GrantType: String, Sendable, Hashable {
    /// A refresh token (RFC 6749 §6).
    case refreshToken = "refresh_token"

    /// The client itself (RFC 6749 §4.4): there is no refresh token, and
    /// another access token is asked for when one is wanted.
    case clientCredentials = "client_credentials"
}

/// How the authorization server knows the app (RFC 6749 §2.3.1).
public struct ClientCredential: Sendable, Hashable {
    /// What tokens are asked for with.
    public let grantType: GrantType

    /// The client's identifier.
    public let id: String

    /// The client's secret; `nil` for a public client.
    public let secret: String?

    /// Makes a client's credential.
    public init(grantType: GrantType = .refreshToken, id: String, secret: String? = nil) {
        self.grantType = grantType
        self.id = id
        self.secret = secret
    }
}

extension ClientCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The identifier, never the secret.
    public var description: String { "ClientCredential(id: \(id))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Keeps `dump` from showing the secret.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// Something that a client's credential can be made of.
public protocol ClientCredentialConvertible: Sendable {
    /// The credential.
    var clientCredential: ClientCredential { get }
}
