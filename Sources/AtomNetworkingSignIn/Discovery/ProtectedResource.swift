import AtomNetworking
import Foundation

/// What a server says of who issues its tokens (RFC 9728 §2).
public struct ProtectedResource: Sendable, Hashable {
    /// The resource's identifier, a URL.
    public let resource: String
    /// The issuers of the authorization servers that it trusts.
    public let authorizationServers: [String]
    /// The scopes that it names; `nil` if it doesn't say.
    public let scopes: [String]?
    /// Whether it takes only tokens that are bound to a key by DPoP (RFC 9449).
    public let requiresBoundTokens: Bool

    /// Asks a server for its metadata: at the address that is in the challenge of its 401, or else at the well-known one.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, which the metadata must be about (RFC 9728 §3.3).
    ///   - challenge: Of the response to it, if there is one.
    ///   - configuration: How the requests are sent.
    public static func discover(
        for url: URL, challenge: AuthenticationChallenge? = nil,
        configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws(AtomError) -> ProtectedResource {
        fatalError("to be written")
    }
}
