/// The scheme of a URL.
public enum BaseURLScheme: String, Sendable, Hashable, CaseIterable {
    /// Plain HTTP; Apple platforms reject it unless the app allows it.
    case http
    /// HTTP over TLS.
    case https

    /// The default port of the scheme (RFC 9110 §4.2).
    var defaultPort: Int { self == .http ? 80 : 443 }
}

/// The scheme, host and port of a server.
///
/// A host is a name of dot-separated labels, each of 1 to 63 letters, digits, underscores and inner hyphens, 253 octets
/// in all (RFC 1123 §2.1), an IPv4 address, or an IPv6 address in brackets (RFC 3986 §3.2.2). A name may end with a dot;
/// it is another origin then.
public struct BaseURL: Sendable, Hashable {
    /// The scheme.
    public let scheme: BaseURLScheme

    /// The host as given, also with a dot at its end; an IPv6 address includes its brackets.
    public let host: String

    /// The port as given, or `nil` for the scheme's default port.
    public let port: Int?

    /// Creates a base URL.
    ///
    /// - Throws: ``RequestableError/invalidBaseURL(_:)``, which says which rule the host or port breaks.
    public init(scheme: BaseURLScheme = .https, host: String, port: Int? = nil) throws(AtomError) {
        if let reason = HostGrammar.violation(in: host) {
            throw .requestable(.invalidBaseURL(.init(subject: host, reason: reason)))
        }
        if let port, !(1...65_535).contains(port) {
            throw .requestable(.invalidBaseURL(.init(subject: String(port), reason: "a port is in 1…65535")))
        }
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Creates a base URL from its text, for example `https://api.example.com:8443`.
    ///
    /// A slash at the end is accepted, but no path, query or user name.
    ///
    /// - Throws: ``RequestableError/invalidBaseURL(_:)``.
    public init(string: String) throws(AtomError) {
        func refusal(_ reason: String) -> AtomError {
            .requestable(.invalidBaseURL(.init(subject: string, reason: reason)))
        }
        let lowercased = string.lowercased()
        let scheme: BaseURLScheme
        if lowercased.hasPrefix("https://") {
            scheme = .https
        } else if lowercased.hasPrefix("http://") {
            scheme = .http
        } else {
            throw refusal("it begins with https:// or http://")
        }
        var host = string.dropFirst(scheme.rawValue.count + 3)
        if host.hasSuffix("/") { host = host.dropLast() }
        if host.contains(where: { "/?#".contains($0) }) {
            throw refusal("it has no path, query or fragment; they belong in path() and queryItems")
        }
        var port: Int?
        // The colons of an IPv6 address are in brackets.
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]"),
            host.first == "[" || host.firstIndex(of: ":") == colon
        {
            let digits = host[colon...].dropFirst()
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
            else { throw refusal("a port is in 1…65535") }
            port = number
            host = host[..<colon]
        }
        try self.init(scheme: scheme, host: String(host), port: port)
    }

    /// `scheme://host[:port]`.
    var string: String { string(host, followedBy: "") }

    /// `scheme://host[:port]`, with the host in this form, and the rest of a URL.
    func string(_ host: String, followedBy rest: String) -> String {
        // An interpolation costs several times as much, for each request.
        var string = scheme == .https ? "https://" : "http://"
        string.reserveCapacity(14 + host.utf8.count + rest.utf8.count)
        string += host
        if let port {
            string += ":"
            string += String(port)
        }
        string += rest
        return string
    }

    var origin: Origin {
        Origin(scheme: scheme, host: host.lowercased(), port: port ?? scheme.defaultPort)
    }
}

extension BaseURL: CustomStringConvertible {
    /// Scheme, host and port.
    public var description: String { string }
}
