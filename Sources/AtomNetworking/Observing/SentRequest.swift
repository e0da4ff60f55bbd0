/// One attempt of a request, without its secrets.
public struct SentRequest: Sendable {
    /// Which attempt of the request it is, from 1.
    ///
    /// The first is 1. A redirect, the retry after a 401 and
    /// each attempt of a ``RetryPolicy`` have the next number.
    public var attempt: Int { request.attempt }
    /// All of it, with its secrets.
    package let request: TransportRequest

    init(_ request: TransportRequest) { self.request = request }

    /// The method.
    public var method: String { request.method }
    /// The URL without the values of its query; a piece of the path that looks
    /// like a token is hidden.
    public var url: String { request.target.description }
    /// The scheme of the URL.
    public var scheme: BaseURLScheme { request.target.scheme }
    /// The host of the URL, in lower case.
    public var host: String { request.target.host }
    /// The port of the URL; the scheme's own if it has none.
    public var port: Int { request.target.port }
    /// The header fields, with "…" for each value that may be a secret.
    public var headerFields: HeaderFields { request.headerFields.redacted }
    /// The number of bytes in the body; 0 for none, and `nil` if it isn't known
    /// before the end.
    public var bodyLength: Int64? { request.body.map(\.length) ?? 0 }

    /// The value of `traceparent` (W3C Trace Context), which isn't a secret.
    public var traceParent: String? { request.headerFields["traceparent"] }
}

extension SentRequest: CustomStringConvertible, CustomReflectable {
    /// Shows the attempt, the method and the URL without the values of the query.
    public var description: String { "\(attempt): \(method) \(url)" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

/// The head of a response, without its secrets.
public struct ReceivedHead: Sendable {
    /// Which attempt it answers, from 1.
    public let attempt: Int
    /// The status code.
    public var statusCode: Int { head.statusCode }
    /// The header fields, with "…" for each value that may be a secret.
    public var headerFields: HeaderFields { head.headerFields.redacted }
    package let head: TransportResponse

    init(_ head: TransportResponse, attempt: Int) {
        self.head = head
        self.attempt = attempt
    }
}

extension ReceivedHead: CustomStringConvertible, CustomReflectable {
    /// Shows the attempt and the status.
    public var description: String { "\(attempt): HTTP \(statusCode)" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["head": description]) }
}
