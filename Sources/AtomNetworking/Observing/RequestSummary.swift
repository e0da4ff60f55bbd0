import Foundation

/// The end of a request.
public struct RequestSummary: Sendable {
    /// The status of the response; `nil` if there is none.
    public let statusCode: Int?
    /// Why the caller gets an error; `nil` if it gets a response, which it may fail to decode later.
    public let failure: RequestFailure?
    /// The time since the request was described, with all waiting.
    public let duration: Duration
    /// How often the request was sent.
    public var attempts: Int { traffic.attempts }
    /// The bytes of the bodies that were sent, in all attempts.
    public var bytesSent: Int64 { traffic.bytesSent }
    /// The same of those that were received, decoded from the content coding.
    public var bytesReceived: Int64 { traffic.bytesReceived }

    let traffic: RequestTraffic
}

/// What was sent and received for one request.
struct RequestTraffic: Sendable {
    var attempts = 0
    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0
}

extension RequestSummary: CustomStringConvertible {
    /// Shows the outcome and the duration.
    public var description: String {
        let outcome = failure.map(\.description) ?? statusCode.map { "HTTP \($0)" } ?? "without a response"
        return "in \(duration.brief): \(outcome)"
    }
}

/// An ``AtomError`` without what it carries: no response and no error of the app's.
public struct RequestFailure: Sendable, Hashable, CustomStringConvertible {
    package let kind: AtomError.Kind
    package let retryAt: Date?
    /// The name of the error's case, such as `session` or `cancelled`.
    public var name: String { kind.rawValue }
    /// The code of an ``AtomError/session(_:)``.
    public let code: URLError.Code?
    /// How far the request got.
    public let delivery: AtomError.Delivery
    /// Whether the network is the cause.
    public let isConnectivityFailure: Bool
    /// The error in one line, without secrets and without the request.
    public let description: String

    init(_ error: AtomError) {
        kind = error.kind
        if case .session(let cause) = error { code = (cause as? URLError)?.code } else { code = nil }
        retryAt = error.retryAt
        delivery = error.delivery
        isConnectivityFailure = error.isConnectivityFailure
        description = error.explanation
    }
}
