import Foundation

/// The absolute URL a request goes to, kept as text with its origin beside it.
///
/// Built from parts that have been checked, so that no URL is parsed for a
/// request whose transport doesn't need one.
public struct TargetURL: Sendable, Hashable {
    /// The absolute URL; no user information, no fragment.
    public let absoluteString: String

    /// The scheme.
    public var scheme: BaseURLScheme { origin.scheme }

    /// The host in lower case; an IPv6 address with its brackets.
    public var host: String { origin.host }

    /// The port, the scheme's own where none was given.
    public var port: Int { origin.port }

    let origin: Origin

    /// The same as Foundation's type, parsed at each call; `nil` only if
    /// Foundation disagrees about what a URL is.
    public var url: URL? { URL(string: absoluteString) }

    init(base: BaseURL, path: URLPath, queryItems: [QueryItem]) {
        origin = base.origin
        var string = base.string(followedBy: path.encoded.isEmpty ? "/" : path.encoded)
        if !queryItems.isEmpty {
            string += "?"
            string += PercentEncoding.query(queryItems)
        }
        absoluteString = string
    }

    /// Resolves a `Location` against this URL (RFC 9110 §10.2.2, RFC 3986
    /// §5), without user information or fragment; `nil` if what comes out is
    /// no HTTP URL with a host that can be asked.
    func resolving(location: String) -> TargetURL? {
        guard let base = url,
            let resolved = URL(string: Self.encodingStrayCharacters(location), relativeTo: base)?.absoluteURL,
            let parts = URLComponents(url: resolved, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme.flatMap({ BaseURLScheme(rawValue: $0.lowercased()) }),
            let rawHost = parts.encodedHost, !rawHost.isEmpty, !parts.hasUnreadablePort
        else { return nil }
        let host = rawHost.contains(":") && !rawHost.hasPrefix("[") ? "[\(rawHost)]" : rawHost
        guard let baseURL = try? BaseURL(scheme: scheme, host: host, port: parts.port) else { return nil }
        var string = baseURL.string
        string += parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        if let query = parts.percentEncodedQuery { string += "?\(query)" }
        return TargetURL(absoluteString: string, origin: baseURL.origin)
    }

    private init(absoluteString: String, origin: Origin) {
        self.absoluteString = absoluteString
        self.origin = origin
    }

    /// Servers send spaces and letters beyond ASCII in `Location`; they are
    /// encoded, and what is encoded already is kept.
    private static func encodingStrayCharacters(_ location: String) -> String {
        PercentEncoding.encode(location.trimmingCharacters(in: .whitespaces), allowing: urlCharacters)
    }

    private static let urlCharacters = PercentEncoding.path.union("%?#[]")
}

extension URLComponents {
    /// Whether a port is written that is no number Foundation can hold; it
    /// would pass for none, and the scheme's own would be asked.
    fileprivate var hasUnreadablePort: Bool {
        guard port == nil, let range = rangeOfPort else { return false }
        return !range.isEmpty
    }
}

extension TargetURL: CustomStringConvertible, CustomReflectable {
    /// The URL without the values of its query.
    public var description: String { Redaction.url(absoluteString) }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
