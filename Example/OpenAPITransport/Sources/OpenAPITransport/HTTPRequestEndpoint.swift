import AtomNetworking
import Foundation
import HTTPTypes

/// An endpoint for a request of HTTPTypes.
struct HTTPRequestEndpoint: Requestable {
    let method: HTTPMethod
    let headerItems: [HeaderItem]?
    let body: RequestBody?
    private let options: OperationOptions
    private let target: Result<Target, AtomError>

    var queryItems: [QueryItem]? { (try? target.get())?.queryItems }
    var requiresAuthorization: Bool { options.requiresAuthorization }
    var timeout: ServiceTimeout? { options.timeout }
    var retryPolicy: RetryPolicy? { options.retryPolicy }
    var idempotency: Idempotency? { options.idempotency }

    func baseURL() throws(AtomError) -> BaseURL { try target.get().base }
    func path() throws(AtomError) -> URLPath { try target.get().path }

    /// Makes the endpoint that sends the path and the query as they are in the request.
    ///
    /// - Parameter server: The URL that the request's path is appended to.
    static func make(
        _ request: HTTPRequest, body: RequestBody?, server: String, options: OperationOptions
    ) -> any Requestable {
        let endpoint = HTTPRequestEndpoint(request, body: body, server: server, options: options)
        return endpoint.link ?? endpoint
    }

    private init(_ request: HTTPRequest, body: RequestBody?, server: String, options: OperationOptions) {
        method = HTTPMethod(request.method)
        // The body knows its length. The subscript joins fields of one name.
        headerItems = request.headerFields.filter { $0.name != .contentLength }
            .map { HeaderItem(name: $0.name.rawName, value: request.headerFields[$0.name] ?? $0.value) }
        self.body = body
        self.options = options
        target = Result { () throws(AtomError) in try Target(request.path ?? "", of: server) }
    }

    /// The same request with its query as written, if the SDK would write it in another way.
    ///
    /// An array that isn't exploded is `ids=1,2`. As query items it would be
    /// `ids=1%2C2`, which some servers read as one value.
    private var link: LinkedEndpoint? {
        guard let target = try? target.get(), !target.isWrittenBySDK, let server = URL(string: "\(target.base)"),
            var link = try? LinkedEndpoint(target.text, in: AtomResponse(statusCode: nil, url: server))
        else { return nil }
        link.method = method
        link.headerItems = headerItems
        link.body = body
        link.requiresAuthorization = requiresAuthorization
        link.timeout = timeout
        link.retryPolicy = retryPolicy
        link.idempotency = idempotency
        return link
    }

    /// Where the request goes.
    private struct Target {
        let base: BaseURL
        let path: URLPath
        let queryItems: [QueryItem]
        /// The path and the query, as written.
        let text: String

        /// - Parameters:
        ///   - target: The path, and maybe a query, below the server's own path.
        ///   - server: The server's URL.
        init(_ target: String, of server: String) throws(AtomError) {
            guard let authority = server.range(of: "://")?.upperBound,
                !server.contains(where: { "?#".contains($0) })
            else {
                throw .requestable(
                    .invalidBaseURL(
                        .init(subject: server, reason: "a server's URL is absolute, without a query or fragment")))
            }
            let slash = server[authority...].firstIndex(of: "/") ?? server.endIndex
            base = try BaseURL(string: String(server[..<slash]))
            let query = target[(target.firstIndex(of: "?") ?? target.endIndex)...]
            var path = server[slash...]
            if path.hasSuffix("/") { path.removeLast() }
            path += target[..<query.startIndex]
            if path.isEmpty { path = "/" }
            self.path = try URLPath(String(path))
            queryItems = query.dropFirst().split(separator: "&").map { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { $0.removingPercentEncoding ?? String($0) }
                return QueryItem(name: parts[0], value: parts.count == 2 ? parts[1] : "")
            }
            text = String(path + query)
        }

        /// Whether the SDK writes path and query in the same way.
        var isWrittenBySDK: Bool {
            TargetURL(base: base, path: path, queryItems: queryItems).pathAndQuery == text
        }
    }
}

extension Atom {
    /// Creates a service for a request of HTTPTypes, with its scheme, authority, path and header fields.
    ///
    /// - Parameters:
    ///   - request: The request. Its path and query are sent as they are.
    ///   - body: The body; none by default.
    ///   - requiresAuthorization: Whether the request is signed.
    public func enqueue(
        _ request: HTTPRequest, body: RequestBody? = nil, requiresAuthorization: Bool = true
    ) -> Service {
        var options = OperationOptions()
        options.requiresAuthorization = requiresAuthorization
        let server = "\(request.scheme ?? "")://\(request.authority ?? "")"
        return enqueue(HTTPRequestEndpoint.make(request, body: body, server: server, options: options))
    }
}
