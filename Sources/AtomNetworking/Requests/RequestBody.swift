import Foundation

/// The body of a request, with its media type.
///
/// A body is created once per `resume`, on the caller. Redirects and retries
/// send the same bytes.
public struct RequestBody: Sendable {
    /// The media type that is sent as `Content-Type`, unless the endpoint's own
    /// header items set one.
    public let contentType: String

    let content: Content

    enum Content: Sendable {
        case data(Data)
        case encoded(@Sendable () throws -> Data)
    }

    /// A body of raw bytes.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, content: .data(data))
    }

    /// A value as JSON (RFC 8259), encoded when the request is prepared.
    ///
    /// If the value can't be encoded, the request fails with
    /// ``RequestableError/invalidBody(_:)``.
    public static func json<T: Encodable & Sendable>(
        _ value: T, encoder: JSONEncoder = JSONEncoder()
    ) -> RequestBody {
        RequestBody(contentType: "application/json", content: .encoded { try encoder.encode(value) })
    }

    /// Names and values as a form, with percent-encoding.
    public static func form(_ items: [QueryItem]) -> RequestBody {
        RequestBody(
            contentType: "application/x-www-form-urlencoded",
            content: .data(Data(PercentEncoding.form(items).utf8)))
    }

    /// The bytes to send.
    func bytes() throws(AtomError) -> Data {
        switch content {
        case .data(let data): return data
        case .encoded(let encode):
            do {
                return try encode()
            } catch {
                throw .requestable(
                    .invalidBody(.init(reason: "the value could not be encoded: \(Self.explanation(of: error))")))
            }
        }
    }

    private static func explanation(of error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return "\(type(of: error))" }
        let path = context.codingPath.map { Redaction.name($0.stringValue) }.joined(separator: ".")
        let explanation = Redaction.excerpt(context.debugDescription, limit: 300)
        return path.isEmpty ? explanation : "\(explanation) at “\(path)”"
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
    /// Shows the media type; never the content.
    public var description: String { "RequestBody(\(contentType))" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["contentType": contentType]) }
}
