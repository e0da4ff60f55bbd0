import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The cookies of a service (RFC 6265), kept by Foundation's storage.
///
/// The rules are applied here: Foundation on Linux sends cookies whatever
/// their path, expiry and `Secure` flag, passes over `Max-Age`, takes a cookie
/// for `.com` from any host below it, and traps on a field whose name holds
/// characters of more than one code unit.
///
/// Until a server sets the first cookie this costs one look at a flag per
/// request, except in the process's own storage, which others fill too.
final class CookieJar: @unchecked Sendable {
    // The storage is thread-safe.
    private let isUsed: Guarded<Bool>
    private let storage: HTTPCookieStorage?

    init(storage: HTTPCookieStorage?) {
        self.storage = storage
        isUsed = Guarded(storage === HTTPCookieStorage.shared)
    }

    /// Whether it is worth asking for the cookies of a request.
    var mayHaveCookies: Bool { isUsed.withLock { $0 } }

    /// The value of the `Cookie` field for a request, or `nil` for none
    /// (RFC 6265 §5.4).
    func header(for target: TargetURL) -> String? {
        guard mayHaveCookies, let cookies = storage?.cookies else { return nil }
        let now = Date()
        let wanted = cookies.filter { $0.isFor(target, at: now) }
            .sorted { ($1.path.utf8.count, $0.name) < ($0.path.utf8.count, $1.name) }
        return wanted.isEmpty ? nil : wanted.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// Keeps what an answer sets.
    func store(from response: TransportResponse, for target: TargetURL) {
        guard let storage, response.headerFields.contains("Set-Cookie") else { return }
        let now = Date()
        for field in response.headerFields.values(for: "Set-Cookie") {
            guard let cookie = SetCookie(field, from: target, now: now)?.cookie else { continue }
            // One that has expired takes an older one of its name away.
            storage.setCookie(cookie)
            isUsed.withLock { $0 = true }
        }
    }
}

extension HTTPCookie {
    /// Whether it goes with a request: domain, path, scheme and expiry.
    fileprivate func isFor(_ target: TargetURL, at now: Date) -> Bool {
        if let expiresDate, expiresDate <= now { return false }
        if isSecure, target.scheme != .https { return false }
        let domain = domain.lowercased()
        let isDomainRight =
            domain.hasPrefix(".")
            ? SetCookie.host(target.host, matches: domain.dropFirst()) : target.host == domain
        return isDomainRight && SetCookie.path(target.cookiePath, matches: path)
    }
}
