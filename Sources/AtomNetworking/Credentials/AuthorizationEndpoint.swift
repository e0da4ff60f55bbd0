/// The address of a token endpoint (RFC 6749 §3.2).
public struct AuthorizationEndpoint: Sendable, Hashable {
    let target: TargetURL

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
        target = TargetURL(
            base: try BaseURL(scheme: scheme, host: host, port: port), path: try URLPath(path), queryItems: queryItems)
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
