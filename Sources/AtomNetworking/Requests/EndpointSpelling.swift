import Foundation

// A member of an endpoint whose type differs a little from the requirement
// isn't its witness: Swift would use the default without a word, and another
// request would be sent. So each form that a member is likely to have is a
// requirement as well.
//
// - `Declared` has the documented types, but accepts plain `throws` too. Its
//   defaults say that the endpoint doesn't declare the member.
// - `Plain`, `Loose`, `OptionalLoose` and `Literal` have the other types. A
//   protocol can have only one property of a name, hence four.
// - `Fallback` has the documented requirements again, and their defaults, which
//   use what the endpoint declares in another form. They must be less
//   specialized than those of `Declared`, which would otherwise find them.
//
// The members for reading are mutating: an app can't use them by accident, and
// a requirement of the same name and type would be overridden by
// `Requestable`'s, which throws another type of error.

/// The forms that a member of an endpoint may have besides those in
/// ``Requestable``.
///
/// Conform to ``Requestable``, not to these protocols, and use its members
/// only.
///
/// | member | other forms |
/// |---|---|
/// | `baseURL()`, `path()` | with `throws`, or without |
/// | `path` | ``EndpointPath``, `String`, and all three types as a property |
/// | `headerItems`, `queryItems` | not optional; a dictionary of strings, in the order of its keys |
/// | `queryItems` | `URLQueryItem`s; a dictionary of ``QueryValue``s |
/// | `body` | not optional; `Data`, if ``Requestable/method`` has no body |
/// | `timeout` | not optional; a `Double`, which is used for both deadlines |
/// | `retryPolicy`, `idempotency` | not optional |
/// | `acceptableStatusCodes` | `Range<Int>` |
/// | `requiresAuthorization` | `Bool?`, where `nil` is `true` |
/// | `sharesIdenticalRequests` | `Bool?`, where `nil` is `false` |
/// | `method` | `HTTPMethod?`; a `String` that is GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS |
///
/// An endpoint that has a list, a body, a timeout, a policy, status codes or
/// `sharesIdenticalRequests` in two of these forms, for example its own and one
/// of a protocol extension, is rejected with ``RequestableError/unusableMember(_:)``. A member of a
/// form that means something else in an app, such as a `String`, is used only
/// if the documented one isn't declared: a `path()` wins over a property `path`,
/// also if the `path()` is one of a protocol extension.
///
/// A list that is `[String: Any]`, or a stored property with any other type, is
/// rejected too. So is such a body, or one that is a `String`, of a POST, PUT or
/// PATCH that would have none. The SDK can't see a computed property of a type
/// that isn't in this table.
public enum EndpointSpelling {
    /// Members that aren't optional, or that are text.
    public protocol Plain: Sendable {
        /// Header fields.
        @_disfavoredOverload
        var headerItems: [HeaderItem] { mutating get throws }
        /// The method's name.
        @_disfavoredOverload
        var method: String { mutating get throws }
        /// The query.
        @_disfavoredOverload
        var queryItems: [QueryItem] { mutating get throws }
        /// The body.
        @_disfavoredOverload
        var body: RequestBody { mutating get throws }
        /// The deadlines.
        @_disfavoredOverload
        var timeout: ServiceTimeout { mutating get throws }
        /// The policy for failures.
        @_disfavoredOverload
        var retryPolicy: RetryPolicy { mutating get throws }
        /// Whether it may be sent again.
        @_disfavoredOverload
        var idempotency: Idempotency { mutating get throws }
        /// The status codes that count as success.
        @_disfavoredOverload
        var acceptableStatusCodes: Range<Int> { mutating get throws }
        /// The path.
        @_disfavoredOverload
        mutating func path() throws -> String
        /// The path as a literal.
        @_disfavoredOverload
        mutating func path() throws -> EndpointPath
    }

    /// A path as a literal in a property.
    public protocol Literal: Sendable {
        /// The path.
        @_disfavoredOverload
        var path: EndpointPath { mutating get throws }
    }

    /// Members of simpler types.
    public protocol Loose: Sendable {
        /// Header fields.
        @_disfavoredOverload
        var headerItems: [String: String] { mutating get throws }
        /// The method.
        @_disfavoredOverload
        var method: HTTPMethod? { mutating get throws }
        /// The query.
        @_disfavoredOverload
        var queryItems: [String: String] { mutating get throws }
        /// The body.
        @_disfavoredOverload
        var body: Data { mutating get throws }
        /// Both deadlines in seconds.
        @_disfavoredOverload
        var timeout: Double { mutating get throws }
        /// Not accepted.
        @_disfavoredOverload
        var acceptableStatusCodes: Set<Int> { mutating get throws }
        /// The path.
        @_disfavoredOverload
        var path: String { mutating get throws }
    }

    /// Members of simpler types that are optional.
    public protocol OptionalLoose: Sendable {
        /// Header fields.
        @_disfavoredOverload
        var headerItems: [String: String]? { mutating get throws }
        /// The query.
        @_disfavoredOverload
        var queryItems: [String: String]? { mutating get throws }
        /// The body.
        @_disfavoredOverload
        var body: Data? { mutating get throws }
        /// Both deadlines in seconds.
        @_disfavoredOverload
        var timeout: Double? { mutating get throws }
        /// Not accepted.
        @_disfavoredOverload
        var acceptableStatusCodes: [Int] { mutating get throws }
        /// The path.
        @_disfavoredOverload
        var path: URLPath { mutating get throws }
    }

    /// The documented members, with the defaults for endpoints that don't
    /// declare them in this form.
    public protocol Fallback: Plain, Loose, OptionalLoose, Literal, Foundational, OptionalFoundational, Mixed, Untyped {
        /// Header fields.
        var headerItems: [HeaderItem]? { get }
        /// The method.
        var method: HTTPMethod { get }
        /// The query.
        var queryItems: [QueryItem]? { get }
        /// Whether the request is signed.
        var requiresAuthorization: Bool { get }
        /// The body.
        var body: RequestBody? { get }
        /// The deadlines.
        var timeout: ServiceTimeout? { get }
        /// The policy for failures.
        var retryPolicy: RetryPolicy? { get }
        /// Whether it may be sent again.
        var idempotency: Idempotency? { get }
        /// Whether it shares the exchange of an identical request.
        var sharesIdenticalRequests: Bool { get }
        /// The status codes that count as success.
        var acceptableStatusCodes: ClosedRange<Int> { get }
        /// The server's scheme, host and port.
        func baseURL() throws(AtomError) -> BaseURL
        /// The path.
        func path() throws(AtomError) -> URLPath
        /// The server that the endpoint declares in any form.
        mutating func resolvedBaseURL() throws(AtomError) -> BaseURL
        /// The path that the endpoint declares in any form.
        mutating func resolvedPath() throws(AtomError) -> URLPath
    }

    /// The documented members, which may throw any error.
    public protocol Declared: Sendable {
        /// Header fields.
        @_disfavoredOverload
        var headerItems: [HeaderItem]? { mutating get throws }
        /// The method.
        @_disfavoredOverload
        var method: HTTPMethod { mutating get throws }
        /// The query.
        @_disfavoredOverload
        var queryItems: [QueryItem]? { mutating get throws }
        /// Whether the request is signed.
        @_disfavoredOverload
        var requiresAuthorization: Bool { mutating get throws }
        /// The body.
        @_disfavoredOverload
        var body: RequestBody? { mutating get throws }
        /// The deadlines.
        @_disfavoredOverload
        var timeout: ServiceTimeout? { mutating get throws }
        /// The policy for failures.
        @_disfavoredOverload
        var retryPolicy: RetryPolicy? { mutating get throws }
        /// Whether it may be sent again.
        @_disfavoredOverload
        var idempotency: Idempotency? { mutating get throws }
        /// Whether it shares the exchange of an identical request.
        @_disfavoredOverload
        var sharesIdenticalRequests: Bool { mutating get throws }
        /// The status codes that count as success.
        @_disfavoredOverload
        var acceptableStatusCodes: ClosedRange<Int> { mutating get throws }
        /// The server's scheme, host and port.
        @_disfavoredOverload
        mutating func baseURL() throws -> BaseURL
        /// The path.
        @_disfavoredOverload
        mutating func path() throws -> URLPath
    }
}
