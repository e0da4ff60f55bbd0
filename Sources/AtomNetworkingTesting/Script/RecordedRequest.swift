import AtomNetworking
import Foundation

/// A request as it was handed to a ``ScriptedTransport``.
public struct RecordedRequest: Sendable {
    /// The request as the service has handed it over.
    public let transportRequest: TransportRequest

    /// The method, for example `GET`.
    public var method: String { transportRequest.method }

    /// The absolute URL.
    public var target: TargetURL { transportRequest.target }

    /// The header fields in order; one of them may be a credential.
    public var headerFields: HeaderFields { transportRequest.headerFields }

    /// The body; `nil` for a request without one.
    ///
    /// Of a body that is longer than ``ScriptedTransport/maximumBodySize`` it is the beginning. A body that is read
    /// while it is sent is complete as soon as the request is answered; if that ends early, it is what was read.
    public internal(set) var body: Data?

    /// The number of bytes of the body.
    public internal(set) var bodyLength: Int64

    /// Which attempt of a request it is, from 1: a redirect, the retry after a
    /// 401 and each attempt of a `RetryPolicy` have the next number.
    public var attempt: Int { transportRequest.attempt }

    /// When it was sent, by the wire's clock.
    public let time: MonotonicInstant

    init(_ request: TransportRequest, at time: MonotonicInstant) {
        transportRequest = request
        body = request.body?.data ?? (request.body == nil ? nil : Data())
        bodyLength = Int64(request.body?.data?.count ?? 0)
        self.time = time
    }

    /// The absolute URL; `nil` only if Foundation rejects it.
    public var url: URL? { target.url }

    /// The host in lower case.
    public var host: String { target.host }

    /// The path as it is sent, percent-encoded.
    public var path: String { target.path }

    /// The path and the query as they are sent, percent-encoded.
    public var pathAndQuery: String { target.pathAndQuery }

    /// The items of the query, decoded, in order and with repeats.
    public var queryItems: [QueryItem] {
        let parts = pathAndQuery.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count > 1 ? FormText.items(of: parts[1]) : []
    }

    /// The value of the first item of the query with this name.
    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The fields of a form (`application/x-www-form-urlencoded`), decoded, in order and with repeats.
    public var formItems: [QueryItem] { FormText.items(of: text) }

    /// The value of the first field of a form with this name.
    public func form(_ name: String) -> String? { formItems.first { $0.name == name }?.value }

    /// The value of the first header field with this name.
    public subscript(name: String) -> String? { headerFields[name] }

    /// The access token of the `Authorization` field (RFC 6750 §2.1); `nil` if there is none.
    public var bearerToken: String? {
        guard let value = headerFields["Authorization"], value.lowercased().hasPrefix("bearer ") else { return nil }
        return String(value.dropFirst(7))
    }

    /// The body as text.
    public var text: String { String(decoding: body ?? Data(), as: UTF8.self) }

    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - decoder: For JSON that needs other settings.
    /// - Throws: The decoder's error.
    public func decode<T: Decodable>(_ type: T.Type, decoder: JSONDecoder = JSONDecoder()) throws -> T {
        try decoder.decode(type, from: body ?? Data())
    }
}

extension RecordedRequest: Redacted {
    /// Shows the method and the URL without the query values.
    public var description: String { "\(method) \(target)" }
}
