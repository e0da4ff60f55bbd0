/// A description of one request.
///
/// An endpoint is usually an enum with one case per request. Only ``baseURL()`` has no default. Every member is read
/// once per `resume`, on the caller's thread, before anything is sent; redirects and retries send the same values.
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
/// A member whose type isn't the one here is another member, and the SDK uses the default: Swift says nothing. What is
/// optional here may also be declared without an optional type. `checkEndpoint(_:)` of AtomNetworkingTesting finds
/// stored properties that the SDK doesn't see, and a log shows what each request has.
public protocol Requestable: RequestableDefaults {
    /// Header fields; none by default.
    ///
    /// Of several items with one name, in any case, the last is sent: a default and then what overrides it. A field
    /// that is a list is one item, ``HeaderItem/init(name:values:)``. An `Authorization` field takes precedence over the
    /// service's authentication method. `Host`, `Content-Length` and other fields that the transport writes are left
    /// out.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var headerItems: [HeaderItem]? { ["Accept-Language": "en"] }
    /// ```
    var headerItems: [HeaderItem]? { get }

    /// The method; GET by default.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var method: HTTPMethod { .delete }
    /// ```
    var method: HTTPMethod { get }

    /// The query; none by default, and an empty list adds no question mark.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var queryItems: [QueryItem]? { ["from": airport, "limit": 20] }
    /// ```
    var queryItems: [QueryItem]? { get }

    /// Whether the request is signed; `true` by default.
    ///
    /// A request that needs no authorization never waits for a session and never carries its credential.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var requiresAuthorization: Bool { false }
    /// ```
    var requiresAuthorization: Bool { get }

    /// The body; none by default.
    ///
    /// Use it with `.post`, `.put`, `.patch` and other method tokens, but not together with a body inside ``method``.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var method: HTTPMethod { .post }
    /// var body: RequestBody? { .json(booking) }
    /// ```
    var body: RequestBody? { get }

    /// The deadlines of this request; `nil`, the default, uses the service's.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var timeout: ServiceTimeout? { ServiceTimeout(request: 10, resource: 60) }  // seconds
    /// ```
    var timeout: ServiceTimeout? { get }

    /// Whether the request is sent again after a failure; `nil`, the default, uses the service's policy.
    ///
    /// Write `RetryPolicy.none`, because a bare `.none` is `nil` here.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var retryPolicy: RetryPolicy? { .standard }
    /// ```
    var retryPolicy: RetryPolicy? { get }

    /// Whether the request may be sent again after the server may have received
    /// it; `nil`, the default, is ``Idempotency/byMethod``.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var method: HTTPMethod { .post }
    /// var idempotency: Idempotency? { .byKey }  // sends the field Idempotency-Key
    /// ```
    var idempotency: Idempotency? { get }

    /// Whether the request shares the exchange of an identical one that is in flight; `false` by default.
    ///
    /// It has an effect only for GET. <doc:DefiningRequests#Share-identical-requests> says what counts as identical.
    var sharesIdenticalRequests: Bool { get }

    /// The same as ``sharesIdenticalRequests``, by the name that Atom 5 has for it; `false` by default.
    ///
    /// The request shares if one of the two says so.
    var allowsDeduplication: Bool { get }

    /// How the request uses the service's cache; ``ResponseCaching/disabled`` by default.
    ///
    /// It is read for each `resume`, so that a flag can switch the cache off. Adapters don't change it.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var caching: ResponseCaching { .whileCacheFresh(staleIfError: .seconds(86_400)) }
    /// ```
    var caching: ResponseCaching { get }

    /// The status codes that count as success, 206 only if a range was asked for; 200…299 by default.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var acceptableStatusCodes: ClosedRange<Int> { 200...304 }
    /// ```
    var acceptableStatusCodes: ClosedRange<Int> { get }

    /// The server's scheme, host and port.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    /// ```
    ///
    /// - Throws: An ``AtomError``, or anything else, which arrives as ``RequestableError/endpointFailed(_:cause:)``.
    func baseURL() throws -> BaseURL

    /// The path; empty by default.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// func path() throws(AtomError) -> URLPath { try URLPath("/v1/flights/\(number)") }
    /// ```
    ///
    /// - Throws: An ``AtomError``, or anything else, which arrives as ``RequestableError/endpointFailed(_:cause:)``.
    func path() throws -> URLPath
}

/// What an endpoint is if it declares nothing but ``Requestable/baseURL()``.
///
/// Conform to ``Requestable``, not to this protocol. The defaults are apart from that one, so that an extension of
/// yours of ``Requestable`` may have a member of the same name: with the same type it is the default of all your
/// endpoints, and with another type it is your own.
public protocol RequestableDefaults: NonOptionalMembers {}

// The defaults of what may also be declared without an optional type are that.
extension RequestableDefaults {
    /// None.
    public var headerItems: [HeaderItem]? {
        var endpoint = self
        let items: [HeaderItem] = endpoint.headerItems
        return items.isEmpty ? nil : items
    }

    /// GET.
    public var method: HTTPMethod { .get }

    /// None.
    public var queryItems: [QueryItem]? {
        var endpoint = self
        let items: [QueryItem] = endpoint.queryItems
        return items.isEmpty ? nil : items
    }

    /// Signed.
    public var requiresAuthorization: Bool { true }

    /// None.
    public var body: RequestBody? {
        var endpoint = self
        let body: RequestBody = endpoint.body
        return body.isNothing ? nil : body
    }

    /// The service's.
    public var timeout: ServiceTimeout? {
        var endpoint = self
        let timeout: ServiceTimeout = endpoint.timeout
        return timeout.isOfService ? nil : timeout
    }

    /// The service's.
    public var retryPolicy: RetryPolicy? {
        var endpoint = self
        let policy: RetryPolicy = endpoint.retryPolicy
        return policy.isOfService ? nil : policy
    }

    /// The method decides.
    public var idempotency: Idempotency? {
        var endpoint = self
        let idempotency: Idempotency = endpoint.idempotency
        return idempotency == .byMethod ? nil : idempotency
    }

    /// It has an exchange of its own.
    public var sharesIdenticalRequests: Bool { false }

    /// It has an exchange of its own.
    public var allowsDeduplication: Bool { false }

    /// Without the cache.
    public var caching: ResponseCaching { .disabled }

    /// 200…299.
    public var acceptableStatusCodes: ClosedRange<Int> { 200...299 }

    /// No path.
    public func path() throws(AtomError) -> URLPath { .empty }
}
