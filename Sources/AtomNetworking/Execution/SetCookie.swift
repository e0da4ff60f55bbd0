import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One `Set-Cookie` field, read and judged by RFC 6265 §5.2 and §5.3.
struct SetCookie: Equatable {
    let name: String
    let value: String
    /// In lower case; `nil` for a cookie of the answering host alone.
    private(set) var domain: String?
    private(set) var path: String
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// `nil` for as long as the storage lasts.
    private(set) var expires: Date?
    private let host: String

    /// `nil` if the field holds no cookie, or one that this server can't set.
    init?(_ field: String, from target: TargetURL, now: Date) {
        // A line break would turn a cookie into a header field when it is sent back.
        guard HTTPGrammar.violation(inFieldValue: field) == nil else { return nil }
        var parts = Self.split(field, at: ";", limit: .max)
        let pair = Self.split(parts.removeFirst(), at: "=", limit: 1)
        guard pair.count == 2, !pair[0].isEmpty else { return nil }
        name = pair[0]
        value = pair[1]
        host = target.host
        path = Self.defaultPath(of: target.cookiePath)
        var lifetime: Date?
        for part in parts {
            let attribute = Self.split(part, at: "=", limit: 1)
            let text = attribute.count > 1 ? attribute[1] : ""
            switch attribute[0].lowercased() {
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            case "path": path = text.hasPrefix("/") ? text : Self.defaultPath(of: target.cookiePath)
            case "domain": domain = text.isEmpty ? nil : text.lowercased()
            case "expires": expires = CookieDate.date(from: text) ?? expires
            case "max-age": lifetime = Self.expiry(maximumAge: text, now: now) ?? lifetime
            default: break
            }
        }
        expires = lifetime ?? expires
        guard acceptDomain(), !isSecure || target.scheme == .https else { return nil }
    }

    /// A domain must be the host's own or one above it, of two labels at
    /// least: who may set a cookie for `com` or `localhost` is the host itself.
    private mutating func acceptDomain() -> Bool {
        guard var domain else { return true }
        if domain.hasPrefix(".") { domain.removeFirst() }
        if domain == host, !domain.contains(".") || Self.isAddress(host) {
            self.domain = nil
            return true
        }
        self.domain = domain
        return domain.contains(".") && Self.host(host, matches: domain[...])
    }

    /// The same as Foundation's type; a leading dot says that hosts below it
    /// get it too.
    var cookie: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .path: path, .version: "0", .domain: domain.map { "." + $0 } ?? host,
        ]
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey(rawValue: "HttpOnly")] = "TRUE" }
        if let expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        return HTTPCookie(properties: properties)
    }
}

extension SetCookie {
    /// Whether a host is a domain or below it (RFC 6265 §5.1.3).
    static func host(_ host: String, matches domain: Substring) -> Bool {
        host == domain || (host.hasSuffix("." + domain) && !isAddress(host))
    }

    /// Whether a request's path lies in a cookie's (RFC 6265 §5.1.4).
    static func path(_ path: String, matches cookiePath: String) -> Bool {
        guard path.hasPrefix(cookiePath) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.hasSuffix("/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }

    /// The request's path up to its last slash.
    private static func defaultPath(of path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
        return folder.isEmpty ? "/" : folder
    }

    private static func isAddress(_ host: String) -> Bool {
        host.hasPrefix("[") || host.utf8.last.map { (0x30...0x39).contains($0) } == true
    }

    /// At most 400 days (RFC 6265bis §5.5), and the past for zero and less.
    private static func expiry(maximumAge text: String, now: Date) -> Date? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if text.hasPrefix("-") { return .distantPast }
        let seconds = min(Int(digits) ?? .max, 34_560_000)
        return seconds == 0 ? .distantPast : now.addingTimeInterval(Double(seconds))
    }

    /// Splits by bytes, since a delimiter may be part of a longer `Character`,
    /// and trims the blanks around each part.
    private static func split(_ text: String, at separator: Unicode.Scalar, limit: Int) -> [String] {
        text.utf8.split(
            separator: UInt8(ascii: separator), maxSplits: limit, omittingEmptySubsequences: false
        ).map { part in
            let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
            guard let first = part.firstIndex(where: { !isBlank($0) }),
                let last = part.lastIndex(where: { !isBlank($0) })
            else { return "" }
            return String(decoding: part[first...last], as: UTF8.self)
        }
    }
}

extension TargetURL {
    /// The path alone, as cookies see it.
    var cookiePath: String {
        let bytes = absoluteString.utf8
        let authority = bytes.dropFirst(scheme.rawValue.utf8.count + 3)
        guard let start = authority.firstIndex(of: UInt8(ascii: "/")) else { return "/" }
        return String(decoding: authority[start...].prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }
}
