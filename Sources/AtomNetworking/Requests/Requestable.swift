/// A description of one request.
///
/// Usually an enum with a case per endpoint. Only ``baseURL()`` has no
/// default. Every member is read once per `resume`, on the caller's thread,
/// before anything is sent; whatever it returns is what a redirect or a retry
/// sends again.
///
/// ```swift
/// enum SeatmapEndpoint: Requestable {
///     case refresh(flight: String)
///
///     func baseURL() throws(AtomError) -> BaseURL {
///         try BaseURL(host: "api.example.com")
///     }
///
///     func path() throws(AtomError) -> URLPath {
///         switch self {
///         case .refresh(let flight): try URLPath("/v1/flights/\(flight)/seatmap")
///         }
///     }
/// }
/// ```
public protocol Requestable: Sendable {
    /// Header fields; none by default. An `Authorization` among them wins over
    /// the service's authentication method; `Host`, `Content-Length` and others
    /// that the transport writes are left out.
    var headerItems: [HeaderItem]? { get }

    /// The method; GET by default.
    var method: HTTPMethod { get }

    /// The query; none by default, and an empty list adds no question mark.
    var queryItems: [QueryItem]? { get }

    /// Whether the request is signed; `true` by default. A request that needs
    /// no authorization never waits for a session and never carries its
    /// credential.
    var requiresAuthorization: Bool { get }

    /// The body; none by default. Goes with `.post`, `.put`, `.patch` and
    /// methods of your own, and not together with a body inside ``method``.
    var body: RequestBody? { get }

    /// Deadlines of this request; `nil` takes the service's.
    var timeout: ServiceTimeout? { get }

    /// The status codes that are not an error; 200…299 by default.
    var acceptableStatusCodes: ClosedRange<Int> { get }

    /// The server to ask.
    func baseURL() throws(AtomError) -> BaseURL

    /// The path; empty by default.
    func path() throws(AtomError) -> URLPath
}

extension Requestable {
    /// None.
    public var headerItems: [HeaderItem]? { nil }
    /// GET.
    public var method: HTTPMethod { .get }
    /// None.
    public var queryItems: [QueryItem]? { nil }
    /// Signed.
    public var requiresAuthorization: Bool { true }
    /// None.
    public var body: RequestBody? { nil }
    /// The service's.
    public var timeout: ServiceTimeout? { nil }
    /// 200…299.
    public var acceptableStatusCodes: ClosedRange<Int> { 200...299 }
    /// No path.
    public func path() throws(AtomError) -> URLPath { .empty }
}
