import Foundation

/// The cookies that a service keeps in memory (RFC 6265bis §5.7 and §5.8), at most 50 of a domain and 3,000 in all.
///
/// Beyond that, expired cookies are removed first, then, within a domain, those that
/// aren't `Secure`; in each group those that were unused for the longest time.
struct CookieJar: Equatable {
    static let maximumPerDomain = 50
    static let maximumCount = 3_000

    /// By domain; no list is empty.
    private var domains: [String: [Cookie]] = [:]
    private(set) var count = 0
    private var step: UInt64 = 0

    var isEmpty: Bool { count == 0 }

    /// Stores a cookie, or removes the older one if this one has expired.
    mutating func keep(_ cookie: Cookie, from address: CookieAddress, at now: Date) {
        guard address.isSecure || !isLeftAlone(by: cookie, at: now) else { return }
        step += 1
        var cookie = cookie
        cookie.creation = step
        cookie.lastAccess = step
        change(cookie.domain) { kept in
            if let index = kept.firstIndex(where: { $0.isSame(as: cookie) }) {
                // It keeps its place in the order, unless the old one had expired.
                let old = kept.remove(at: index)
                if !old.isExpired(at: now) { cookie.creation = old.creation }
            }
            guard !cookie.isExpired(at: now) else { return }
            kept.append(cookie)
            guard kept.count > Self.maximumPerDomain else { return }
            let order = { (cookie: Cookie) in
                (cookie.isExpired(at: now) ? 0 : 1, cookie.isSecure ? 1 : 0, cookie.lastAccess, cookie.creation)
            }
            if let index = kept.indices.min(by: { order(kept[$0]) < order(kept[$1]) }) { kept.remove(at: index) }
        }
        if count > Self.maximumCount { removeOne(at: now) }
    }

    /// The value of the `Cookie` field, if there is one; its cookies count as used.
    mutating func field(for address: CookieAddress, at now: Date) -> String? {
        var matching: [Cookie] = []
        for domain in address.domains where domains[domain] != nil {
            change(domain) { kept in
                kept.removeAll { $0.isExpired(at: now) }
                matching += kept.filter { $0.isFor(address) }
            }
        }
        guard !matching.isEmpty else { return nil }
        step += 1
        let field = CookieField(of: matching)
        for cookie in field.cookies {
            guard let index = domains[cookie.domain]?.firstIndex(where: { $0.isSame(as: cookie) }) else { continue }
            domains[cookie.domain]?[index].lastAccess = step
        }
        return field.value
    }

    /// Whether the cookie, set without HTTPS, conflicts with a Secure one.
    private func isLeftAlone(by cookie: Cookie, at now: Date) -> Bool {
        domains.contains { domain, kept in
            (Cookie.host(domain, matches: cookie.domain) || Cookie.host(cookie.domain, matches: domain))
                && kept.contains { $0.isSecureAgainst(cookie) && !$0.isExpired(at: now) }
        }
    }

    private mutating func removeOne(at now: Date) {
        let order = { (cookie: Cookie) in (cookie.isExpired(at: now) ? 0 : 1, cookie.lastAccess, cookie.creation) }
        guard let first = domains.values.joined().min(by: { order($0) < order($1) }) else { return }
        change(first.domain) { kept in kept.removeAll { $0.isSame(as: first) } }
    }

    private mutating func change(_ domain: String, _ body: (inout [Cookie]) -> Void) {
        var kept = domains.removeValue(forKey: domain) ?? []
        count -= kept.count
        body(&kept)
        count += kept.count
        if !kept.isEmpty { domains[domain] = kept }
    }
}

/// The `Cookie` field of one request (RFC 6265bis §5.8.3).
///
/// A server can set more cookies than any server accepts: every later request would get a 431. So the line has at most
/// 8,190 octets, as with curl and Apache, of the cookies that were set or sent last.
struct CookieField: Equatable {
    static let maximumLength = 8_190 - "Cookie: ".utf8.count

    /// As they are sent: longer paths first, then those that were set first.
    let cookies: [Cookie]

    init(of matching: [Cookie]) { cookies = Self.fitting(matching).sorted(by: Self.isEarlier) }

    var value: String? { cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }

    private static func fitting(_ matching: [Cookie]) -> [Cookie] {
        // No semicolon and space follow the last cookie.
        var room = maximumLength + 2
        guard matching.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }) > room else { return matching }
        let latest = matching.sorted { one, other in
            one.lastAccess == other.lastAccess ? isEarlier(one, other) : one.lastAccess > other.lastAccess
        }
        return latest.filter { cookie in
            guard length(of: cookie) <= room else { return false }
            room -= length(of: cookie)
            return true
        }
    }

    private static func length(of cookie: Cookie) -> Int {
        OpaqueOctets.octets(of: "\(cookie.name)=\(cookie.value); ").count
    }

    private static func isEarlier(_ one: Cookie, _ other: Cookie) -> Bool {
        (other.path.utf8.count, one.creation) < (one.path.utf8.count, other.creation)
    }
}
