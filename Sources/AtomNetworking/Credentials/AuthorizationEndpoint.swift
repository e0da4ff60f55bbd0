/// The address of a token endpoint (RFC 6749 §3.2).
public struct AuthorizationEndpoint: Sendable, Hashable {
    let base: BaseURL
    let path: URLPath

    /// Creates an endpoint.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` for a host, port or path that can't be used.
    public init(scheme: BaseURLScheme = .https, host: String, port: Int? = nil, path: String) throws(AtomError) {
        base = try BaseURL(scheme: scheme, host: host, port: port)
        self.path = try URLPath(path)
    }

    /// The same with the port at the end.
    @available(*, deprecated, renamed: "init(scheme:host:port:path:)")
    public init(scheme: BaseURLScheme = .https, host: String, path: String, port: Int?) throws(AtomError) {
        try self.init(scheme: scheme, host: host, port: port, path: path)
    }
}

extension AuthorizationEndpoint: CustomStringConvertible {
    /// The endpoint's URL.
    public var description: String { base.string + path.encoded }
}
