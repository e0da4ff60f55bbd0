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

    /// Asks a server for its metadata: at the address in the challenge of its 401, or else at the well-known one.
    ///
    /// The response is kept as that of ``AuthorizationServer/discover(_:configuration:)``.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, which the metadata must be about (RFC 9728 §3.3).
    ///   - response: The server's response to it, if there is one: its challenges say where the metadata is.
    ///   - configuration: How the requests are sent, as in ``AuthorizationServer/discover(_:configuration:)``.
    /// - Throws: `AtomError.requestable` for a URL that isn't `https`, or `http` on this device,
    ///   ``SignInError/invalidMetadata(_:)`` if a challenge or the metadata break a rule or the metadata is about something
    ///   else; if there is none, the last response, in `AtomError.response`.
    public static func discover(
        for url: URL, response: AtomResponse? = nil,
        configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws(AtomError) -> ProtectedResource {
        let requested = try ServerAddress(url.absoluteString)
        let request = MetadataRequest(configuration)
        if let given = response?.challenges.lazy.compactMap({ $0["resource_metadata"] }).first {
            let address = try MetadataDocument.checking("resource_metadata") { () throws(AtomError) in
                // RFC 9728 §5.1 allows any address. But who can add a challenge could send the app anywhere in its
                // network, and only the server itself speaks for the resource (§7.3).
                try (ServerAddress(given), URLEndpoint(given))
            }
            guard address.0.hasOrigin(of: requested) else {
                throw MetadataDocument.refusal(
                    "resource_metadata “\(Redaction.subject(given))” is at another server than the request's URL")
            }
            return try ProtectedResource(await request.document(at: address.1), for: requested)
        }
        // Without the query: it is that of one request, and may tell something of a person.
        let root = "/.well-known/oauth-protected-resource"
        let path = requested.target.path == "/" ? "" : requested.target.path
        let others = path.isEmpty ? [] : [try requested.endpoint(root)]
        return try ProtectedResource(
            await request.document(at: try requested.endpoint(root + path), or: others[...]), for: requested)
    }

    private init(_ document: MetadataDocument, for requested: ServerAddress) throws(AtomError) {
        // A resource, and a server, without TLS are only for a request without it.
        let allowsPlain = requested.isPlain
        let resource = try document.text("resource")
        let address = try MetadataDocument.checking("resource") { () throws(AtomError) in
            try ServerAddress(resource, allowsPlain: allowsPlain)
        }
        // RFC 9728 §3.3 wants the URL itself. But a server has one identifier for many URLs, as in the Model Context
        // Protocol, whose clients take a parent, too. One server can't speak for another: the origin is the same.
        guard address.covers(requested) else {
            throw MetadataDocument.refusal("it is about “\(Redaction.subject(resource))”, not about the request's URL")
        }
        authorizationServers = try document.list("authorization_servers") ?? []
        if authorizationServers.isEmpty { throw MetadataDocument.refusal("it names no authorization server") }
        for issuer in authorizationServers {
            _ = try MetadataDocument.checking("authorization_servers") { () throws(AtomError) in
                try ServerAddress(issuer: issuer, allowsPlain: allowsPlain)
            }
        }
        self.resource = resource
        scopes = try document.list("scopes_supported")
        requiresBoundTokens = try document.flag("dpop_bound_access_tokens_required")
    }
}

extension ProtectedResource: Redacted {
    /// The resource and its authorization servers.
    public var description: String {
        "\(Redaction.url(resource)), of \(authorizationServers.map { Redaction.url($0) }.joined(separator: ", "))"
    }
}
