import Foundation

/// The method of a request (RFC 9110 §9), with the body that it carries.
///
/// `.post(data)` carries its body; `.post` alone is for an endpoint that
/// describes it with ``Requestable/body``. Giving both is refused. The bytes of
/// POST, PUT and PATCH are sent as `application/x-www-form-urlencoded`, those
/// of other methods as `application/octet-stream`, unless a header item names
/// their `Content-Type`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum HTTPMethod: Sendable {
    /// Removes the resource.
    case delete
    /// Reads the resource.
    case get
    /// Reads the header fields that `get` would answer with.
    case head
    /// Asks what the resource can do.
    case options
    /// Changes the resource by the given instructions (RFC 5789).
    case patch(Data)
    /// Hands the resource something to process.
    case post(Data)
    /// Replaces the resource.
    case put(Data)
    /// Any other method token, such as `PROPFIND`, with an optional body.
    /// Method names are case-sensitive; a text that isn't a token is refused
    /// before anything is sent.
    case token(String, Data? = nil)

    /// PATCH without a body of its own.
    public static var patch: HTTPMethod { .token("PATCH") }
    /// POST without a body of its own.
    public static var post: HTTPMethod { .token("POST") }
    /// PUT without a body of its own.
    public static var put: HTTPMethod { .token("PUT") }
    /// DELETE with a body, whose meaning is between you and the server
    /// (RFC 9110 §9.3.5).
    public static func delete(_ body: Data) -> HTTPMethod { .token("DELETE", body) }

    /// The name as it stands in the request line.
    public var name: String {
        switch self {
        case .delete: "DELETE"
        case .get: "GET"
        case .head: "HEAD"
        case .options: "OPTIONS"
        case .patch: "PATCH"
        case .post: "POST"
        case .put: "PUT"
        case .token(let name, _): name
        }
    }

    /// The body that came with the method.
    var body: Data? {
        switch self {
        case .delete, .get, .head, .options: nil
        case .patch(let body), .post(let body), .put(let body): body
        case .token(_, let body): body
        }
    }
}

extension HTTPMethod {
    /// What the bytes that came with the method are, unless the endpoint says
    /// so: a form for the three that have always carried one, as URLSession
    /// has it, and anything at all for the others (RFC 9110 §8.3).
    var contentType: String {
        switch name {
        case "PATCH", "POST", "PUT": "application/x-www-form-urlencoded"
        default: "application/octet-stream"
        }
    }
}

extension HTTPMethod: Hashable {
    /// Whether two methods have the same name and body, however they are
    /// spelled: `.token("GET") == .get`.
    public static func == (first: HTTPMethod, second: HTTPMethod) -> Bool {
        first.name == second.name && first.body == second.body
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(body)
    }
}

extension HTTPMethod: CustomStringConvertible, CustomReflectable {
    /// The name, and the size of the body.
    public var description: String {
        let name = Redaction.name(name)
        return body.map { "\(name) (\($0.count) bytes)" } ?? name
    }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": Redaction.name(name), "bytes": body?.count as Any])
    }
}
