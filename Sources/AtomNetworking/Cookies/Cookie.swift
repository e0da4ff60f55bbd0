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
    /// Whether the cookie is sent only to this host and not to subdomains.
    let isHostOnly: Bool
    let path: String
    let isSecure: Bool
    var isHTTPOnly = false
    /// `nil` for a cookie that lasts as long as the jar.
    let expires: Date?

    /// When the cookie was first set, and when it was last set or sent, in steps of the
    /// jar: a clock may be changed or stand still.
    var creation: UInt64 = 0
    var lastAccess: UInt64 = 0
}

extension Cookie {
    /// Checks what a server sets; `nil` if it isn't allowed.
    init?(_ received: SetCookie, from address: CookieAddress) {
        guard let scope = Self.scope(of: received.domain, host: address.host),
            !received.isSecure || address.isSecure
        else { return nil }
        self.init(
            name: received.name, value: received.value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: received.path ?? address.folder, isSecure: received.isSecure, isHTTPOnly: received.isHTTPOnly,
            expires: received.expires)
        // Many servers ignore the case of names (RFC 6265bis §4.1.3).
        if Self.begins(name, with: "__Secure-"), !isSecure { return nil }
        if Self.begins(name, with: "__Host-"), !isSecure || !isHostOnly || received.path != "/" { return nil }
    }

    /// Whether it is sent with a request (RFC 6265bis §5.8.3).
    func isFor(_ address: CookieAddress) -> Bool {
        let isDomainRight = isHostOnly ? address.host == domain : Self.host(address.host, matches: domain)
        return isDomainRight && (address.isSecure || !isSecure) && Self.path(address.path, matches: path)
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether the later one replaces the earlier one (RFC 6265bis §5.7).
    func isSame(as other: Cookie) -> Bool {
        name == other.name && path == other.path && domain == other.domain && isHostOnly == other.isHostOnly
    }

    /// Whether this is a Secure cookie that the other one, set without HTTPS,
    /// would replace or imitate (RFC 6265bis §5.7).
    func isSecureAgainst(_ other: Cookie) -> Bool {
        isSecure && name == other.name && Self.path(other.path, matches: path)
            && (Self.host(domain, matches: other.domain) || Self.host(other.domain, matches: domain))
    }

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
    /// only the host itself may set a cookie for `com` or `localhost`.
    private static func scope(of domain: String?, host: String) -> (domain: String, isHostOnly: Bool)? {
        guard let domain else { return (host, true) }
        let isShort = !domain.utf8.contains(UInt8(ascii: "."))
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
