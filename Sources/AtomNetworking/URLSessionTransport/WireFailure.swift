import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The meaning of a URLSession error, as text, and how far the request got.
///
/// Foundation on Linux reports both TLS failures and truncated bodies as
/// "unknown", and a response that isn't HTTP as "unsupported URL". Its
/// description, which comes from libcurl, distinguishes them.
struct WireFailure {
    let error: any Error
    /// Whether the head of a response had arrived.
    let hasResponse: Bool
    let isSecure: Bool

    var transportFailure: TransportFailure {
        let (code, explanation, delivery) = diagnosis
        return TransportFailure(
            URLError(code, explanation, delivery: delivery, underlying: error), delivery: delivery)
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
            return (.timedOut, "The server did not respond in time", started)
        case .networkConnectionLost:
            return (.networkConnectionLost, "The connection was lost", started)
        case .cancelled:
            return (.cancelled, "The exchange was cancelled", started)
        case .badServerResponse:
            return (.networkConnectionLost, "The server closed the connection without a response", started)
        case .unsupportedURL:
            return (.badServerResponse, "The server's response is not HTTP", started)
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

    /// Uses libcurl's description to distinguish errors that Foundation on
    /// Linux reports as one.
    private func unknown(
        _ error: URLError, _ started: AtomError.Delivery
    ) -> (URLError.Code, String, AtomError.Delivery) {
        let text = error.localizedDescription
        if hasResponse {
            return text.contains("transfer closed") || text.contains("bytes missing")
                ? (.networkConnectionLost, "The connection was closed before the whole body had arrived", .answered)
                : (.cannotDecodeRawData, "The body of the server's response can't be read: \(text)", .answered)
        }
        if let complaint = Self.complaint(aboutHead: text) {
            return (.cannotParseResponse, "The head of the server's response can't be read: \(complaint)", started)
        }
        if isSecure { return insecure(text) }
        if text.contains("Send failure") { return (.networkConnectionLost, "The connection was lost", started) }
        return (.cannotParseResponse, "The server's response can't be read: \(text)", started)
    }

    private static func complaint(aboutHead text: String) -> String? {
        if text.contains("Too large response headers") || text.contains("Out of memory") { return "it is too large" }
        if text.contains("Failed writing header") { return "its status line is incomplete or it is not UTF-8" }
        return text.contains("Header without colon") || text.contains("Invalid Content-Length") ? text : nil
    }

    /// A failure before the end of the handshake can't have sent the request.
    private func insecure(_ text: String) -> (URLError.Code, String, AtomError.Delivery) {
        if text.contains("SSL_read") || text.contains("SSL_write") {
            return (.secureConnectionFailed, "The secure connection broke: \(text)", .maybeSent)
        }
        let explanation = "No secure connection could be made: \(text)"
        if text.contains("certificate") {
            let isDated = text.contains("expired") || text.contains("not yet valid")
            return (isDated ? .serverCertificateHasBadDate : .serverCertificateUntrusted, explanation, .notSent)
        }
        if text.contains("wrong version number") {
            return (.secureConnectionFailed, explanation + " (the server does not use TLS)", .notSent)
        }
        let isHandshake = text.contains("SSL_connect") || text.contains("SSL routines") || text.contains("handshake")
        return (.secureConnectionFailed, explanation, isHandshake ? .notSent : .maybeSent)
    }
}
