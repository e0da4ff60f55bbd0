import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt of a request, from the transport's start to its end.
///
/// OpenTelemetry counts, times and traces attempts, not requests: a request that is sent again after a 401 is two.
struct Attempt: Sendable {
    /// Why an attempt failed.
    struct Failure: Sendable {
        /// The value of `error.type`: one of few words.
        let type: String
        /// A line without secrets; `nil` if the status says it all.
        let message: String?
    }

    let sent: SentRequest
    let startedAt: Duration
    /// The head of the response, if there was one.
    var head: ReceivedHead?
    /// What the transport has measured, if it does.
    var metrics: TransportMetrics?
    var failure: Failure?
    /// When the SDK was done with it, before or after the transport.
    var endedAt: Duration?
    /// The bytes of the response's body, if that is known.
    var bytesReceived: Int64?

    var number: Int { sent.attempt }
    var request: DescribedRequest { sent.request }
    var method: ConventionalMethod { ConventionalMethod(request.method) }

    /// The host, for `server.address`: an IPv6 address has no brackets there.
    var serverAddress: String {
        let host = request.host
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    /// The version of HTTP, from its ALPN identifier.
    var protocolVersion: String? {
        switch metrics?.networkProtocol {
        case "http/1.0": "1.0"
        case "http/1.1": "1.1"
        case "h2", "h2c": "2"
        case "h3": "3"
        default: nil
        }
    }
}

extension Attempt.Failure {
    /// A status that is an error to a client.
    init?(statusCode: Int) {
        guard statusCode >= 400 else { return nil }
        self.init(type: "\(statusCode)", message: nil)
    }

    init(_ failure: AttemptFailure) {
        switch failure {
        case .status(let code): self.init(type: "\(code)", message: nil)
        case .connection(let code): self.init(type: Self.type(of: code), message: failure.description)
        @unknown default: self.init(type: "_OTHER", message: failure.description)
        }
    }

    /// The outcome of the whole request, which its last attempt has caused.
    init(_ failure: RequestFailure, statusCode: Int?) {
        if failure.name == "response" {
            self.init(type: statusCode.map { "\($0)" } ?? "response", message: nil)
        } else {
            self.init(type: failure.code.map(Self.type) ?? failure.name, message: failure.description)
        }
    }

    private static func type(of code: URLError.Code) -> String {
        switch code {
        case .timedOut: "timeout"
        case .cannotFindHost, .dnsLookupFailed: "name_resolution_error"
        case .cannotConnectToHost, .notConnectedToInternet: "connection_error"
        case .networkConnectionLost: "response_ended"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            "secure_connection_error"
        case .cancelled: "cancelled"
        default: "url_error_\(code.rawValue)"
        }
    }
}
