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
/// with a value. It also sees a member that is declared twice with different values:
/// with and without an optional type, or in a class and what inherits from it.
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
    EndpointCheck(endpoint).problems
}

private struct EndpointCheck {
    private(set) var problems: [EndpointProblem] = []

    init(_ endpoint: some Requestable) {
        checkTwice(endpoint)
        let hasPath = (try? !endpoint.path().description.isEmpty) ?? true
        let hasBytes =
            switch endpoint.method {
            case .post(let bytes), .put(let bytes), .patch(let bytes): !bytes.isEmpty
            case .token(_, let bytes): bytes != nil
            default: false
            }
        var declared: Set<String> = []
        if endpoint.headerItems != nil { declared.insert("headerItems") }
        if endpoint.queryItems != nil { declared.insert("queryItems") }
        if endpoint.body != nil || hasBytes { declared.insert("body") }
        if endpoint.method != .get { declared.insert("method") }
        if endpoint.timeout != nil { declared.insert("timeout") }
        if endpoint.retryPolicy != nil { declared.insert("retryPolicy") }
        if !endpoint.requiresAuthorization { declared.insert("requiresAuthorization") }
        if endpoint.acceptableStatusCodes != 200...299 { declared.insert("acceptableStatusCodes") }
        if hasPath { declared.insert("path") }

        let used: [String: AnyHashable?] = [
            "headerItems": endpoint.headerItems, "queryItems": endpoint.queryItems, "method": endpoint.method,
            "timeout": endpoint.timeout, "retryPolicy": endpoint.retryPolicy, "idempotency": endpoint.idempotency,
            "requiresAuthorization": endpoint.requiresAuthorization,
            "acceptableStatusCodes": endpoint.acceptableStatusCodes,
        ]

        for (name, value) in Self.properties(of: endpoint) {
            let type = type(of: value)
            if let member = Self.members[name] {
                // The bytes of a method, and a part of the path, may have these names.
                if name == "path" && hasPath || name == "body" && hasBytes { continue }
                if member.types.contains(where: { $0 == type }) {
                    let isNamed = problems.contains { $0.member == name }
                    if !isNamed, let used = used[name], let own = Self.present(value) as? AnyHashable, own != used {
                        note(
                            name,
                            "\(name) has another value than the one that the SDK uses, which is that of a superclass or "
                                + "of an extension: declare it there")
                    }
                    continue
                }
                note(
                    name,
                    "\(name) is a \(type), which the SDK doesn't see: make it \(member.remedy), or rename it if it is "
                        + "meant for something else")
            } else if let names = Self.nearMisses[Self.plain(name)], declared.isDisjoint(with: names) {
                let remedies = names.compactMap { member in Self.members[member].map { "\(member), \($0.remedy)" } }
                note(name, "the SDK doesn't know \(name): declare \(remedies.joined(separator: "; or "))")
            }
        }
    }

    private mutating func note(_ member: String, _ text: String) {
        problems.append(EndpointProblem(member: member, description: text + "."))
    }

    /// What counts if a member is declared with and without an optional type is the optional one.
    private mutating func checkTwice<E: Requestable>(_ endpoint: E) {
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
        for (name, isHidden) in hidden where isHidden {
            note(
                name,
                "\(name) is declared with and without an optional type, and the SDK uses the optional one: declare both "
                    + "with the optional type, then the endpoint's own counts")
        }
    }

    /// The names and values of the stored properties.
    private static func properties(of endpoint: Any) -> [(name: String, value: Any)] {
        var properties: [(name: String, value: Any)] = []
        var mirror: Mirror? = Mirror(reflecting: endpoint)
        // The children of an enum have the names of its cases.
        while let present = mirror, present.displayStyle == .struct || present.displayStyle == .class {
            for child in present.children {
                guard let name = child.label else { continue }
                properties.append((name, child.value))
            }
            mirror = present.superclassMirror
        }
        return properties
    }

    /// What is in an optional, or the value itself.
    private static func present(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional ? mirror.children.first?.value : value
    }

    private static func plain(_ name: String) -> String { name.lowercased().replacingOccurrences(of: "_", with: "") }

    private struct Member {
        let types: [Any.Type]
        let remedy: String
    }

    private static let members: [String: Member] = [
        "headerItems": Member(
            types: [[HeaderItem]?.self, [HeaderItem].self], remedy: "[HeaderItem]?, for example [HeaderItem](values)"),
        "queryItems": Member(
            types: [[QueryItem]?.self, [QueryItem].self], remedy: "[QueryItem]?, for example [QueryItem](values)"),
        "method": Member(types: [HTTPMethod.self], remedy: "an HTTPMethod, such as .post"),
        "body": Member(types: [RequestBody?.self, RequestBody.self], remedy: "a RequestBody?, such as .json(value)"),
        "timeout": Member(
            types: [ServiceTimeout?.self, ServiceTimeout.self], remedy: "a ServiceTimeout?, with its two numbers"),
        "requiresAuthorization": Member(types: [Bool.self], remedy: "a Bool"),
        "acceptableStatusCodes": Member(
            types: [ClosedRange<Int>.self], remedy: "a ClosedRange<Int>, such as 200...299"),
        "retryPolicy": Member(types: [RetryPolicy?.self, RetryPolicy.self], remedy: "a RetryPolicy?"),
        "idempotency": Member(types: [Idempotency?.self, Idempotency.self], remedy: "an Idempotency?"),
        "sharesIdenticalRequests": Member(types: [Bool.self], remedy: "a Bool"),
        "allowsDeduplication": Member(types: [Bool.self], remedy: "a Bool"),
        "caching": Member(types: [ResponseCaching.self], remedy: "a ResponseCaching"),
        "path": Member(types: [], remedy: "a function, func path() throws -> URLPath"),
    ]

    /// Names in other libraries, in lower case, and the members that may be meant.
    private static let nearMisses: [String: [String]] = {
        let names = [
            ["headerItems"]: "header headers headerfields httpheaders httpheaderfields additionalheaders",
            ["queryItems"]: "query queryparameters queryparams urlparameters urlqueryitems",
            ["queryItems", "body"]: "parameters params",
            ["method"]: "httpmethod requestmethod verb",
            ["body"]: "httpbody requestbody bodydata bodyparameters payload",
            ["timeout"]: "timeoutinterval timeouts requesttimeout",
            ["requiresAuthorization"]: "requiresauth requiresauthentication needsauth needsauthorization",
            ["acceptableStatusCodes"]: "statuscodes validstatuscodes acceptedstatuscodes successcodes",
            ["path"]: "urlpath pathcomponents",
        ]
        var members: [String: [String]] = [:]
        for (meant, names) in names {
            for name in names.split(separator: " ") { members[String(name)] = meant }
        }
        return members
    }()

    private struct Bare: Requestable {
        func baseURL() throws(AtomError) -> BaseURL { throw .unexpected }
    }
}
