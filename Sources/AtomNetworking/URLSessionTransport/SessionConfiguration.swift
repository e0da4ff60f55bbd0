import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which of the system's session configurations a service uses.
public enum SessionConfiguration: Sendable, Hashable {
    /// A background session with the given identifier, on Apple's systems.
    /// Elsewhere every `resume` fails with
    /// ``RequestableError/unsupportedConfiguration(_:)``.
    case background(String)

    /// Cookies are the process's, kept by `HTTPCookieStorage.shared`.
    ///
    /// Which of them are taken and sent is judged as with ``ephemeral``; what
    /// is kept, and for how long, is Foundation's to decide.
    case `default`

    /// Nothing is written to disk; cookies last as long as the ``Atom``, in a
    /// jar of its own.
    ///
    /// The jar goes by RFC 6265bis and is bounded: 50 cookies of a domain, 3,000
    /// in all, and 8,190 octets in the `Cookie` line of one request.
    case ephemeral
}

extension SessionConfiguration {
    /// Why this platform can't offer it, or `nil` if it can.
    var violation: RequestableError? {
        #if canImport(FoundationNetworking)
            if case .background(let identifier) = self {
                return .unsupportedConfiguration(
                    .init(subject: "background(\(identifier))", reason: "this platform has no background sessions"))
            }
        #endif
        return nil
    }

    /// Where cookies are kept; `nil` for the memory of each service.
    var cookieStorage: HTTPCookieStorage? {
        switch self {
        case .background, .default: .shared
        case .ephemeral: nil
        }
    }

    /// The system's configuration, with all that lives above the seam or costs
    /// without use switched off: cookies, caches, credentials and timeouts.
    var urlSessionConfiguration: URLSessionConfiguration {
        let configuration: URLSessionConfiguration
        switch self {
        case .background(let identifier):
            #if canImport(FoundationNetworking)
                // Refused before a session is made; see `violation`.
                _ = identifier
                configuration = .ephemeral
            #else
                configuration = .background(withIdentifier: identifier)
            #endif
        case .default: configuration = .default
        case .ephemeral: configuration = .ephemeral
        }
        // The accept policy alone keeps Foundation on Linux from parsing cookies in every header line.
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Each request says how long its silence may last; the session's 60 seconds must not cut that short.
        configuration.timeoutIntervalForRequest = Duration.year.seconds
        configuration.timeoutIntervalForResource = Duration.year.seconds
        return configuration
    }
}
