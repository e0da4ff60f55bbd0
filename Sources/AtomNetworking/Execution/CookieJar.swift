import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The cookies of a service (RFC 6265), kept by Foundation's storage.
///
/// Until a server sets the first cookie this costs one look at a flag per
/// request.
final class CookieJar: @unchecked Sendable {
    // `mayHaveCookies` is touched under `lock` only; the storage is thread-safe.
    private let lock = NSLock()
    private var mayHaveCookies: Bool
    private let storage: HTTPCookieStorage?

    init(storage: HTTPCookieStorage?) {
        self.storage = storage
        mayHaveCookies = storage?.cookies?.isEmpty == false
    }

    /// The value of the `Cookie` field for a request, or `nil` for none.
    func header(for target: TargetURL) -> String? {
        guard lock.withLock({ mayHaveCookies }), let storage, let url = target.url,
            let cookies = storage.cookies(for: url), !cookies.isEmpty
        else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }

    /// Keeps what an answer sets.
    func store(from response: TransportResponse, for target: TargetURL) {
        guard let storage, response.headerFields.contains("Set-Cookie"), let url = target.url else { return }
        for value in response.headerFields.values(for: "Set-Cookie") {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url)
            guard !cookies.isEmpty else { continue }
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
            lock.withLock { mayHaveCookies = true }
        }
    }
}
