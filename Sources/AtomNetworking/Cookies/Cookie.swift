import Foundation

/// The parts of a URL that matter for cookies (RFC 6265 §8.5).
struct CookieAddress: Equatable {
    /// In lower case; an IPv6 address with its brackets.
    let host: String
    let path: String
    let isSecure: Bool

    /// The host and every domain above it.
    var domains: [String] {
        guard !Cookie.isAddress(host) else { return [host] }
        let bytes = host.utf8
        let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        return [host] + dots.map { String(host[bytes.index(after: $0)...]) }
    }

    /// The path up to its last slash (RFC 6265bis §5.1.4).
    var folder: String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }
}

struct Cookie: Sendable, Equatable {
    let name: String
    let value: String
    /// In lower case, without a leading dot.
    let domain: String
    let isHostOnly: Bool
    let path: String
    let isSecure: Bool
    var isHTTPOnly = false
    /// At most 400 days away; `nil` for a cookie that lasts as long as the jar.
    let expires: Date?

    /// When the cookie was first set, and when it was last set or sent, in steps of the
    /// jar: a clock may be changed or stand still.
    var creation: UInt64 = 0
    var lastAccess: UInt64 = 0
}

extension Cookie {
    /// Reads a `Set-Cookie` line (RFC 6265bis §5.6); `nil` if the server may not set it.
    ///
    /// A cookie without a name is ignored, as in RFC 6265 §5.2: by RFC 6265bis only its
    /// value is sent, and `=session=EVIL` could imitate any name.
    init?(_ line: String, from address: CookieAddress, at now: Date) {
        // A line break would start another header field when it is sent back.
        guard !Self.holdsControlCharacter(line) else { return nil }
        // By bytes: a delimiter may be part of a longer `Character`.
        var parts = Array(line.utf8).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let (name, value) = Self.pair(parts.removeFirst())
        guard let value, !name.isEmpty,
            name.utf8.count + value.utf8.count <= 4_096 || OpaqueOctets.octets(of: name + value).count <= 4_096
        else { return nil }
        var (domain, path, isSecure, isHTTPOnly) = (nil as String?, nil as String?, false, false)
        var (expires, lifetime) = (nil as Date?, nil as Date?)
        for part in parts {
            let attribute = Self.pair(part)
            let text = attribute.value ?? ""
            guard text.utf8.count <= 1_024 else { continue }
            let isNamed = { HeaderFields.isSameName(attribute.name, $0) }
            if isNamed("Secure") {
                isSecure = true
            } else if isNamed("HttpOnly") {
                isHTTPOnly = true
            } else if isNamed("Path") {
                path = text.utf8.first == UInt8(ascii: "/") ? text : nil
            } else if isNamed("Domain") {
                domain = text.isEmpty ? nil : Self.canonicalDomain(text)
            } else if isNamed("Expires") {
                expires = HTTPDate.cookieDate(text) ?? expires
            } else if isNamed("Max-Age") {
                lifetime = Self.expiry(maximumAge: text, now: now) ?? lifetime
            }
        }
        guard let scope = Self.scope(of: domain, host: address.host), !isSecure || address.isSecure else { return nil }
        // Many servers ignore the case of names (RFC 6265bis §4.1.3).
        if Self.begins(name, with: "__Secure-"), !isSecure { return nil }
        if Self.begins(name, with: "__Host-"), !isSecure || !scope.isHostOnly || path != "/" { return nil }
        // Max-Age takes precedence (§5.7).
        let end = (lifetime ?? expires).map { min($0, now.addingTimeInterval(Double(Self.maximumLifetime))) }
        self.init(
            name: name, value: value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: path ?? address.folder, isSecure: isSecure, isHTTPOnly: isHTTPOnly, expires: end)
    }

    /// All control characters except the tab (RFC 6265bis §5.6).
    static func holdsControlCharacter(_ text: String) -> Bool {
        text.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }

    /// 400 days in seconds (RFC 6265bis §5.5).
    private static let maximumLifetime = 400 * Duration.day.components.seconds

    /// A date in the past for zero and less (RFC 6265bis §5.6.2).
    private static func expiry(maximumAge text: String, now: Date) -> Date? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        // A number that doesn't fit is a very long time.
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        if isNegative || seconds == 0 { return .distantPast }
        return now.addingTimeInterval(Double(min(seconds, maximumLifetime)))
    }

    /// Letters outside ASCII stay as they are and match no host: some have a
    /// lower case within ASCII, which would be another domain.
    static func canonicalDomain(_ text: String) -> String {
        let bytes = text.utf8.first == UInt8(ascii: ".") ? text.utf8.dropFirst() : text.utf8[...]
        return String(decoding: bytes.map { $0.isCapital ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func pair(_ part: ArraySlice<UInt8>) -> (name: String, value: String?) {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<equals]), trimmed(part[(equals + 1)...]))
    }

    private static func trimmed(_ part: ArraySlice<UInt8>) -> String {
        let isText = { (byte: UInt8) in byte != 0x20 && byte != 0x09 }
        guard let first = part.firstIndex(where: isText), let last = part.lastIndex(where: isText) else { return "" }
        return String(decoding: part[first...last], as: UTF8.self)
    }

    /// Whether it is sent with a request (RFC 6265bis §5.8.3).
    func isFor(_ address: CookieAddress) -> Bool {
        let isDomainRight = isHostOnly ? address.host == domain : Self.host(address.host, matches: domain)
        return isDomainRight && (address.isSecure || !isSecure) && Self.path(address.path, matches: path)
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether the later one replaces the earlier one (RFC 6265bis §5.7).
    func isSame(as other: Cookie) -> Bool {
        hasName(of: other) && path.utf8.elementsEqual(other.path.utf8) && domain == other.domain
            && isHostOnly == other.isHostOnly
    }

    /// Whether another one, set without HTTPS, would replace or imitate this Secure one (RFC 6265bis §5.7).
    func isSecureAgainst(_ other: Cookie) -> Bool {
        isSecure && hasName(of: other) && Self.path(other.path, matches: path)
            && (Self.host(domain, matches: other.domain) || Self.host(other.domain, matches: domain))
    }

    /// Whether the bytes are equal: Swift's texts are, too, if their characters are.
    private func hasName(of other: Cookie) -> Bool { name.utf8.elementsEqual(other.name.utf8) }

    /// Whether a host is a domain or a subdomain of it (RFC 6265bis §5.1.3).
    static func host(_ host: String, matches domain: String) -> Bool {
        let rest = host.utf8.count - domain.utf8.count
        guard rest > 0 else { return host == domain }
        return host.utf8.dropFirst(rest).elementsEqual(domain.utf8)
            && host.utf8.dropFirst(rest - 1).first == UInt8(ascii: ".") && !isAddress(host)
    }

    /// Whether a request's path is inside a cookie's path (RFC 6265bis §5.1.4).
    static func path(_ path: String, matches cookiePath: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }

    /// A host that ends in a number is an IPv4 address.
    static func isAddress(_ host: String) -> Bool {
        let last = host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }
        return host.utf8.first == UInt8(ascii: "[") || (!last.isEmpty && last.allSatisfy(\.isDigit))
    }

    /// A domain must be the host or a parent domain with at least two labels:
    /// only the host itself may set a cookie for `com`, `localhost`, or a name with a dot at its end, such as `com.`.
    private static func scope(of domain: String?, host: String) -> (domain: String, isHostOnly: Bool)? {
        guard let domain else { return (host, true) }
        let isShort = !domain.utf8.contains(UInt8(ascii: ".")) || domain.utf8.last == UInt8(ascii: ".")
        if domain == host, isShort || isAddress(host) { return (host, true) }
        return !isShort && Self.host(host, matches: domain) ? (domain, false) : nil
    }

    private static func begins(_ name: String, with prefix: String) -> Bool {
        HeaderFields.isSameName(String(decoding: name.utf8.prefix(prefix.utf8.count), as: UTF8.self), prefix)
    }
}

extension TargetURL {
    var cookieAddress: CookieAddress { CookieAddress(host: host, path: path, isSecure: scheme == .https) }
}
