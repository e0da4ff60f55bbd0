import Foundation

/// The absolute URL of a request, stored as text together with its origin.
///
/// It consists of validated parts, so a request whose transport needs no `URL`
/// doesn't parse one.
public struct TargetURL: Sendable, Hashable {
    /// The absolute URL, without user information and fragment.
    public let absoluteString: String

    /// The scheme.
    public var scheme: BaseURLScheme { origin.scheme }

    /// The host in lower case; an IPv6 address includes its brackets.
    public var host: String { origin.host }

    /// The port; the scheme's default port if none was given.
    public var port: Int { origin.port }

    let origin: Origin

    /// The same as Foundation's type, parsed at each access; `nil` only if
    /// Foundation rejects the URL.
    public var url: URL? { URL(string: absoluteString) }

    /// Creates a URL from its checked parts.
    public init(base: BaseURL, path: URLPath, queryItems: [QueryItem] = []) {
        origin = base.origin
        var string = base.string(followedBy: path.encoded.isEmpty ? "/" : path.encoded)
        if !queryItems.isEmpty {
            string += "?"
            string += PercentEncoding.query(queryItems)
        }
        absoluteString = string
    }

    /// The same path and query on another server.
    public func replacing(base: BaseURL) -> TargetURL {
        TargetURL(absoluteString: base.string(followedBy: pathAndQuery), origin: base.origin)
    }

    /// The path and the query as they are sent, percent-encoded.
    public var pathAndQuery: String {
        withPathAndQuery { String(decoding: $0, as: UTF8.self) }
    }

    /// The path as it is sent, percent-encoded; `/` if there is none.
    public var path: String {
        withPathAndQuery { bytes in
            let path = bytes.prefix { $0 != UInt8(ascii: "?") }
            return path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
        }
    }

    private func withPathAndQuery(_ body: (Slice<UnsafeBufferPointer<UInt8>>) -> String) -> String {
        var string = absoluteString
        let authority = scheme.rawValue.utf8.count + 3
        return string.withUTF8 { bytes in
            body(bytes[min(authority, bytes.count)...].drop { $0 != UInt8(ascii: "/") })
        }
    }

    /// Resolves a `Location` against this URL (RFC 9110 §10.2.2, RFC 3986 §5),
    /// without user information and fragment; `nil` if the result is not an
    /// HTTP URL with a valid host.
    func resolving(location: String) -> TargetURL? {
        guard let base = url else { return nil }
        return Self.resolving(location, against: base)
    }

    /// Resolves a reference (RFC 3986 §5), without user information and
    /// fragment; `nil` if the result is not an HTTP URL with a valid host.
    static func resolving(_ reference: String, against base: URL?) -> TargetURL? {
        guard let resolved = URL(string: encodingStrayCharacters(reference), relativeTo: base)?.absoluteURL,
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

    /// Percent-encodes the spaces and non-ASCII letters that servers send in
    /// `Location`, and keeps octets that are already encoded.
    private static func encodingStrayCharacters(_ location: String) -> String {
        PercentEncoding.encode(location.trimmingCharacters(in: .whitespaces), allowing: urlCharacters)
    }

    private static let urlCharacters = PercentEncoding.path.union("%?#[]")
}

extension URLComponents {
    /// Whether the URL has a port that Foundation can't represent.
    ///
    /// Foundation reports no port then, and the scheme's default port would be
    /// used.
    fileprivate var hasUnreadablePort: Bool {
        guard port == nil, let range = rangeOfPort else { return false }
        return !range.isEmpty
    }
}

extension TargetURL: CustomStringConvertible, CustomReflectable {
    /// Shows the URL without the query values.
    public var description: String { Redaction.url(absoluteString) }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
