import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where a service stores its cookies: in its own jar, or in Foundation's storage, which the whole process shares.
///
/// The SDK applies the rules in both cases. Foundation on Linux ignores path, expiry, `Secure` and `Max-Age`, accepts a
/// cookie for `.com`, traps on a name with characters of more than one code unit, and stores only one of `sid` for
/// `/api` and `apisid` for `/`. Its storage may write to disk and call observers: no lock is held then.
///
/// Cookies are one person's: they go when somebody has gone from the session, or when the app removes them. What
/// earlier attempts bring home isn't kept then.
final class CookieStore: @unchecked Sendable {
    /// How many `Set-Cookie` lines of one response are read, as with curl.
    static let maximumPerAnswer = 50

    // Foundation's storage is thread-safe.
    private let storage: HTTPCookieStorage?

    private struct Content {
        var jar = CookieJar()
        /// Whose they are.
        var tenure = Tenure.nobody
    }

    private let content = Guarded(Content())

    init(system: HTTPCookieStorage?) { storage = system }

    /// Whether no code but the SDK's keeps the cookies.
    var isInMemory: Bool { storage == nil }

    /// Gives the cookies to whose they are now.
    ///
    /// - Returns: The tenure with its cookies, and whether there may be any; none if others have come since.
    func give(to tenure: Tenure) -> (Tenure, mayHaveCookies: Bool) {
        content.withLock { content in
            let given = tenure.with(cookiesOf: content.tenure)
            if given.isAfterDeparture(since: content.tenure) {
                content.tenure = given
                content.jar = CookieJar()
            }
            return (given, given.hasSameCookies(as: content.tenure) && (storage != nil || !content.jar.isEmpty))
        }
    }

    /// Removes all cookies, and those that attempts in flight bring home.
    func removeAll() {
        content.withLock { content in
            content.tenure.cookiesAreRemoved()
            content.jar = CookieJar()
        }
        for cookie in storage?.cookies ?? [] { storage?.deleteCookie(cookie) }
    }

    func field(for address: CookieAddress, of tenure: Tenure, at now: Date) -> String? {
        guard let storage else {
            return content.withLock {
                tenure.hasSameCookies(as: $0.tenure) ? $0.jar.field(for: address, at: now) : nil
            }
        }
        guard content.withLock({ tenure.hasSameCookies(as: $0.tenure) }) else { return nil }
        var matching = storage.kept(at: now).filter { $0.isFor(address) }.sorted { $0.name < $1.name }
        // The order of creation isn't known: the name decides.
        for index in matching.indices { matching[index].creation = UInt64(index) }
        return CookieField(of: matching).value
    }

    func keep(_ fields: HeaderFields, from address: CookieAddress, of tenure: Tenure, at now: Date) {
        for line in fields.values(for: "Set-Cookie").prefix(Self.maximumPerAnswer) {
            guard let cookie = Cookie(line, from: address, at: now) else { continue }
            let isCurrent = content.withLock { content in
                guard tenure.hasSameCookies(as: content.tenure) else { return false }
                if storage == nil { content.jar.keep(cookie, from: address, at: now) }
                return true
            }
            guard isCurrent else { return }
            if let storage {
                if !address.isSecure, storage.kept(at: now).contains(where: { $0.isSecureAgainst(cookie) }) { continue }
                // A cookie that has expired removes an older one with its name.
                guard let cookie = HTTPCookie(cookie) else { continue }
                storage.setCookie(cookie)
                // The app may have removed all of them meanwhile.
                if content.withLock({ !tenure.hasSameCookies(as: $0.tenure) }) { storage.deleteCookie(cookie) }
            }
        }
    }
}

extension HTTPCookieStorage {
    fileprivate func kept(at now: Date) -> [Cookie] {
        (cookies ?? []).compactMap { Cookie($0) }.filter { !$0.isExpired(at: now) }
    }
}

extension Cookie {
    /// `nil` for a cookie that can't be sent.
    fileprivate init?(_ cookie: HTTPCookie) {
        guard !Self.holdsControlCharacter(cookie.name + cookie.value) else { return nil }
        // A leading dot means that subdomains get the cookie too.
        self.init(
            name: cookie.name, value: cookie.value, domain: Self.canonicalDomain(cookie.domain),
            isHostOnly: cookie.domain.utf8.first != UInt8(ascii: "."), path: cookie.path, isSecure: cookie.isSecure,
            expires: cookie.expiresDate)
    }
}

extension HTTPCookie {
    fileprivate convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .path: cookie.path, .version: "0",
            .domain: cookie.isHostOnly ? cookie.domain : "." + cookie.domain,
        ]
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey(rawValue: "HttpOnly")] = "TRUE" }
        if let expires = cookie.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        self.init(properties: properties)
    }
}
