import AtomNetworking
import Foundation

/// A member of an endpoint that the SDK won't see.
///
/// ``checkEndpoint(_:)`` finds them.
public struct EndpointProblem: Sendable, Hashable, CustomStringConvertible {
    /// The member's name in the endpoint.
    public let member: String

    /// What is wrong, and what to write instead.
    public let description: String
}

/// Looks for members of an endpoint that the SDK won't see, because their type
/// or their name isn't that of `Requestable`.
///
/// Swift says nothing about such a member: the SDK uses its default, and another
/// request is sent. A test can say it:
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// struct Search: Requestable {
///     let queryItems: [String: String]
///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
/// }
///
/// for problem in checkEndpoint(Search(queryItems: ["q": "SEA"])) { print(problem) }
/// // queryItems is a Dictionary<String, String>, which the SDK doesn't see: make it [QueryItem]?, …
/// ```
///
/// It sees the stored properties of a struct or a class, with any value and in
/// any access. A property of a name that only resembles one of `Requestable`'s,
/// such as `headers`, is a problem if the endpoint doesn't declare the right one
/// with a value. It also sees a member that is declared twice, with and without
/// an optional type and with different values. A service whose log is enabled says
/// the same of stored properties, at the first request of each type.
///
/// It can't see computed properties and functions, since Swift's reflection has
/// none: neither a `var headerItems: [String: String] { … }` nor a
/// `func path() -> String`, nor anything that an enum declares. There, look at
/// what is sent: test the request with a ``ScriptedTransport``.
///
/// - Parameter endpoint: An endpoint with values for whatever it can have.
/// - Returns: The problems; none if everything that can be seen is in order. A
///   property that is no business of the SDK may be among them: rename it, or
///   leave its name out.
public func checkEndpoint(_ endpoint: some Requestable) -> [EndpointProblem] {
    let seen = EndpointCheck(endpoint, described: try? RequestDescription(of: endpoint)).problems
    return declaredTwice(endpoint) + seen.map { EndpointProblem(member: $0.member, description: $0.text) }
}

/// What counts if a member is declared with and without an optional type is the optional one.
private func declaredTwice(_ endpoint: some Requestable) -> [EndpointProblem] {
    var (endpoint, bare) = (endpoint, Bare())
    let (headerItems, queryItems): ([HeaderItem], [QueryItem]) = (endpoint.headerItems, endpoint.queryItems)
    let (body, timeout): (RequestBody, ServiceTimeout) = (endpoint.body, endpoint.timeout)
    let (noBody, noTimeout): (RequestBody, ServiceTimeout) = (bare.body, bare.timeout)
    let (policy, noPolicy): (RetryPolicy, RetryPolicy) = (endpoint.retryPolicy, bare.retryPolicy)
    let (idempotency, noIdempotency): (Idempotency, Idempotency) = (endpoint.idempotency, bare.idempotency)
    let hidden = [
        ("headerItems", !headerItems.isEmpty && endpoint.headerItems != headerItems),
        ("queryItems", !queryItems.isEmpty && endpoint.queryItems != queryItems),
        ("body", body.contentType != noBody.contentType && endpoint.body?.contentType != body.contentType),
        ("timeout", timeout != noTimeout && endpoint.timeout != timeout),
        ("retryPolicy", policy != noPolicy && endpoint.retryPolicy != policy),
        ("idempotency", idempotency != noIdempotency && endpoint.idempotency != idempotency),
    ]
    return hidden.filter(\.1).map { name, _ in
        EndpointProblem(
            member: name,
            description: "\(name) is declared with and without an optional type, and the SDK uses the optional one: "
                + "declare both with the optional type, then the endpoint's own counts.")
    }
}

private struct Bare: Requestable {
    func baseURL() throws(AtomError) -> BaseURL { throw .unexpected }
}
