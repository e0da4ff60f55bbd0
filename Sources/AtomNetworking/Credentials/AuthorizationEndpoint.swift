/// The address of a token endpoint (RFC 6749 §3.2).
public struct AuthorizationEndpoint: Sendable, Hashable {
    package let target: TargetURL

    /// Creates an endpoint.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` for a host, port or path that can't be used.
    public init(scheme: BaseURLScheme = .https, host: String, port: Int? = nil, path: String) throws(AtomError) {
        try self.init(scheme: scheme, host: host, port: port, path: path, queryItems: [])
    }

    /// Creates an endpoint whose URL has a query, which each request to it keeps (RFC 6749 §3.2).
    ///
    /// - Throws: ``AtomError/requestable(_:)`` for a host, port or path that can't be used.
    public init(
        scheme: BaseURLScheme = .https, host: String, port: Int? = nil, path: String, queryItems: [QueryItem]
    ) throws(AtomError) {
        try self.init(base: BaseURL(scheme: scheme, host: host, port: port), path: path, queryItems: queryItems)
    }

    /// Creates an endpoint of a server whose address is a value already.
    ///
    /// ```swift
    /// import AtomNetworking
    ///
    /// let server = try BaseURL(string: "https://auth.example.com")
    /// let endpoint = try AuthorizationEndpoint(base: server, path: "/oauth/token")
    /// ```
    ///
    /// - Throws: ``AtomError/requestable(_:)`` for a path that can't be used.
    public init(base: BaseURL, path: String, queryItems: [QueryItem] = []) throws(AtomError) {
        target = TargetURL(base: base, path: try URLPath(path), queryItems: queryItems)
    }

    /// Creates an endpoint for a URL, such as one of an authorization server's metadata (RFC 8414 §2).
    ///
    /// - Throws: ``AtomError/requestable(_:)`` for a URL that can't be used.
    public init(_ url: String) throws(AtomError) {
        let endpoint = try URLEndpoint(url)
        target = TargetURL(
            base: endpoint.baseURL(), path: endpoint.path(), queryItems: endpoint.queryItems ?? [])
    }

    /// The same with the port at the end.
    @available(*, deprecated, renamed: "init(scheme:host:port:path:)")
    public init(scheme: BaseURLScheme = .https, host: String, path: String, port: Int?) throws(AtomError) {
        try self.init(scheme: scheme, host: host, port: port, path: path)
    }
}

extension AuthorizationEndpoint: CustomStringConvertible {
    /// The endpoint's URL without the values of its query.
    public var description: String { target.description }
}
