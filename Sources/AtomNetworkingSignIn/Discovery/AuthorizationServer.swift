import AtomNetworking
import Foundation

/// An authorization server: who it is, and its endpoints (RFC 8414 §2).
public struct AuthorizationServer: Sendable, Hashable {
    /// The server's identifier: an `https` URL without query and fragment (RFC 8414 §2).
    public let issuer: String
    /// The address of the sign-in page; `nil` for none.
    public var authorizationEndpoint: String?
    /// Where tokens are requested.
    public var tokenEndpoint: AuthorizationEndpoint
    /// Where tokens are revoked (RFC 7009).
    public var revocationEndpoint: AuthorizationEndpoint?
    /// Where authorization requests are pushed (RFC 9126).
    public var pushedAuthorizationRequestEndpoint: AuthorizationEndpoint?
    /// Where a sign-in on another device begins (RFC 8628).
    public var deviceAuthorizationEndpoint: AuthorizationEndpoint?
    /// Where clients register themselves (RFC 7591).
    public var registrationEndpoint: AuthorizationEndpoint?
    /// The scopes that it names; `nil` if it doesn't say.
    public var scopes: [String]?
    /// The methods of PKCE that it names (RFC 7636); `nil` if it doesn't say.
    public var codeChallengeMethods: [String]?
    /// The algorithms of DPoP proofs that it names (RFC 9449 §5.1); `nil` if it doesn't say.
    public var proofAlgorithms: [String]?
    /// How clients authenticate at the token endpoint, such as `client_secret_basic`; `nil` if it doesn't say.
    public var tokenEndpointAuthenticationMethods: [String]?
    /// Whether each callback says which server it is of (RFC 9207 §3).
    public var sendsIssuerInCallback = false
    /// Whether it takes only pushed authorization requests (RFC 9126 §5).
    public var requiresPushedRequests = false

    /// Creates a server from what the app knows of it; what is optional are variables.
    ///
    /// - Throws: `AtomError.requestable` for an issuer, or an address, that isn't `https`, or `http` on this device.
    public init(
        issuer: String, authorizationEndpoint: String? = nil, tokenEndpoint: String
    ) throws(AtomError) {
        fatalError("to be written")
    }

    /// Asks a server for its metadata (RFC 8414 §3, OpenID Connect Discovery §4).
    ///
    /// The response is kept by the rules of HTTP: in the cache of the configuration, or in one for the process.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier, as the app knows it.
    ///   - configuration: How the requests are sent.
    public static func discover(
        _ issuer: String, configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws(AtomError) -> AuthorizationServer {
        fatalError("to be written")
    }
}
