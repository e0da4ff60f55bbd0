import Foundation

/// The absolute URL of a request, stored as text together with its origin.
///
/// It consists of validated parts, so a request whose transport needs no `URL` doesn't parse one.
public struct TargetURL: Sendable, Hashable {
    /// The absolute URL with its host in lower case, without user information and fragment.
    public let absoluteString: String

    /// The scheme.
    public var scheme: BaseURLScheme { origin.scheme }

    /// The host in lower case; an IPv6 address includes its brackets.
    public var host: String { origin.host }

    /// The port; the scheme's default port if none was given.
    public var port: Int { origin.port }

    let origin: Origin

    /// Whether nobody else can read what is sent to it: by TLS, or on this device.
    package var isSecure: Bool { origin.isSecure }

    /// The same as Foundation's type, parsed at each access; `nil` only if Foundation rejects the URL.
    ///
    /// Brackets in the path and the query are percent-encoded in it: Foundation
    /// has none there, and would encode every percent sign again.
    public var url: URL? { HTTPGrammar.url(absoluteString) }

    /// Creates a URL from its checked parts.
    public init(base: BaseURL, path: URLPath, queryItems: [QueryItem] = []) {
        origin = base.origin
        var string = base.string(origin.host, followedBy: path.encoded.isEmpty ? "/" : path.encoded)
        if !queryItems.isEmpty {
            string += "?"
            string += PercentEncoding.query(queryItems)
        }
        absoluteString = string
    }

    /// The same path and query on another server.
    public func replacing(base: BaseURL) -> TargetURL {
        let origin = base.origin
        return TargetURL(absoluteString: base.string(origin.host, followedBy: pathAndQuery), origin: origin)
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

    /// Resolves a `Location` against this URL (RFC 9110 §10.2.2), as below.
    func resolving(location: String) -> TargetURL? { Self.resolving(location, against: self) }

    private init(absoluteString: String, origin: Origin) {
        self.absoluteString = absoluteString
        self.origin = origin
    }
}

// References (RFC 3986 §5), on bytes: Foundation encodes a whole URL again if it finds one stray character in it.
extension TargetURL {
    /// Resolves a reference octet by octet, without user information and fragment;
    /// `nil` if the result is not an HTTP URL with a valid host.
    static func resolving(_ reference: String, against base: TargetURL?) -> TargetURL? {
        guard let bytes = encoded(OpaqueOctets.octets(of: reference)), !bytes.isEmpty else { return nil }
        var rest = bytes.prefix { $0 != UInt8(ascii: "#") }
        var scheme = base?.scheme
        // A colon before any slash ends a scheme (§4.2).
        if let end = rest.firstIndex(where: delimiters.contains), rest[end] == UInt8(ascii: ":") {
            scheme = BaseURLScheme(rawValue: text(rest[..<end]).lowercased())
            rest = rest[(end + 1)...]
            guard rest.starts(with: "//".utf8) else { return nil }
        }
        guard let scheme else { return nil }

        if rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard let server = server(scheme, authority) else { return nil }
            let (path, query) = parts(rest[authority.endIndex...])
            let origin = server.origin
            return TargetURL(
                absoluteString: server.string(origin.host, followedBy: text(withoutDotSegments(path) + query)),
                origin: origin)
        }
        guard let base else { return nil }
        let (basePath, baseQuery) = parts(Array(base.pathAndQuery.utf8)[...])
        var (path, query) = parts(rest)
        if path.isEmpty {
            path = basePath
            if query.isEmpty { query = baseQuery }
        } else if path.first != UInt8(ascii: "/"), let slash = basePath.lastIndex(of: UInt8(ascii: "/")) {
            path = basePath[...slash] + path
        }
        let server = base.absoluteString.utf8.dropLast(basePath.count + baseQuery.count)
        return TargetURL(
            absoluteString: text(server + withoutDotSegments(path) + query), origin: base.origin)
    }

    /// Percent-encodes what servers forget to encode, such as spaces and letters
    /// outside ASCII; `nil` for what software reads in more than one way.
    private static func encoded(_ reference: [UInt8]) -> [UInt8]? {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let given = Array(reference.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
        guard !given.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else { return nil }
        return PercentEncoding.complete(given, allowing: sent)
    }

    private static let delimiters = ByteSet(":/?")
    private static let sent = PercentEncoding.path.union("?#[]")

    /// Reads the part between `//` and the path (§3.2).
    private static func server(_ scheme: BaseURLScheme, _ authority: ArraySlice<UInt8>) -> BaseURL? {
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        let name = authority[start...]
        // The colons of an IPv6 address are in brackets.
        let colon = name[(name.lastIndex(of: UInt8(ascii: "]")) ?? start)...].firstIndex(of: UInt8(ascii: ":"))
        let digits = name[(colon ?? name.endIndex)...].dropFirst()
        let port = digits.isEmpty ? nil : Int(text(digits))
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.isEmpty == (port == nil) else { return nil }
        return try? BaseURL(scheme: scheme, host: text(name[..<(colon ?? name.endIndex)]), port: port)
    }

    /// The path, and the query with its question mark.
    private static func parts(_ bytes: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>) {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        return (path, bytes[path.endIndex...])
    }

    /// The path without `.` and `..` (§5.2.4), beginning with a slash.
    private static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> [UInt8] {
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [ArraySlice<UInt8>] = []
        for segment in segments {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent { _ = kept.popLast() }
            // The folder that the last one leads to ends with a slash.
            if segment.endIndex == path.endIndex { kept.append([]) }
        }
        return [UInt8(ascii: "/")] + kept.joined(separator: [UInt8(ascii: "/")])
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension TargetURL: Redacted {
    /// Shows the URL without the query values.
    public var description: String { Redaction.url(absoluteString) }
}
