import AtomNetworking
import Foundation

/// What an export needs of an attempt, before it is searched for credentials.
///
/// It holds nothing that won't be shown: neither a large body nor a stream of the app.
struct NotedRequest: Sendable {
    let attempt: Int
    let method: String
    let target: TargetURL
    let headerFields: HeaderFields
    /// `nil` if it isn't known before the end.
    let bodyLength: Int64?
    let body: Body
    let disclosure: RequestDisclosure

    enum Body: Sendable {
        case none
        case bytes(Data)
        /// The content of a file, by its path.
        case file(String)
        /// May hold a secret.
        case hidden
        /// Isn't in memory, or is too large.
        case absent
    }

    /// A larger body is left out.
    static let largestBody = 1 << 20

    init(_ request: TransportRequest, showing disclosure: RequestDisclosure) {
        attempt = request.attempt
        method = request.method
        target = request.target
        headerFields = request.headerFields
        bodyLength = request.body.map(\.length) ?? 0
        body = Self.body(request, disclosure)
        self.disclosure = disclosure
    }

    /// A request that is answered by a kept response, and not sent.
    init(_ request: DescribedRequest, showing disclosure: RequestDisclosure) {
        (attempt, method, target, headerFields) = (0, request.method, request.target, request.headerFields)
        (bodyLength, body, self.disclosure) = (0, .none, disclosure)
    }

    /// The bytes of the body that it keeps.
    var bodySize: Int { if case .bytes(let data) = body { data.count } else { 0 } }

    private static func body(_ request: TransportRequest, _ disclosure: RequestDisclosure) -> Body {
        guard let body = request.body else { return .none }
        guard body.length != 0 else { return .bytes(Data()) }
        guard disclosure != .onlyHarmless else { return .hidden }
        if let file = body.fileURL { return .file(file.path) }
        guard let length = body.length, length <= largestBody else { return .absent }
        return body.bytesInMemory.map { .bytes($0) } ?? .absent
    }
}

/// What an export shows of an attempt.
struct ShownRequest: Sendable {
    let method: String
    let url: String
    let headerFields: HeaderFields
    let body: NotedRequest.Body
    /// Whether a value is replaced by ``CredentialSearch/hidden``.
    let isIncomplete: Bool

    /// Searches the request for credentials.
    init(_ request: NotedRequest) {
        method = request.method
        let address = request.target.absoluteString
        let fields = request.headerFields
        var (body, isChanged) = (request.body, false)
        switch request.disclosure {
        case .everything:
            url = address
            headerFields = fields
        case .allButCredentials:
            url = CredentialSearch.url(address)
            headerFields = CredentialSearch.fields(fields)
            if case .bytes(let data) = body {
                let shown = CredentialSearch.body(data, fields)
                (body, isChanged) = (shown.map { .bytes($0) } ?? .hidden, shown != data)
            }
        case .onlyHarmless:
            url = Redaction.url(address, mark: CredentialSearch.hidden)
            headerFields = CredentialSearch.harmless(fields)
            if case .hidden = body { isChanged = true }
        }
        self.body = body
        isIncomplete = isChanged || url != address || headerFields != fields
    }
}
