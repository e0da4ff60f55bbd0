// The names that this package uses, of OpenTelemetry's semantic conventions for
// HTTP clients. `check-names` compares them with the published list.

/// Names of attributes: of spans, and of metrics, where they are dimensions.
public enum AttributeName {
    // Stable
    static let errorType = "error.type"
    static let requestMethod = "http.request.method"
    static let requestMethodOriginal = "http.request.method_original"
    static let requestResendCount = "http.request.resend_count"
    static let responseStatusCode = "http.response.status_code"
    static let peerAddress = "network.peer.address"
    static let peerPort = "network.peer.port"
    static let protocolName = "network.protocol.name"
    static let protocolVersion = "network.protocol.version"
    static let serverAddress = "server.address"
    static let serverPort = "server.port"
    static let urlFull = "url.full"
    static let urlScheme = "url.scheme"

    // In development
    static let urlTemplate = "url.template"

    /// All names, for a view or a filter of a backend.
    public static let all = [
        errorType, requestMethod, requestMethodOriginal, requestResendCount, responseStatusCode, peerAddress, peerPort,
        protocolName, protocolVersion, serverAddress, serverPort, urlFull, urlScheme, urlTemplate,
    ]
}

/// Names of metrics.
public enum MetricName {
    // Stable

    /// How long an attempt took, in seconds.
    public static let requestDuration = "http.client.request.duration"

    // In development

    /// How many attempts are on their way.
    public static let activeRequests = "http.client.active_requests"
    /// The bytes of the body that was sent.
    public static let requestBodySize = "http.client.request.body.size"
    /// The bytes of the body that was received.
    public static let responseBodySize = "http.client.response.body.size"
}

/// Methods by the convention, which lists the ones that are known.
struct ConventionalMethod {
    /// The value of `http.request.method`: the method, or `_OTHER`.
    let value: String
    /// The value of `http.request.method_original`, for a method that isn't known.
    let original: String?
    /// The word for a span's name.
    var word: String { original == nil ? value : "HTTP" }

    /// RFC 9110 §9, PATCH (RFC 5789) and QUERY.
    private static let known: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
    ]

    init(_ method: String) {
        if Self.known.contains(method) {
            (value, original) = (method, nil)
        } else {
            (value, original) = ("_OTHER", method)
        }
    }
}
