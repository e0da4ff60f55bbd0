import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The meaning of a URLSession error, and how far the request got.
///
/// Foundation on Linux reports TLS failures and truncated bodies as "unknown", what isn't HTTP as "unsupported URL",
/// and no response as "bad server response". libcurl's words in it tell them apart.
struct WireFailure {
    let error: any Error
    let hasResponse: Bool
    let isSecure: Bool
    /// What the session knows of the bytes that it sent.
    var trace = RequestTrace.unknown

    var transportFailure: TransportFailure {
        let problem = problem
        return problem.failure(delivery: delivery(of: problem), underlying: error)
    }

    private func delivery(of problem: WireProblem) -> AtomError.Delivery {
        if hasResponse { return .answered }
        return switch trace {
        case .nothingSent: .notSent
        case .mayHaveSent: problem.isBlocked ? .notSent : .maybeSent
        case .unknown, .nothingNoted: problem.precedesRequest ? .notSent : .maybeSent
        }
    }

    private var problem: WireProblem {
        if let error = error as? URLError { return problem(error) }
        if let error = error as? POSIXError { return problem(error) }
        return .unnamed(error as NSError)
    }

    /// URLSession on Apple platforms also reports errors of the system's calls.
    private func problem(_ error: POSIXError) -> WireProblem {
        switch error.code {
        case .ECONNREFUSED: .refused
        // A suspended app loses its connections: ECONNABORTED.
        case .ECONNRESET, .EPIPE, .ENOTCONN, .ESHUTDOWN, .ECONNABORTED: .lost
        case .ENETDOWN, .ENETUNREACH, .EHOSTDOWN, .EHOSTUNREACH: .offline(.notConnectedToInternet)
        case .ETIMEDOUT: .timedOut
        default: .unnamed(error as NSError)
        }
    }

    private func problem(_ error: URLError) -> WireProblem {
        switch error.code {
        case .appTransportSecurityRequiresSecureConnection: .blocked
        case .callIsActive: .offline(error.code)
        case .cannotConnectToHost: .refused
        case .cannotFindHost, .dnsLookupFailed: .unknownHost
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .offline(error.code)
        case .timedOut: .timedOut
        case .networkConnectionLost: .lost
        case .cancelled: .cancelled
        case .badServerResponse where trace == .unknown: .closedWithoutResponse
        case .badServerResponse: .unreadableResponse(error.localizedDescription)
        case .unsupportedURL: .notHTTP(isSecure: isSecure)
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            .insecure(error.code, error.localizedDescription)
        case .unknown: unknown(error)
        default: .other(error.code, error.localizedDescription)
        }
    }

    /// Tells by libcurl's words what Foundation on Linux reports as one.
    private func unknown(_ error: URLError) -> WireProblem {
        guard trace == .unknown else { return .unnamed(error as NSError) }
        let text = error.localizedDescription
        if hasResponse {
            return text.contains("transfer closed") || text.contains("bytes missing")
                ? .truncatedBody : .unreadableBody(text)
        }
        if let complaint = Self.complaint(aboutHead: text) { return .unreadableHead(complaint) }
        if isSecure { return insecure(text) }
        if text.contains("Send failure") { return .lost }
        return .unreadableResponse(text)
    }

    private static func complaint(aboutHead text: String) -> String? {
        if text.contains("Too large response headers") || text.contains("Out of memory") { return "it is too large" }
        if text.contains("Failed writing header") { return "its status line is incomplete or it is not UTF-8" }
        return text.contains("Header without colon") || text.contains("Invalid Content-Length") ? text : nil
    }

    /// A failure before the end of the handshake can't have sent the request.
    private func insecure(_ text: String) -> WireProblem {
        if text.contains("SSL_read") || text.contains("SSL_write") { return .insecureLater(text) }
        let isHandshake =
            text.contains("certificate") || text.contains("wrong version number") || text.contains("SSL_connect")
            || text.contains("SSL routines") || text.contains("handshake")
        return isHandshake ? .insecure(saying: text) : .other(.secureConnectionFailed, "No secure connection: \(text)")
    }
}

/// What a session knows of the bytes that it sent for one task.
///
/// The error is that of the last try: URLSession sends a request again if a connection is lost.
enum RequestTrace: Sendable, Equatable {
    /// The session doesn't tell, as on Linux.
    case unknown
    /// No try has noted that it began to send; one of a `URLProtocol`, such as a debugging tool, never does.
    case nothingNoted
    /// Each try ended while it looked the name up or connected.
    case nothingSent
    /// At least one try may have sent a part of it.
    case mayHaveSent

    /// When a try began to send the request, and its steps before; `nil` for what it didn't get to.
    typealias Try = (requestStart: Date?, steps: [(start: Date?, end: Date?)])

    init(_ tries: [Try], bodyBytes: Int64) {
        // Without a try nothing is known: the metrics may be missing.
        let isSent = tries.isEmpty || bodyBytes > 0 || tries.contains { $0.requestStart != nil }
        let isUnconnected = tries.allSatisfy { $0.steps.contains { $0.start != nil && $0.end == nil } }
        self = isSent ? .mayHaveSent : isUnconnected ? .nothingSent : .nothingNoted
    }

    #if !canImport(FoundationNetworking)
        init(_ metrics: URLSessionTaskMetrics?, of task: URLSessionTask) {
            let tries = (metrics?.transactionMetrics ?? []).map { metrics -> Try in
                let lookup = (metrics.domainLookupStartDate, metrics.domainLookupEndDate)
                return (metrics.requestStartDate, [lookup, (metrics.connectStartDate, metrics.connectEndDate)])
            }
            self.init(tries, bodyBytes: task.countOfBytesSent)
        }
    #endif
}
