/// A description of one request.
///
/// An endpoint is usually an enum with one case per request. Only ``baseURL()``
/// has no default. Every member is read once per `resume`, on the caller's
/// thread, before anything is sent; redirects and retries send the same values.
///
/// ```swift
/// import AtomNetworking
///
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
///
/// Other forms of a member count as well: a list, a body or a timeout that
/// isn't optional, `baseURL()` and `path()` with plain `throws` or without, a
/// getter that throws, and those in ``EndpointSpelling``. An error that isn't
/// an ``AtomError`` arrives as
/// ``RequestableError/endpointFailed(_:cause:)``.
public protocol Requestable: EndpointSpelling.Fallback, EndpointSpelling.Declared {
    /// Header fields; none by default.
    ///
    /// An `Authorization` field takes precedence over the service's
    /// authentication method. `Host`, `Content-Length` and other fields that
    /// the transport writes are left out.
    var headerItems: [HeaderItem]? { get }

    /// The method; GET by default.
    var method: HTTPMethod { get }

    /// The query; none by default, and an empty list adds no question mark.
    var queryItems: [QueryItem]? { get }

    /// Whether the request is signed; `true` by default.
    ///
    /// A request that needs no authorization never waits for a session and
    /// never carries its credential.
    var requiresAuthorization: Bool { get }

    /// The body; none by default.
    ///
    /// Use it with `.post`, `.put`, `.patch` and other method tokens, but not
    /// together with a body inside ``method``.
    var body: RequestBody? { get }

    /// The deadlines of this request; `nil`, the default, uses the service's.
    var timeout: ServiceTimeout? { get }

    /// Whether the request is sent again after a failure; `nil`, the default,
    /// uses the service's policy.
    ///
    /// Write `RetryPolicy.none`, because a bare `.none` is `nil` here.
    var retryPolicy: RetryPolicy? { get }

    /// Whether the request may be sent again after the server may have received
    /// it; `nil`, the default, is ``Idempotency/byMethod``.
    var idempotency: Idempotency? { get }

    /// Whether the request shares the exchange of an identical one that is in
    /// flight; `false` by default.
    ///
    /// It has an effect only for GET. <doc:SharingIdenticalRequests> says what
    /// counts as identical.
    var sharesIdenticalRequests: Bool { get }

    /// The same as ``sharesIdenticalRequests``, by the name that Atom 5 has for
    /// it; `false` by default.
    ///
    /// The request shares if one of the two says so.
    var allowsDeduplication: Bool { get }

    /// The status codes that count as success; 200…299 by default.
    var acceptableStatusCodes: ClosedRange<Int> { get }

    /// The server's scheme, host and port.
    func baseURL() throws(AtomError) -> BaseURL

    /// The path; empty by default.
    func path() throws(AtomError) -> URLPath
}

extension Requestable {
    /// It has an exchange of its own.
    public var allowsDeduplication: Bool { false }
}
