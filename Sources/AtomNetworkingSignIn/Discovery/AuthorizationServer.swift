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
    public var registrationEndpoint: String?
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
    /// - Throws: `AtomError.requestable` for an address that isn't `https`, and for an issuer with a query. An issuer
    ///   on this device may be `http`, and then its addresses on this device may, too.
    public init(
        issuer: String, authorizationEndpoint: String? = nil, tokenEndpoint: String
    ) throws(AtomError) {
        let allowsPlain = try ServerAddress(issuer: issuer).isPlain
        for url in [authorizationEndpoint, tokenEndpoint].compactMap({ $0 }) {
            _ = try ServerAddress(url, allowsPlain: allowsPlain)
        }
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = try AuthorizationEndpoint(tokenEndpoint)
    }

    /// Asks a server for its metadata (RFC 8414 §3, OpenID Connect Discovery §4).
    ///
    /// The response is kept by the rules of HTTP: in the cache of the configuration, or in one for the process.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier, as the app knows it; a slash at its end is a part of it.
    ///   - configuration: How the requests are sent: transport, timeouts, retries, time source, observers, cache. What
    ///     signs or changes requests, cookies, header fields and redirects are not taken from it.
    /// - Throws: `AtomError.requestable` for an issuer that can't be one, ``SignInError/wrongIssuer(expected:found:)``
    ///   if the metadata is another server's, ``SignInError/invalidMetadata(_:)`` if it breaks a rule. If there is no
    ///   metadata, the last response, in `AtomError.response`.
    public static func discover(
        _ issuer: String, configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws(AtomError) -> AuthorizationServer {
        let address = try ServerAddress(issuer: issuer)
        // The slash at the end goes, only here (RFC 8414 §3.1).
        let path = address.target.path.hasSuffix("/") ? String(address.target.path.dropLast()) : address.target.path
        let openID = "/.well-known/openid-configuration"
        var others = [try address.endpoint(openID + path)]
        // OpenID Connect Discovery §4.1 appends to the path; RFC 8414 §5 wants both tried.
        if !path.isEmpty { others.append(try address.endpoint(path + openID)) }
        let document = try await MetadataRequest(configuration)
            .document(at: try address.endpoint("/.well-known/oauth-authorization-server" + path), or: others[...])
        return try AuthorizationServer(document, of: issuer, allowsPlain: address.isPlain)
    }

    private init(_ document: MetadataDocument, of expected: String, allowsPlain: Bool) throws(AtomError) {
        func endpoint(_ name: String) throws(AtomError) -> AuthorizationEndpoint? {
            guard let url = try document.address(name, allowsPlain: allowsPlain) else { return nil }
            return try AuthorizationEndpoint(url)
        }
        // Code point by code point (RFC 8414 §3.3, §4): text that only looks the same is another server's, and so is an
        // issuer with a slash at its end for one without. Servers whose issuer has one, such as Auth0's, are asked for
        // with it.
        issuer = try document.text("issuer")
        guard issuer.utf8.elementsEqual(expected.utf8) else {
            let found = String(String.UnicodeScalarView(issuer.unicodeScalars.prefix(300)))
            throw .signIn(.wrongIssuer(expected: expected, found: found))
        }
        guard let tokenEndpoint = try endpoint("token_endpoint") else {
            throw MetadataDocument.refusal("it has no token_endpoint")
        }
        self.tokenEndpoint = tokenEndpoint
        authorizationEndpoint = try document.address("authorization_endpoint", allowsPlain: allowsPlain)
        revocationEndpoint = try endpoint("revocation_endpoint")
        pushedAuthorizationRequestEndpoint = try endpoint("pushed_authorization_request_endpoint")
        deviceAuthorizationEndpoint = try endpoint("device_authorization_endpoint")
        registrationEndpoint = try document.address("registration_endpoint", allowsPlain: allowsPlain)
        scopes = try document.list("scopes_supported")
        codeChallengeMethods = try document.list("code_challenge_methods_supported")
        proofAlgorithms = try document.list("dpop_signing_alg_values_supported")
        tokenEndpointAuthenticationMethods = try document.list("token_endpoint_auth_methods_supported")
        sendsIssuerInCallback = try document.flag("authorization_response_iss_parameter_supported")
        requiresPushedRequests = try document.flag("require_pushed_authorization_requests")
    }
}

extension AuthorizationServer: Redacted {
    /// The issuer.
    public var description: String { Redaction.url(issuer) }
}
