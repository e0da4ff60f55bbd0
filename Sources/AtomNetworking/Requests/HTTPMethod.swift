import Foundation

/// The method of a request (RFC 9110 §9), with an optional body.
///
/// `.post(data)` has a body; use `.post` alone for an endpoint that describes it with ``Requestable/body``. Giving both
/// is an error. The bytes of POST, PUT and PATCH are sent as `application/x-www-form-urlencoded`, those of other
/// methods as `application/octet-stream`, unless a header item sets the `Content-Type`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum HTTPMethod: Sendable {
    /// Removes the resource.
    case delete
    /// Reads the resource.
    case get
    /// Reads the header fields of a `get` response.
    case head
    /// Asks for the communication options of the resource.
    case options
    /// Changes the resource by the given instructions (RFC 5789).
    case patch(Data)
    /// Lets the resource process the body.
    case post(Data)
    /// Replaces the resource.
    case put(Data)
    /// Any other method token, such as `PROPFIND`, with an optional body.
    ///
    /// Method names are case-sensitive. A text that isn't a token is rejected before anything is sent.
    case token(String, Data? = nil)

    // The cases, so that `case .post:` in a switch matches them. Where Swift can't know the type, `HTTPMethod.post` may
    // also be the function that makes the case. Neither is preferred, so that `let method = HTTPMethod.post` doesn't
    // compile: an endpoint would have a function there, which the SDK doesn't see.

    /// PATCH; its body is in ``Requestable/body``.
    public static var patch: HTTPMethod { .patch(Data()) }
    /// POST; its body is in ``Requestable/body``.
    ///
    /// A constant needs its type, `let method: HTTPMethod = .post`: without it, Swift finds `HTTPMethod.post` ambiguous.
    public static var post: HTTPMethod { .post(Data()) }
    /// PUT; its body is in ``Requestable/body``.
    public static var put: HTTPMethod { .put(Data()) }
    /// DELETE with a body, whose meaning only the server defines (RFC 9110 §9.3.5).
    public static func delete(_ body: Data) -> HTTPMethod { .token("DELETE", body) }

    /// The name as it is sent in the request line.
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

    /// The body that is part of the method.
    var body: Data? {
        switch self {
        case .delete, .get, .head, .options: nil
        case .patch(let body), .post(let body), .put(let body): body.isEmpty ? nil : body
        case .token(_, let body): body
        }
    }

    /// The media type of the method's own body, as in URLSession (RFC 9110 §8.3).
    var contentType: String {
        ["PATCH", "POST", "PUT"].contains(name)
            ? "application/x-www-form-urlencoded" : "application/octet-stream"
    }
}

extension HTTPMethod: Hashable {
    /// Whether two methods have the same name and body, even if they are written differently: `.token("GET") == .get`.
    public static func == (first: HTTPMethod, second: HTTPMethod) -> Bool {
        first.name == second.name && first.body == second.body
    }

    /// Hashes the compared properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(body)
    }
}

extension HTTPMethod: Redacted {
    /// Shows the name and the size of the body.
    public var description: String {
        let name = Redaction.name(name)
        return body.map { "\(name) (\($0.count) bytes)" } ?? name
    }
}
