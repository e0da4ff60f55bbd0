import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server's response: status, header fields and body.
public struct AtomResponse: Sendable {
    /// The body; empty when the server sent none.
    public private(set) var data: Data

    /// The status code (RFC 9110 §15), or `nil` for a response without one.
    public let statusCode: Int?

    /// The header fields, looked up without regard to case.
    public let headerFields: HeaderFields

    /// The URL of the response, after redirects and without user information; parsed at each access.
    public var url: URL? { address.flatMap(HTTPGrammar.url) }

    /// Where a response comes from.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Source: Sendable, Hashable {
        /// The server has sent it for this request.
        case server
        /// The service's cache had it, and the server wasn't asked, or couldn't be; then it may be stale.
        case cache(age: Duration, isStale: Bool)
        /// The service's cache had it, and the server has said that it still holds.
        case revalidatedCache(age: Duration)
    }

    /// Where it comes from: the server, or the service's ``ServiceConfiguration/cache``.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let page = try await atom.enqueue(Departures(airport: "SEA")).resume(decoding: [Flight].self)
    /// if case .cache(let age, isStale: true) = page.response.source { print("Perhaps out of date: \(age) old.") }
    /// ```
    public var source: Source { record?.first?.source ?? .server }

    let address: String?
    let decoder: ResponseDecoder?
    /// Whose response it is; `nil` for nobody's: its request was not signed.
    let tenure: Tenure?
    /// What tells its session and sign-in from others in this process; empty for a request that no session has signed.
    package var sessionMark: String { tenure?.mark ?? "" }

    /// Which request it belongs to; `nil` for a response of the app's own.
    let record: RequestRecord?

    private(set) var notes: AttemptNotes?

    /// Why the body of an error isn't complete.
    var fault: String?

    /// Creates a response, for tests and for custom transports.
    public init(data: Data = Data(), statusCode: Int?, headerFields: HeaderFields = HeaderFields(), url: URL? = nil) {
        self.init(
            data: data, statusCode: statusCode, headerFields: headerFields, address: url?.absoluteString, decoder: nil)
    }

    init(
        data: Data, statusCode: Int?, headerFields: HeaderFields, address: String?, decoder: ResponseDecoder?,
        tenure: Tenure? = .anyone, record: RequestRecord? = nil
    ) {
        self.data = data
        self.statusCode = statusCode
        self.headerFields = headerFields
        self.address = address
        self.decoder = decoder
        self.tenure = tenure
        self.record = record
    }

    /// With which fields it was asked for, if a cache may keep it.
    var sentFields: HeaderFields? { record?.first?.sent }

    func replacing(data: Data) -> AtomResponse {
        var response = self
        response.data = data
        return response
    }

    /// The same response, to be decoded in another way.
    func decoded(by decoder: ResponseDecoder) -> AtomResponse {
        // A variable would make each response be copied once more.
        var response = AtomResponse(
            data: data, statusCode: statusCode, headerFields: headerFields, address: address, decoder: decoder,
            tenure: tenure, record: record)
        (response.notes, response.fault) = (notes, fault)
        return response
    }

    /// The same response with what an error says of its request.
    ///
    /// The server's words are shown only if the secrets are known, and without them.
    func noting(
        _ request: AtomError.Request, earlier: [AttemptFailure], retryAt: Date?, secrets: () -> [String]?
    ) -> AtomResponse {
        var response = self
        response.notes = AttemptNotes(
            earlier: earlier, retryAt: retryAt, request: request, quotes: quotes(without: secrets))
        return response
    }

    /// The request that it answers; `nil` for a response of the app's own.
    func request(until now: MonotonicInstant? = nil) -> AtomError.Request? {
        guard let record, let address else { return nil }
        return record.request(at: address, until: now ?? record.startedAt)
    }

    /// An empty response with status 200.
    public static let success = AtomResponse(statusCode: 200)

    /// Whether the status is in 200…299.
    public var isSuccess: Bool { statusCode.map { (200...299).contains($0) } ?? false }

    /// Whether the status is missing or outside 200…299.
    public var isFailure: Bool { !isSuccess }

    /// Decodes the body, as `resume(expecting:)` does.
    ///
    /// The decoder is the service's, or a default `JSONDecoder` for a response of your own. `Data`, `String`,
    /// ``NoContent``, ``DecodedResponse`` and optionals are read as there.
    ///
    /// - Throws: ``AtomError/decoder(_:)``.
    public func decode<T: Decodable>(_ type: T.Type) throws(AtomError) -> T {
        try (decoder ?? .plain).decode(type, from: self)
    }

    /// How the server wants to be asked, from the `WWW-Authenticate` fields; read at each access (RFC 9110 §11.6.1).
    ///
    /// Of a malformed field, the challenges and parameters before the mistake are read. At most 64 KiB are.
    public var challenges: [AuthenticationChallenge] { headerFields.challenges }

    /// The response as Foundation's class, made at each access; `nil` without a status.
    ///
    /// Its URL is `/` if the response has none. Repeated fields are joined with a comma.
    public var httpResponse: HTTPURLResponse? {
        guard let statusCode, let url = url ?? URL(string: "/") else { return nil }
        let fields = Dictionary(headerFields.map { ($0.name.lowercased(), ($0.name, $0.value)) }) {
            ($0.0, "\($0.1), \($1.1)")
        }
        return HTTPURLResponse(
            url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: Dictionary(fields.values) { $1 })
    }
}

extension AtomResponse: Equatable {
    /// Whether two responses have the same body, status, fields and URL.
    public static func == (first: AtomResponse, second: AtomResponse) -> Bool {
        first.data == second.data && first.statusCode == second.statusCode
            && first.headerFields == second.headerFields && first.address == second.address
    }
}

extension AtomResponse.Source: CustomStringConvertible {
    /// A few words for a log.
    public var description: String {
        switch self {
        case .server: "the server"
        case .cache(let age, let isStale): "the cache, \(age.brief) old" + (isStale ? " and stale" : "")
        case .revalidatedCache(let age): "the cache, \(age.brief) old, and the server says that it still holds"
        }
    }
}

extension AtomResponse: Redacted {
    /// Shows the status, media type and size; never the body, another header value
    /// or a media type that isn't plain, which may contain a credential.
    public var description: String {
        var text = statusCode.map { "HTTP \($0) \(HTTPStatus.reasonPhrase(for: $0))" } ?? "no HTTP status"
        if let type = headerFields["Content-Type"] {
            text += ", \(Redaction.mediaType(type) ?? "unusual media type")"
        }
        return hasBodyElsewhere ? text : text + ", \(data.count) bytes"
    }

    func explanation(withWords: Bool) -> String {
        let words = withWords ? quotes.words : nil
        let sender = isOfProxy ? "A proxy" : "The server"
        var text = "\(sender) answered \(description)" + (words.map { ": “\($0)”." } ?? ".")
        if isOfProxy { text += " It wants a user name and a password, and has not asked the server." }
        if expectsTLS { text += " The port expects https." }
        return text + (fault.map { " Its body is incomplete. \($0)" } ?? "")
    }

    /// Whether a proxy wants a credential (RFC 9110 §15.5.8); whatever comes through TLS is the server's.
    var isOfProxy: Bool { statusCode == 407 && address?.hasPrefix("http:") == true }

    /// Whether a server for https has refused a request without TLS, in the words of nginx, Go, Apache or Tomcat.
    var expectsTLS: Bool {
        guard statusCode == 400, address?.hasPrefix("http:") == true,
            MediaType(headerFields["Content-Type"])?.isJSON != true
        else { return false }
        let page = String(decoding: data.prefix(SecretSearch.limit), as: UTF8.self)
        return ["to HTTPS port", "to an HTTPS server", "to an SSL-enabled server port", "host and port requires TLS"]
            .contains { page.contains($0) }
    }

    /// What the server says, as far as it may be shown.
    ///
    /// Of what the SDK has received, only an error of the SDK knows the secrets.
    var quotes: ServerQuotes { notes?.quotes ?? (record == nil ? quotes(without: { [] }) : ServerQuotes()) }

    /// What the server says without what the request was signed with: a server may repeat it.
    func quotes(without secrets: () -> [String]?) -> ServerQuotes {
        // A 407 may speak of the proxy's credential, which isn't known here.
        guard !data.isEmpty, data.count <= 1 << 16, statusCode != 407 else { return ServerQuotes() }
        return ServerQuotes(of: self, without: secrets)
    }

    /// Whether the body goes elsewhere, or is left out, as after HEAD.
    private var hasBodyElsewhere: Bool {
        data.isEmpty
            && (headerFields.contains("Transfer-Encoding") || headerFields["Content-Length"] ?? "0" != "0")
    }
}

/// What an error says of its request; nearly every response has none.
final class AttemptNotes: Sendable {
    let earlier: [AttemptFailure]
    let retryAt: Date?
    let request: AtomError.Request
    let quotes: ServerQuotes

    init(earlier: [AttemptFailure], retryAt: Date?, request: AtomError.Request, quotes: ServerQuotes) {
        self.earlier = earlier
        self.retryAt = retryAt
        self.request = request
        self.quotes = quotes
    }
}

package enum HTTPStatus {
    package static func reasonPhrase(for code: Int) -> String { phrases[code] ?? "Status" }

    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
        203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 418: "I'm a teapot", 421: "Misdirected Request", 422: "Unprocessable Content",
        425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
