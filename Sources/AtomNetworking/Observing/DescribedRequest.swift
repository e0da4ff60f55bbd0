import Foundation

/// A request that has been read and checked, without its secrets.
public struct DescribedRequest: Sendable {
    /// The method.
    public let method: String
    /// The number of bytes in the body; 0 for none, and `nil` if it isn't known
    /// before the end.
    public let bodyLength: Int64?
    let target: TargetURL
    private let endpointType: Any.Type?

    /// Without the message itself: an app may keep events, and a body may be
    /// large.
    init(endpoint: Any.Type?, _ message: RequestMessage) {
        endpointType = endpoint
        method = message.method
        target = message.target
        bodyLength = message.body.map(\.length) ?? 0
    }

    /// The type of the endpoint without its module, for example
    /// `Seatmap.Endpoint`; `nil` for the SDK's own requests.
    public var endpoint: String? { endpointType.map(EndpointName.of) }

    /// The URL without the values of its query; a piece of the path that looks
    /// like a token is hidden.
    public var url: String { target.description }
    /// The scheme of the URL.
    public var scheme: BaseURLScheme { target.scheme }
    /// The host of the URL, in lower case.
    public var host: String { target.host }
    /// The port of the URL; the scheme's own if it has none.
    public var port: Int { target.port }
}

extension DescribedRequest: CustomStringConvertible, CustomReflectable {
    /// Shows the method and the URL without the values of the query.
    public var description: String { "\(method) \(url)" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

/// A request that can't be sent, because of its endpoint or the configuration.
public struct RefusedRequest: Sendable {
    /// The type of the endpoint without its module.
    public var endpoint: String { EndpointName.of(endpointType) }
    /// Why it can't be sent.
    public let failure: RequestFailure
    private let endpointType: Any.Type

    init(endpoint: Any.Type, failure: RequestFailure) {
        endpointType = endpoint
        self.failure = failure
    }
}

extension RefusedRequest: CustomStringConvertible {
    /// Shows the endpoint and the reason.
    public var description: String { "\(endpoint), not sent: \(failure)" }
}

private enum EndpointName {
    /// The name of a type without its module, and without what the compiler adds
    /// for types that aren't visible elsewhere.
    static func of(_ type: Any.Type) -> String {
        var parts = String(reflecting: type).components(separatedBy: ".")
        if parts.count > 1 { parts.removeFirst() }
        return parts.filter { !$0.hasPrefix("(unknown context") }.joined(separator: ".")
    }
}
