import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What an error of URLSession means, in words, and how far the request got.
///
/// Foundation on Linux reports TLS failures and truncated bodies alike as
/// "unknown", and an answer that isn't HTTP as "unsupported URL"; its
/// description, which is libcurl's, tells them apart.
struct WireFailure {
    let error: any Error
    /// Whether the head of an answer had arrived.
    let hasResponse: Bool
    let isSecure: Bool

    var transportFailure: TransportFailure {
        let (code, explanation, delivery) = diagnosis
        return TransportFailure(
            URLError(code, explanation, delivery: delivery, underlying: Self.redacted(error)), delivery: delivery)
    }

    private var diagnosis: (URLError.Code, String, AtomError.Delivery) {
        let started: AtomError.Delivery = hasResponse ? .answered : .maybeSent
        guard let error = error as? URLError else {
            return (.unknown, "The exchange failed: \(type(of: error))", started)
        }
        switch error.code {
        case .cannotConnectToHost:
            return (.cannotConnectToHost, "The server refused the connection or can't be reached", .notSent)
        case .cannotFindHost, .dnsLookupFailed:
            return (.cannotFindHost, "No server with this name was found", .notSent)
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff:
            return (error.code, "There is no network connection", .notSent)
        case .timedOut:
            return (.timedOut, "The server did not answer in time", started)
        case .networkConnectionLost:
            return (.networkConnectionLost, "The connection was lost", started)
        case .cancelled:
            return (.cancelled, "The exchange was cancelled", started)
        case .badServerResponse:
            return (.networkConnectionLost, "The server closed the connection without an answer", started)
        case .unsupportedURL:
            return (.badServerResponse, "The server's answer is not HTTP", started)
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            return (error.code, "No secure connection could be made: \(error.localizedDescription)", .notSent)
        case .unknown:
            return unknown(error, started)
        default:
            return (error.code, error.localizedDescription, started)
        }
    }

    private func unknown(
        _ error: URLError, _ started: AtomError.Delivery
    ) -> (URLError.Code, String, AtomError.Delivery) {
        if hasResponse {
            return (.networkConnectionLost, "The connection was closed before the whole body had arrived", .answered)
        }
        if isSecure {
            return (
                .secureConnectionFailed, "No secure connection could be made: \(error.localizedDescription)", .maybeSent
            )
        }
        return (.cannotParseResponse, "The server's answer could not be read: \(error.localizedDescription)", started)
    }

    /// The error without the URL that Foundation notes in it, whose query may
    /// hold a secret.
    private static func redacted(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return error }
        return URLError(error.code, userInfo: error.userInfo.filter { !$0.key.contains("FailingURL") })
    }
}
