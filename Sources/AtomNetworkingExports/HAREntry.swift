import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt of a request, while it runs.
struct HARAttempt {
    /// Its place among all attempts, in the order in which they were handed to the transport.
    let sequence: Int
    let requestID: UInt64
    let purpose: RequestEvent.Purpose
    let request: NotedRequest
    /// When it began to wait.
    let startDate: Date
    let started: Duration
    /// When it was handed to the transport.
    let sent: Duration
    var head: ReceivedHead?
    var answered: Duration?
    var ended: Duration?
    var metrics: TransportMetrics?
    /// Why there is no complete response, without secrets.
    var failure: String?
    /// The same as a code; `nil` also if the SDK ended it for another reason.
    var failureCode: URLError.Code?
    var delivery = AtomError.Delivery.maybeSent
    /// The bytes of the response's body, decoded.
    var bytesReceived: Int64 = 0
    var body = HARBody()
    /// For a response that was kept.
    var source: AtomResponse.Source?
    /// Whether the SDK has gone on with another attempt, mostly at the head.
    var isLeft = false

    /// Whether more of the body may have been to come.
    func leavesRest(_ fields: HeaderFields) -> Bool {
        guard isLeft, request.method != "HEAD" else { return false }
        return fields.contains("Content-Encoding") || fields["Content-Length"] != "\(bytesReceived)"
    }

    mutating func failed(_ failure: RequestFailure) {
        self.failure = failure.description
        failureCode = failure.kind == .cancelled ? .cancelled : failure.code
        delivery = failure.delivery
    }
}

extension HARLog.Entry {
    /// Searches the attempt for credentials.
    init(_ attempt: HARAttempt, recordsBodies: Bool) {
        let timings = HARTimings(
            queued: attempt.sent - attempt.started, answered: attempt.answered.map { $0 - attempt.sent },
            ended: (attempt.ended ?? attempt.sent) - attempt.sent, metrics: attempt.metrics)
        let httpVersion = Self.httpVersion(attempt.metrics?.networkProtocol)
        request = HARLog.Request(attempt.request, httpVersion)
        response = HARLog.Response(attempt, httpVersion, recordsBodies: recordsBodies)
        startedDateTime = attempt.startDate.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        time = HARLog.Timings.milliseconds(timings.total)
        self.timings = HARLog.Timings(timings)
        serverIPAddress = attempt.metrics?.remoteAddress
        // The format allows the server's port.
        connection = attempt.metrics?.remotePort.map(String.init)
        let explanation: String
        switch attempt.purpose {
        case .service: (purpose, explanation) = (nil, "")
        case .token: (purpose, explanation) = ("token", ", for a new access token")
        case .revocation: (purpose, explanation) = ("revocation", ", to revoke a token")
        }
        if let source = attempt.source { cache = ["comment": "The response is from \(source)."] }
        comment = "Request \(attempt.requestID), attempt \(attempt.request.attempt)\(explanation)"
        self.attempt = HARLog.Attempt(requestID: attempt.requestID, number: attempt.request.attempt)
        sequence = attempt.sequence
        error = attempt.failure
        failure = attempt.failureCode.map {
            HARLog.Failure(code: $0.rawValue, delivery: attempt.head == nil ? attempt.delivery.rawValue : "answered")
        }
    }

    /// From the ALPN identifier.
    private static func httpVersion(_ networkProtocol: String?) -> String {
        switch networkProtocol {
        case "h2", "h2c": "HTTP/2"
        case "h3": "HTTP/3"
        case let other?: other.uppercased()
        case nil: "unknown"
        }
    }
}

extension HARLog.Request {
    init(_ request: NotedRequest, _ httpVersion: String) {
        let shown = ShownRequest(request)
        method = shown.method
        url = shown.url
        self.httpVersion = httpVersion
        headers = shown.headerFields.map { .init(name: $0.name, value: $0.value) }
        queryString = Self.items(of: shown.url)
        bodySize = request.bodyLength ?? -1
        guard case .bytes(let data) = shown.body, !data.isEmpty else { return }
        let (text, encoding) = HARLog.text(data)
        postData = HARLog.PostData(
            mimeType: shown.headerFields["Content-Type"] ?? "", text: text, encoding: encoding)
    }

    private static func items(of url: String) -> [HARLog.Pair] {
        guard let question = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return url.utf8[url.utf8.index(after: question)...].split(separator: UInt8(ascii: "&")).map { item in
            let halves = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return HARLog.Pair(
                name: CredentialSearch.plain(halves[0]),
                value: halves.count > 1 ? CredentialSearch.plain(halves[1]) : "")
        }
    }
}

extension HARLog.Response {
    init(_ attempt: HARAttempt, _ httpVersion: String, recordsBodies: Bool) {
        guard let head = attempt.head?.head else {
            // What exports of browsers say of a request without a response.
            status = 0
            statusText = ""
            self.httpVersion = httpVersion
            headers = []
            content = HARLog.Content(size: 0, mimeType: "x-unknown")
            redirectURL = ""
            bodySize = -1
            return
        }
        let fields = head.headerFields
        status = head.statusCode
        statusText = HTTPStatus.reasonPhrase(for: head.statusCode)
        self.httpVersion = httpVersion
        let location = (300...399).contains(head.statusCode) ? fields["Location"] ?? "" : ""
        switch attempt.request.disclosure {
        case .everything:
            headers = Self.pairs(fields)
            redirectURL = location
        case .allButCredentials:
            headers = Self.pairs(CredentialSearch.fields(fields))
            redirectURL = CredentialSearch.url(location)
        case .onlyHarmless:
            headers = Self.pairs(CredentialSearch.harmless(fields))
            redirectURL = Redaction.url(CredentialSearch.url(location), mark: CredentialSearch.hidden)
        }
        content = HARLog.Content(attempt, fields, recordsBodies: recordsBodies)
        bodySize = Self.bodySize(attempt, fields)
    }

    private static func pairs(_ fields: HeaderFields) -> [HARLog.Pair] {
        fields.map { .init(name: $0.name, value: $0.value) }
    }

    /// The size on the wire; -1 if only the decoded size is known, or not all of it.
    private static func bodySize(_ attempt: HARAttempt, _ fields: HeaderFields) -> Int64 {
        if attempt.leavesRest(fields) { return -1 }
        if attempt.request.method == "HEAD" || attempt.bytesReceived == 0 { return 0 }
        return fields.contains("Content-Encoding") ? -1 : attempt.bytesReceived
    }
}
