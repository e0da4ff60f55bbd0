import Foundation

/// Looks for stored properties of an endpoint that have a name of ``Requestable``'s, or one that resembles it, and that
/// the SDK doesn't see.
///
/// Swift says nothing about such a member: another request is sent than the endpoint seems to describe.
package struct EndpointCheck {
    /// The members, and what is wrong with each.
    package private(set) var problems: [(member: String, text: String)] = []

    /// - Parameter description: What the SDK has read of the endpoint; `nil` if it couldn't.
    package init(_ endpoint: any Requestable, described description: RequestDescription?) {
        let hasPath = description?.path.description.isEmpty != true
        let hasBytes = description?.method.body != nil
        let declared = description.map(Self.declared)

        for (name, type) in Self.properties(of: endpoint) {
            if let member = Self.members[name] {
                // The bytes of a method, and a part of the path, may have these names.
                let isUsed = name == "path" && hasPath || name == "body" && hasBytes
                if member.types.contains(where: { $0 == type }) || isUsed { continue }
                note(
                    name,
                    "\(name) is a \(type), which the SDK doesn't see: make it \(member.remedy), or rename it if it is "
                        + "meant for something else")
            } else if let names = Self.nearMisses[Self.plain(name)], declared?.isDisjoint(with: names) == true {
                let remedies = names.compactMap { member in Self.members[member].map { "\(member), \($0.remedy)" } }
                note(name, "the SDK doesn't know \(name): declare \(remedies.joined(separator: "; or "))")
            }
        }
    }

    /// The members that an endpoint has given another value than the default.
    private static func declared(by description: RequestDescription) -> Set<String> {
        let members = [
            ("headerItems", !description.headerItems.isEmpty), ("queryItems", !description.queryItems.isEmpty),
            ("body", description.body != nil || description.method.body != nil), ("method", description.method != .get),
            ("timeout", description.timeout != nil), ("retryPolicy", description.retryPolicy != nil),
            ("requiresAuthorization", !description.requiresAuthorization),
            ("acceptableStatusCodes", description.acceptableStatusCodes != 200...299),
            ("path", !description.path.description.isEmpty),
        ]
        return Set(members.lazy.filter(\.1).map(\.0))
    }

    private mutating func note(_ member: String, _ text: String) {
        problems.append((member, text + "."))
    }

    /// The names and types of the stored properties.
    private static func properties(of endpoint: Any) -> [(name: String, type: Any.Type)] {
        var properties: [(name: String, type: Any.Type)] = []
        var mirror: Mirror? = Mirror(reflecting: endpoint)
        // The children of an enum have the names of its cases.
        while let present = mirror, present.displayStyle == .struct || present.displayStyle == .class {
            for child in present.children {
                guard let name = child.label else { continue }
                properties.append((name, type(of: child.value)))
            }
            mirror = present.superclassMirror
        }
        return properties
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
}
