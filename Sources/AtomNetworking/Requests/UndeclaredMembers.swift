import Foundation

// The defaults that stand for a member that isn't declared.

extension EndpointSpelling.Plain {
    /// Not declared.
    @_disfavoredOverload
    public var headerItems: [HeaderItem] { mutating get throws { Undeclared.headerItems } }
    /// Not declared.
    @_disfavoredOverload
    public var method: String { mutating get throws { Undeclared.text } }
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [QueryItem] { mutating get throws { Undeclared.queryItems } }
    /// Not declared.
    @_disfavoredOverload
    public var body: RequestBody { mutating get throws { Undeclared.body } }
    /// Not declared.
    @_disfavoredOverload
    public var timeout: ServiceTimeout { mutating get throws { Undeclared.timeout } }
    /// Not declared.
    @_disfavoredOverload
    public var retryPolicy: RetryPolicy { mutating get throws { Undeclared.retryPolicy } }
    /// Not declared.
    @_disfavoredOverload
    public var idempotency: Idempotency { mutating get throws { .undeclared } }
    /// Not declared.
    @_disfavoredOverload
    public var acceptableStatusCodes: Range<Int> { mutating get throws { Undeclared.statusCodes } }
    /// Not declared.
    @_disfavoredOverload
    public mutating func path() throws -> String { Undeclared.text }
    /// Not declared.
    @_disfavoredOverload
    public mutating func path() throws -> EndpointPath { .undeclared }
}

extension EndpointSpelling.Literal {
    /// Not declared.
    @_disfavoredOverload
    public var path: EndpointPath { mutating get throws { .undeclared } }
}

extension EndpointSpelling.Loose {
    /// Not declared.
    @_disfavoredOverload
    public var headerItems: [String: String] { mutating get throws { Undeclared.dictionary } }
    /// Not declared.
    @_disfavoredOverload
    public var method: HTTPMethod? { mutating get throws { Undeclared.method } }
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [String: String] { mutating get throws { Undeclared.dictionary } }
    /// Not declared.
    @_disfavoredOverload
    public var body: Data { mutating get throws { Undeclared.data } }
    /// Not declared.
    @_disfavoredOverload
    public var timeout: Double { mutating get throws { Undeclared.seconds } }
    /// Not declared.
    @_disfavoredOverload
    public var acceptableStatusCodes: Set<Int> { mutating get throws { [.min] } }
    /// Not declared.
    @_disfavoredOverload
    public var path: String { mutating get throws { Undeclared.text } }
}

extension EndpointSpelling.OptionalLoose {
    /// Not declared.
    @_disfavoredOverload
    public var headerItems: [String: String]? { mutating get throws { Undeclared.dictionary } }
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [String: String]? { mutating get throws { Undeclared.dictionary } }
    /// Not declared.
    @_disfavoredOverload
    public var body: Data? { mutating get throws { Undeclared.data } }
    /// Not declared.
    @_disfavoredOverload
    public var timeout: Double? { mutating get throws { Undeclared.seconds } }
    /// Not declared.
    @_disfavoredOverload
    public var acceptableStatusCodes: [Int] { mutating get throws { [.min] } }
    /// Not declared.
    @_disfavoredOverload
    public var path: URLPath { mutating get throws { Undeclared.path } }
}

extension EndpointSpelling.Declared where Self: EndpointSpelling.Fallback {
    /// Not declared.
    @_disfavoredOverload
    public var headerItems: [HeaderItem]? { mutating get throws { Undeclared.headerItems } }
    /// Not declared.
    @_disfavoredOverload
    public var method: HTTPMethod { mutating get throws { Undeclared.method } }
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [QueryItem]? { mutating get throws { Undeclared.queryItems } }
    /// Signed.
    @_disfavoredOverload
    public var requiresAuthorization: Bool { mutating get throws { true } }
    /// Not declared.
    @_disfavoredOverload
    public var body: RequestBody? { mutating get throws { Undeclared.body } }
    /// Not declared.
    @_disfavoredOverload
    public var timeout: ServiceTimeout? { mutating get throws { Undeclared.timeout } }
    /// Not declared.
    @_disfavoredOverload
    public var retryPolicy: RetryPolicy? { mutating get throws { Undeclared.retryPolicy } }
    /// Not declared.
    @_disfavoredOverload
    public var idempotency: Idempotency? { mutating get throws { .undeclared } }
    /// Not declared.
    @_disfavoredOverload
    public var sharesIdenticalRequests: Bool { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var acceptableStatusCodes: ClosedRange<Int> { mutating get throws { Undeclared.closedStatusCodes } }
    /// Refused, with words that say what is missing.
    @available(*, unavailable, message: "an endpoint needs 'func baseURL() throws(AtomError) -> BaseURL'")
    public mutating func baseURL() throws -> BaseURL { throw AtomError.unexpected }
    /// Not declared.
    @_disfavoredOverload
    public mutating func path() throws -> URLPath { Undeclared.path }
}
