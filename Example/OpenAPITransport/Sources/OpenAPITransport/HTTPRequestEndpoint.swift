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
    init(_ request: HTTPRequest, body: RequestBody?, server: String, options: OperationOptions) {
        method = HTTPMethod(request.method)
        // The body knows its length. The subscript joins fields of one name.
        headerItems = request.headerFields.filter { $0.name != .contentLength }
            .map { HeaderItem(name: $0.name.rawName, value: request.headerFields[$0.name] ?? $0.value) }
        self.body = body
        self.options = options
        target = Result { () throws(AtomError) in try Target(request.path ?? "", of: server) }
    }

    /// Where the request goes.
    private struct Target {
        let base: BaseURL
        let path: URLPath
        let queryItems: [QueryItem]

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
            queryItems = query.isEmpty ? [] : QueryItem.items(percentEncodedQuery: String(query.dropFirst()))
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
        return enqueue(HTTPRequestEndpoint(request, body: body, server: server, options: options))
    }
}
