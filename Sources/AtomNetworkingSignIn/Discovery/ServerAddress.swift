import AtomNetworking

/// The address of a server as OAuth allows it: `https` (RFC 8414 §2), or, for development, `http` on this device.
struct ServerAddress {
    let target: TargetURL
    private let base: BaseURL

    /// Whether it is on this device and goes without TLS, so that its addresses may do so, too.
    var isPlain: Bool { target.scheme == .http }

    /// - Parameter allowsPlain: Whether it may be `http` on this device.
    init(_ url: String, allowsPlain: Bool = true) throws(AtomError) {
        let endpoint = try URLEndpoint(url)
        base = endpoint.baseURL()
        target = TargetURL(base: base, path: endpoint.path(), queryItems: endpoint.queryItems ?? [])
        guard target.isSecure, !isPlain || allowsPlain else {
            throw Self.refusal(
                url, "use https; http is for development, and only where issuer or resource are http on this device")
        }
    }

    /// An issuer, which has no query and no fragment (RFC 8414 §2).
    init(issuer: String, allowsPlain: Bool = true) throws(AtomError) {
        try self.init(issuer, allowsPlain: allowsPlain)
        guard !issuer.utf8.contains(UInt8(ascii: "?")) else { throw Self.refusal(issuer, "an issuer has no query") }
    }

    private static func refusal(_ url: String, _ reason: String) -> AtomError {
        .requestable(.invalidURL(.init(subject: url, reason: reason)))
    }

    /// Another path of the same server.
    func endpoint(_ path: String) throws(AtomError) -> URLEndpoint { try URLEndpoint(base.description + path) }

    /// Whether both have the same scheme, host and port (RFC 6454 §5).
    func hasOrigin(of other: ServerAddress) -> Bool {
        (target.scheme, target.host, target.port) == (other.target.scheme, other.target.host, other.target.port)
    }

    /// Whether this is the other address or a parent of it: its path is the first segments of the other one's.
    ///
    /// A query names one thing: then both are the same.
    func covers(_ other: ServerAddress) -> Bool {
        guard hasOrigin(of: other) else { return false }
        let path = target.path
        if target.pathAndQuery != path { return target.pathAndQuery == other.target.pathAndQuery }
        return other.target.path == path || other.target.path.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}
