import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The system's session configuration of a service.
public enum SessionConfiguration: Sendable, Hashable {
    /// A background session, which is not supported: every `resume` fails with
    /// ``RequestableError/unsupportedConfiguration(_:)``.
    ///
    /// It carries out only uploads and downloads of files while the app is suspended,
    /// follows redirects by itself, and can't wait for a refresh of the tokens.
    case background(String)

    /// Cookies are stored in `HTTPCookieStorage.shared`, for the whole process.
    ///
    /// The same rules as with ``ephemeral`` decide which cookies are accepted
    /// and sent. Foundation decides which are kept, and for how long.
    case `default`

    /// Nothing is written to disk. Cookies are stored in the ``Atom``'s own jar, as long as it exists.
    ///
    /// The jar follows RFC 6265bis and is limited: 50 cookies of a domain,
    /// 3,000 in all, and 8,190 octets in the `Cookie` line of one request.
    case ephemeral
}

extension SessionConfiguration {
    /// Why it isn't supported, or `nil` if it is.
    var violation: RequestableError? {
        guard case .background(let identifier) = self else { return nil }
        return .unsupportedConfiguration(
            .init(
                subject: "background(\(identifier))",
                reason: """
                    a background session can't send these requests: it only uploads and downloads files, follows \
                    redirects by itself and can't refresh tokens; use .default or .ephemeral
                    """))
    }

    /// The shared cookie storage; `nil` if each service has its own jar.
    var cookieStorage: HTTPCookieStorage? {
        switch self {
        case .background, .default: .shared
        case .ephemeral: nil
        }
    }

    /// The system's configuration, changed, without what the SDK does itself or
    /// doesn't use: cookies, caches, credentials and timeouts.
    func urlSessionConfiguration(
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSessionConfiguration {
        let configuration: URLSessionConfiguration
        switch self {
        case .default: configuration = .default
        // A background session is rejected before a session is created; see `violation`.
        case .ephemeral, .background: configuration = .ephemeral
        }
        #if canImport(Darwin)
            // App Transport Security asks for it in apps only; as libcurl is told (RFC 9325 §3.1.1).
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
        // The service limits its exchanges, but a stream that is read and a download don't count there. By itself the
        // system opens six connections to a server, on some systems four; a request beyond them would wait unseen.
        configuration.httpMaximumConnectionsPerHost = 1_000
        configure(configuration)
        // Or Foundation on Linux would look for cookies in every header line.
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Each request has its own, which may be longer than 60 seconds.
        configuration.timeoutIntervalForRequest = Duration.year.seconds
        configuration.timeoutIntervalForResource = Duration.year.seconds
        return configuration
    }
}
