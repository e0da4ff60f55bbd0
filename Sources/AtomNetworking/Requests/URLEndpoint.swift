import Foundation

/// An endpoint for a URL of your own.
///
/// ```swift
/// import AtomNetworking
///
/// let text = try await Atom().enqueue(URLEndpoint("https://example.com")).resume(expecting: String.self)
/// ```
///
/// Host and path follow the rules of ``BaseURL`` and ``URLPath``; without a path it is `/`. The query is sent as it is
/// written. What a query can't have (RFC 3986 §3.4), such as a space or a lone percent sign, is percent-encoded in it,
/// since there each server reads both alike.
///
/// The request is signed as that of any endpoint, and so never for an origin that the service doesn't allow. For a URL
/// that a server has sent, use ``LinkedEndpoint``: the server must not decide where your token goes.
/// <doc:DefiningRequests#Send-a-request-to-a-URL> has more examples.
public struct URLEndpoint: Requestable {
    /// The method; GET by default.
    public var method: HTTPMethod
    /// The query: the items of the URL, as they are written there, and then those of the initializer.
    public var queryItems: [QueryItem]?
    /// Header fields; none by default.
    public var headerItems: [HeaderItem]?
    /// The body; none by default.
    public var body: RequestBody?
    /// The deadlines; the service's by default.
    public var timeout: ServiceTimeout?
    /// The policy for failures; the service's by default.
    public var retryPolicy: RetryPolicy?
    /// Whether it may be sent again after the server may have received it; the method decides by default.
    public var idempotency: Idempotency?
    /// The status codes that count as success; 200…299 by default.
    public var acceptableStatusCodes: ClosedRange<Int> = 200...299
    /// Whether the request is signed; `true` by default.
    public var requiresAuthorization = true
    /// Whether the request shares the exchange of an identical one that is in flight; `false` by default.
    public var sharesIdenticalRequests = false
    /// How it uses the service's cache; not at all by default.
    public var caching: ResponseCaching = .disabled

    private let server: BaseURL
    private let resource: URLPath

    /// Creates an endpoint; the other options are variables with defaults.
    ///
    /// - Parameters:
    ///   - url: The absolute URL, without user information and fragment, which are never sent.
    ///   - method: The method.
    ///   - queryItems: What follows the URL's own query.
    ///   - headerItems: Header fields.
    ///   - body: The body.
    /// - Throws: ``RequestableError/invalidURL(_:)``, which says which rule the URL breaks.
    public init(
        _ url: String, method: HTTPMethod = .get, queryItems: [QueryItem]? = nil, headerItems: [HeaderItem]? = nil,
        body: RequestBody? = nil
    ) throws(AtomError) {
        func check(_ isRight: Bool, otherwise reason: String) throws(AtomError) {
            if !isRight { throw .refused(RequestableError.invalidURL, url, because: reason) }
        }
        let text = url.utf8
        let start = text.firstRange(of: "://".utf8)?.upperBound ?? text.startIndex
        try check(
            BaseURLScheme(rawValue: url[..<start].dropLast(3).lowercased()) != nil,
            otherwise: "a URL begins with https:// or http://, as in https://api.example.com/flights")
        let end = text[start...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
        try check(
            !text[start..<end].contains(UInt8(ascii: "@")),
            otherwise: "a user name and a password aren't taken from a URL; use Basic authentication")
        try check(
            !text.contains(UInt8(ascii: "#")),
            otherwise: "a fragment can't be sent; remove it, or write a number sign as %23")
        try check(
            text.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
            otherwise: "a URL contains no line break and no other control character")

        let question = text[end...].firstIndex(of: UInt8(ascii: "?"))
        let path = url[end..<(question ?? text.endIndex)]
        do throws(AtomError) {
            server = try BaseURL(string: String(url[..<end]))
            resource = try URLPath(path.isEmpty ? "/" : String(path))
        } catch .requestable(let error) {
            // With the whole URL, in which a password is found that has a slash.
            throw .refused(RequestableError.invalidURL, url, because: error.violation.reason)
        }
        let query = question.map { String(url[text.index(after: $0)...]) }
        let given = queryItems ?? []
        self.queryItems =
            if let query, !query.isEmpty || given.isEmpty {
                QueryItem.items(percentEncodedQuery: query) + given
            } else {
                queryItems
            }
        self.method = method
        self.headerItems = headerItems
        self.body = body
    }

    /// Creates an endpoint for a value of Foundation's type.
    ///
    /// - Throws: The same as for a text.
    public init(
        _ url: URL, method: HTTPMethod = .get, queryItems: [QueryItem]? = nil, headerItems: [HeaderItem]? = nil,
        body: RequestBody? = nil
    ) throws(AtomError) {
        try self.init(
            url.absoluteString, method: method, queryItems: queryItems, headerItems: headerItems, body: body)
    }

    /// The URL's scheme, host and port.
    public func baseURL() -> BaseURL { server }

    /// The URL's path.
    public func path() -> URLPath { resource }
}

extension URLEndpoint: Redacted {
    /// Shows the method and the URL without the query values.
    public var description: String {
        "\(method.name) \(TargetURL(base: server, path: resource, queryItems: queryItems ?? []))"
    }
}
