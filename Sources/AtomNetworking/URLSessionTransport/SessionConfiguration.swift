import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The system's session configuration of a service.
public enum SessionConfiguration: Sendable, Hashable {
    /// A background session with the given identifier, on Apple platforms.
    ///
    /// On other platforms every `resume` fails with
    /// ``RequestableError/unsupportedConfiguration(_:)``.
    case background(String)

    /// Cookies are stored in `HTTPCookieStorage.shared`, for the whole process.
    ///
    /// The same rules as with ``ephemeral`` decide which cookies are accepted
    /// and sent. Foundation decides which are kept, and for how long.
    case `default`

    /// Nothing is written to disk. Cookies are stored in the ``Atom``'s own
    /// jar, as long as it exists.
    ///
    /// The jar follows RFC 6265bis and is limited: 50 cookies of a domain,
    /// 3,000 in all, and 8,190 octets in the `Cookie` line of one request.
    case ephemeral
}

extension SessionConfiguration {
    /// Why this platform doesn't support it, or `nil` if it does.
    var violation: RequestableError? {
        #if canImport(FoundationNetworking)
            if case .background(let identifier) = self {
                return .unsupportedConfiguration(
                    .init(subject: "background(\(identifier))", reason: "this platform has no background sessions"))
            }
        #endif
        return nil
    }

    /// The shared cookie storage; `nil` if each service has its own jar.
    var cookieStorage: HTTPCookieStorage? {
        switch self {
        case .background, .default: .shared
        case .ephemeral: nil
        }
    }

    /// The system's configuration without everything that the SDK does itself
    /// or doesn't use: cookies, caches, credentials and timeouts.
    var urlSessionConfiguration: URLSessionConfiguration {
        let configuration: URLSessionConfiguration
        switch self {
        case .background(let identifier):
            #if canImport(FoundationNetworking)
                // Rejected before a session is created; see `violation`.
                _ = identifier
                configuration = .ephemeral
            #else
                configuration = .background(withIdentifier: identifier)
            #endif
        case .default: configuration = .default
        case .ephemeral: configuration = .ephemeral
        }
        // Only the accept policy prevents Foundation on Linux from parsing
        // cookies in every header line.
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Each request has its own idle timeout; the session's 60 seconds must
        // not be shorter.
        configuration.timeoutIntervalForRequest = Duration.year.seconds
        configuration.timeoutIntervalForResource = Duration.year.seconds
        return configuration
    }
}
