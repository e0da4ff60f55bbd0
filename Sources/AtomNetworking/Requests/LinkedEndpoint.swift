import Foundation

/// An endpoint for a URL that a server has sent: the next page of a list, the location of an upload, a file.
///
/// The URL is sent as the server has written it. It is signed only where the server's word can't lead a credential
/// astray: for the origins that ``BearerAuthentication/allowedOrigins`` names or, if it names none, for the origin of
/// the response that carried the URL, if the request for that response was signed itself and no redirect led elsewhere.
/// It also has to be the same credential: that of the same session, or the same user name. After a sign-out or another
/// sign-in, also of the same person or by the app's variable, it fails with
/// ``AuthenticationError/signedOut(delivery:)``; so it does after tokens that another process has stored, which may be
/// anybody's. To any other origin, and from another service, the request goes without a credential and without the
/// service's own header fields, which is what a storage service with signed URLs expects.
///
/// Enqueue it itself: an endpoint of yours can't pass its members on. <doc:DefiningRequests> has an example.
/// ``Atom/pages(of:as:maximumPages:)`` and its variants follow the pages of a list.
public struct LinkedEndpoint: Requestable {
    /// The method; GET by default.
    public var method: HTTPMethod = .get
    /// Header fields; none by default.
    public var headerItems: [HeaderItem]?
    /// The body; none by default.
    public var body: RequestBody?
    /// The deadlines; the service's by default.
    public var timeout: ServiceTimeout?
    /// The policy for failures; the service's by default.
    public var retryPolicy: RetryPolicy?
    /// Whether it may be sent again after the server may have received it; the method decides by default.
    public var idempotency: Idempotency?
    /// The status codes that count as success; 200…299 by default.
    public var acceptableStatusCodes: ClosedRange<Int> = 200...299
    /// Whether the request is signed where that is allowed; `true` by default.
    public var requiresAuthorization = true
    /// Whether the request shares the exchange of an identical one that is in flight; `false` by default.
    public var sharesIdenticalRequests = false
    /// How it uses the service's cache; not at all by default.
    public var caching: ResponseCaching = .disabled

    private let link: Link

    var target: TargetURL { link.target }

    /// The URL, and who may sign it.
    final class Link: Sendable {
        let target: TargetURL
        /// The origin of the response, if the credential may go there.
        let source: Origin?
        /// Whose response it is in; `nil` if the request for that wasn't signed.
        let tenure: Tenure?

        fileprivate init(_ target: TargetURL, source: Origin?, of tenure: Tenure?) {
            self.target = target
            self.source = source
            self.tenure = tenure
        }

        var baseURL: BaseURL {
            get throws(AtomError) {
                let port = target.port == target.scheme.defaultPort ? nil : target.port
                return try BaseURL(scheme: target.scheme, host: target.host, port: port)
            }
        }
    }

    /// The link of an endpoint that is one.
    static func link(of endpoint: any Requestable) -> Link? {
        // Nearly every endpoint is none, and a cast costs more.
        guard type(of: endpoint) == LinkedEndpoint.self else { return nil }
        return (endpoint as? LinkedEndpoint)?.link
    }

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - reference: What the server has sent: an absolute URL, or one that is relative to the response's (RFC 3986
    ///     §5). Only what no URL has, such as a space or a lone percent sign, is encoded. User information and the
    ///     fragment are dropped.
    ///   - response: The response that carried it.
    /// - Throws: ``RequestableError/invalidURL(_:)`` if that isn't the URL of an HTTP server.
    public init(_ reference: String, in response: AtomResponse) throws(AtomError) {
        let base = response.address.flatMap { TargetURL.resolving($0, against: nil) }
        guard let target = TargetURL.resolving(reference, against: base) else {
            throw .refused(
                RequestableError.invalidURL, Redaction.url(reference),
                because: "it is not an http or https URL, nor relative to the URL of the response",
                means: .serverProblem)
        }
        let isTrusted = response.tenure != nil && response.record?.hasLeftOrigin != true
        link = Link(target, source: isTrusted ? base?.origin : nil, of: response.tenure)
    }

    /// Creates an endpoint for a link that was decoded as a URL.
    ///
    /// - Throws: ``RequestableError/invalidURL(_:)`` if that isn't the URL of an HTTP server.
    public init(_ reference: URL, in response: AtomResponse) throws(AtomError) {
        try self.init(reference.absoluteString, in: response)
    }

    /// Creates an endpoint for another page of a list, with what the list's endpoint says of each of its requests.
    ///
    /// The list's own header fields go only where the app has sent them: to the origin that the list's endpoint names, if
    /// the link comes from there. Elsewhere go those that can't be a secret.
    ///
    /// - Throws: What the other initializers throw, and what the list's endpoint throws.
    init(_ reference: String, in response: AtomResponse, pageOf list: any Requestable) throws(AtomError) {
        try self.init(reference, in: response)
        let description = try RequestDescription(of: list)
        let home = try description.target().origin
        let sender = response.address.flatMap { TargetURL.resolving($0, against: nil) }?.origin
        let isAtHome = target.origin == home && sender == home && response.record?.hasLeftOrigin != true
        let items = description.headerItems.filter { item in
            // A body is sent with the first page alone, and conditions and ranges are about that.
            let isOfOnePage = ["content-", "if-", "range"].contains { item.name.lowercased().hasPrefix($0) }
            return !isOfOnePage && (isAtHome || HTTPGrammar.isHarmlessFieldName(item.name))
        }
        headerItems = items.isEmpty ? nil : items
        timeout = description.timeout
        retryPolicy = description.retryPolicy
        acceptableStatusCodes = description.acceptableStatusCodes
        requiresAuthorization = description.requiresAuthorization
        sharesIdenticalRequests = description.sharesIdenticalRequests
        caching = list.caching
    }

    /// Not used: the SDK takes the whole URL.
    ///
    /// - Throws: Always ``RequestableError/invalidBaseURL(_:)``: an endpoint that passes
    ///   its calls on to this one would send the credential to a server's choice.
    public func baseURL() throws(AtomError) -> BaseURL {
        throw .refused(
            RequestableError.invalidBaseURL, target.origin.string,
            because: "a server has chosen it; enqueue the LinkedEndpoint itself")
    }
}
