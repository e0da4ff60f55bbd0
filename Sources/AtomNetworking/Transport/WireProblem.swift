import Foundation

/// What went wrong on the wire, whichever transport noticed it.
enum WireProblem: Equatable {
    case badURL
    case unknownHost
    case unknownProxy
    case refused
    case offline(URLError.Code)
    /// App Transport Security forbids the request.
    case blocked
    case timedOut
    case cancelled
    /// The connection was lost before the response was complete.
    case lost
    /// The server closed the connection, and no byte of a response had arrived.
    case closedWithoutResponse
    /// The server has said that it did not process the request, over HTTP/2.
    case unprocessed
    /// The same as `closedWithoutResponse` for a new connection: the server was reached.
    case closedAtOnce(isSecure: Bool)
    /// The same as `lost` for a new connection without TLS, before any byte of a response.
    case lostAtOnce
    /// The connection ended within the head.
    case truncatedHead
    case notHTTP(isSecure: Bool)
    /// The head of the response is invalid; the text says why.
    case unreadableHead(String)
    /// The response as a whole is invalid; the text says why.
    case unreadableResponse(String)
    /// The connection ended within the body.
    case truncatedBody
    /// A content or transfer coding of the body is invalid; the text says why.
    case unreadableBody(String)
    /// The TLS handshake failed; the text says why.
    case insecure(URLError.Code, String)
    /// An established TLS connection broke.
    case insecureLater(String)
    /// The proxy did not open a connection to the server.
    case proxy(String)
    /// What names the proxy is invalid; the text says what it is.
    case unusableProxy(String)
    case other(URLError.Code, String)

    var code: URLError.Code {
        switch self {
        // No other attempt would cure it.
        case .badURL, .unusableProxy: .badURL
        case .unknownHost, .unknownProxy: .cannotFindHost
        case .refused, .proxy: .cannotConnectToHost
        case .offline(let code), .insecure(let code, _), .other(let code, _): code
        case .blocked: .appTransportSecurityRequiresSecureConnection
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .lost, .closedWithoutResponse, .unprocessed, .closedAtOnce, .lostAtOnce, .truncatedHead,
            .truncatedBody:
            .networkConnectionLost
        case .notHTTP: .badServerResponse
        case .unreadableHead, .unreadableResponse: .cannotParseResponse
        case .unreadableBody: .cannotDecodeRawData
        case .insecureLater: .secureConnectionFailed
        }
    }

    var explanation: String {
        switch self {
        case .badURL: "The URL can't be requested"
        case .unknownHost: "No server with this name was found"
        case .unknownProxy: "No proxy with this name was found"
        case .refused: "The server refused the connection or can't be reached"
        case .offline(let code): URLError(code).connectivityProblem ?? "There is no network connection"
        case .blocked:
            """
            App Transport Security blocked the request, because it is not HTTPS; use HTTPS, or make an exception for \
            the host under NSAppTransportSecurity in the app's Info.plist
            """
        case .timedOut: "The server did not respond in time"
        case .cancelled: "The exchange was cancelled"
        case .lost: "The connection was lost"
        case .closedWithoutResponse: "The server closed the connection without a response"
        case .unprocessed: "The server did not process the request: it refused the stream, or closes the connection"
        case .closedAtOnce(let isSecure):
            "The server closed a new connection without a response"
                + (isSecure ? "" : "; a port that expects https does so")
        case .lostAtOnce: "The connection was lost before a response; a port that expects https does so"
        case .truncatedHead: "The connection was closed before the whole head of the response had arrived"
        case .notHTTP(let isSecure):
            "The server's response is not HTTP" + (isSecure ? "" : "; a port that expects https may answer so")
        case .unreadableHead(let reason): "The head of the server's response can't be read: \(reason)"
        case .unreadableResponse(let reason): "The server's response can't be read: \(reason)"
        case .truncatedBody: "The connection was closed before the whole body had arrived"
        case .unreadableBody(let reason): "The body of the server's response can't be read: \(reason)"
        case .insecure(_, let reason): "No secure connection could be made: \(reason)"
        case .insecureLater(let reason): "The secure connection broke: \(reason)"
        case .proxy(let reason): "The proxy made no connection to the server: \(reason)"
        case .unusableProxy(let reason): "The proxy can't be used: \(reason)"
        case .other(_, let explanation): explanation
        }
    }

    /// Whether the problem can only occur before a byte of the request is sent.
    var precedesRequest: Bool {
        switch self {
        case .badURL, .unknownHost, .unknownProxy, .refused, .offline, .blocked, .insecure: true
        default: false
        }
    }

    /// Whether the system refused the request without a try.
    var isBlocked: Bool { self == .blocked || self == .badURL }

    /// An error that has no case of its own, and no text that can be shown.
    static func unnamed(_ error: NSError) -> WireProblem {
        .other(.unknown, "The exchange failed: error \(error.code) of the domain \(error.domain)")
    }

    /// The failure of an exchange at this place.
    func failure(
        delivery: AtomError.Delivery, underlying: any Error, at place: String? = nil
    ) -> TransportFailure {
        let text = explanation + (place.map { " (\($0))" } ?? "")
        let isOfServer = if case .closedAtOnce = self { true } else { false }
        let error = URLError(code, text, delivery: delivery, underlying: underlying, isOfServer: isOfServer)
        return TransportFailure(error, delivery: delivery)
    }

    /// A handshake that failed, by what the TLS library says of it.
    ///
    /// The details decide nothing, because a server has written them.
    static func insecure(saying text: String, showing details: [String] = []) -> WireProblem {
        if text.contains("certificate") || !details.isEmpty {
            let isDated = text.contains("expired") || text.contains("not yet valid")
            return .insecure(
                isDated ? .serverCertificateHasBadDate : .serverCertificateUntrusted,
                ([text] + details).joined(separator: "; "))
        }
        if text.contains("wrong version number") {
            return .insecure(.secureConnectionFailed, text + " (the server does not use TLS)")
        }
        return .insecure(.secureConnectionFailed, text)
    }
}
