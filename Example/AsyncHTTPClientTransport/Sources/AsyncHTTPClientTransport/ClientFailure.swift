import AsyncHTTPClient
import AtomNetworking
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The meaning of an AsyncHTTPClient error, as text, and how far the request got.
struct ClientFailure {
    /// How far an exchange got.
    enum Stage: Int, Comparable {
        /// Nothing has been written. A server can't act on a request before the complete head has been sent.
        case unsent
        /// The head has been written.
        case sent
        /// The head of the response has arrived.
        case answered

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// What AsyncHTTPClient accepts and the transport doesn't.
    enum Refusal: Error {
        case head(String)
        case body(String)
    }

    let error: any Error
    let stage: Stage
    var isCancelled = false

    var transportFailure: TransportFailure {
        let (code, explanation) = isCancelled ? (.cancelled, "The exchange was cancelled") : diagnosis
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: explanation]
        // AsyncHTTPClient quotes the header fields that it rejects.
        if !isRefusal { userInfo[NSUnderlyingErrorKey] = error }
        return TransportFailure(URLError(code, userInfo: userInfo), delivery: delivery)
    }

    private var delivery: AtomError.Delivery {
        switch stage {
        case .unsent: .notSent
        case .sent: .maybeSent
        case .answered: .answered
        }
    }

    private var diagnosis: (URLError.Code, String) {
        switch error {
        case let error as NIOConnectionError: connection(error)
        case is IOError: stage == .unsent ? unreachable : lost
        case let error as HTTPClientError: client(error)
        case let error as HTTPParserError: parser(error)
        case Refusal.head(let reason): unreadableHead(reason)
        case Refusal.body(let reason): unreadableBody(reason)
        case is NIOHTTPDecoderError: (.badServerResponse, "The server's response is not HTTP")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            unreadableBody("\(error)")
        case is SocketAddressError: noHost
        default: Self.isConnectTimeout(error) ? timedOut : isSecurity ? insecure : lost
        }
    }

    private var noHost: (URLError.Code, String) { (.cannotFindHost, "No server with this name was found") }

    private var unreachable: (URLError.Code, String) {
        (.cannotConnectToHost, "The server refused the connection or can't be reached")
    }

    private var timedOut: (URLError.Code, String) { (.timedOut, "The server did not respond in time") }

    private static func isConnectTimeout(_ error: any Error) -> Bool {
        if case .connectTimeout? = error as? ChannelError { true } else { false }
    }

    private var lost: (URLError.Code, String) {
        switch stage {
        case .unsent: (.networkConnectionLost, "The connection was lost")
        case .sent: (.networkConnectionLost, "The server closed the connection without a response")
        case .answered:
            (.networkConnectionLost, "The connection was closed before the whole body had arrived")
        }
    }

    private func connection(_ error: NIOConnectionError) -> (URLError.Code, String) {
        if error.connectionErrors.isEmpty { return noHost }
        return error.connectionErrors.contains { Self.isConnectTimeout($0.error) } ? timedOut : unreachable
    }

    private func client(_ error: HTTPClientError) -> (URLError.Code, String) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout,
            .httpProxyHandshakeTimeout:
            timedOut
        case .readTimeout, .writeTimeout, .deadlineExceeded: (.timedOut, "The server did not respond in time")
        case .alreadyShutdown: (.cancelled, "The transport has been shut down")
        case .cancelled: (.cancelled, "The transport has been shut down")
        case .invalidURL, .emptyHost, .emptyScheme: (.badURL, "The URL can't be requested")
        case .invalidProxyResponse, .proxyAuthenticationRequired:
            (.cannotConnectToHost, "The proxy made no connection to the server: \(error.shortDescription)")
        default:
            if isRefusal {
                (.unknown, "AsyncHTTPClient rejects the request: \(error.shortDescription)")
            } else if error.shortDescription == Self.unsupportedProtocol {
                (.secureConnectionFailed, "The server offered no protocol that AsyncHTTPClient supports")
            } else {
                lost
            }
        }
    }

    private static let unsupportedProtocol =
        HTTPClientError.serverOfferedUnsupportedApplicationProtocol("").shortDescription

    private var isRefusal: Bool {
        guard let error = error as? HTTPClientError else { return false }
        let refusals: [HTTPClientError] = [
            .invalidHeaderFieldNames([]), .invalidHeaderFieldValues([]), .traceRequestWithBody,
        ]
        return refusals.contains { $0.shortDescription == error.shortDescription }
    }

    private func unreadableHead(_ reason: String) -> (URLError.Code, String) {
        (.cannotParseResponse, "The head of the server's response can't be read: \(reason)")
    }

    private func unreadableBody(_ reason: String) -> (URLError.Code, String) {
        (.cannotDecodeRawData, "The body of the server's response can't be read: \(reason)")
    }

    private func parser(_ error: HTTPParserError) -> (URLError.Code, String) {
        if stage == .answered {
            if case .invalidEOFState = error { return lost }
            return unreadableBody("\(error)")
        }
        switch error {
        case .invalidEOFState, .closedConnection: return lost
        case .headerOverflow: return unreadableHead("it is too large")
        case .invalidConstant, .invalidVersion, .invalidStatus, .invalidMethod, .unknown:
            return (.badServerResponse, "The server's response is not HTTP")
        default:
            return unreadableHead("\(error)")
        }
    }
}

// MARK: - Secure connections

extension ClientFailure {
    private var isSecurity: Bool { error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError }

    private var insecure: (URLError.Code, String) {
        guard stage == .unsent else {
            return (.secureConnectionFailed, "The secure connection broke: \(error)")
        }
        let text = String(describing: error)
        let (code, reason): (URLError.Code, String) =
            if error is NIOSSLExtraError {
                (.serverCertificateUntrusted, " (the certificate is for another host)")
            } else if text.contains("CERTIFICATE_VERIFY_FAILED") {
                (.serverCertificateUntrusted, " (the certificate is not trusted)")
            } else {
                (.secureConnectionFailed, text.contains("WRONG_VERSION_NUMBER") ? " (the server does not use TLS)" : "")
            }
        return (code, "No secure connection could be made: \(text)\(reason)")
    }
}
