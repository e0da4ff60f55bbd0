/// A request that has been checked, without its secrets.
public struct DescribedRequest: Sendable {
    /// The method.
    public let method: String
    /// The number of bytes in the body; 0 for none, `nil` if it isn't known before the end.
    public let bodyLength: Int64?
    /// With its secrets, as the fields.
    package let target: TargetURL
    package let headerFields: HeaderFields

    /// Without the message itself: an app may keep events, and a body may be large.
    init(_ message: RequestMessage) {
        method = message.method
        target = message.target
        headerFields = message.headerFields
        bodyLength = message.body.map(\.length) ?? 0
    }

    /// The URL without the values of its query, and what looks like a token.
    public var url: String { target.description }
    /// The scheme of the URL.
    public var scheme: BaseURLScheme { target.scheme }
    /// The host of the URL, in lower case.
    public var host: String { target.host }
    /// The port of the URL; the scheme's own if it has none.
    public var port: Int { target.port }
}

extension DescribedRequest {
    /// What it has beside method and URL: a member that the SDK doesn't see is missing here.
    var content: [String] {
        let body = bodyLength.map { $0 == 0 ? [] : ["\($0) bytes"] } ?? ["a body of unknown length"]
        return headerFields.map { Redaction.name($0.name) } + body
    }
}

extension DescribedRequest: Redacted {
    /// Shows the method and the URL without the values of the query.
    public var description: String { "\(method) \(url)" }
}
