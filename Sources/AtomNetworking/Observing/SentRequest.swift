/// One attempt of a request, without its secrets.
public struct SentRequest: Sendable {
    /// All of it, with its secrets.
    package let transportRequest: TransportRequest

    init(_ request: TransportRequest) { transportRequest = request }

    /// Which attempt of the request it is, from 1; redirects, the retry after a 401 and
    /// those of a ``RetryPolicy`` count.
    public var attempt: Int { transportRequest.attempt }
    /// What is sent, and to where; after a redirect another URL than in ``RequestEvent/request``.
    public var request: DescribedRequest { DescribedRequest(transportRequest.message) }
    /// The header fields, with "…" for each value that may be a secret.
    public var headerFields: HeaderFields { transportRequest.headerFields.redacted }
    /// The value of `traceparent` (W3C Trace Context), which isn't a secret.
    public var traceParent: String? { transportRequest.headerFields["traceparent"] }
}

extension SentRequest: Redacted {
    /// Shows the attempt, the method and the URL without the values of the query.
    public var description: String { "\(attempt): \(transportRequest)" }
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

extension ReceivedHead: Redacted {
    /// Shows the attempt and the status.
    public var description: String { "\(attempt): HTTP \(statusCode)" }
}
