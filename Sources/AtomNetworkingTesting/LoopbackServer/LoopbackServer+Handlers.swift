import Foundation

extension LoopbackServer {
    /// Responds to a request.
    ///
    /// It runs on the connection's own thread, concurrently with others, and
    /// may block.
    public typealias Handler = @Sendable (Request) -> Response

    /// A handler that looks up `"GET /path"`, then `"/path"` for any method,
    /// then the longest prefix that ends in `*`, and otherwise responds with a
    /// 404.
    ///
    /// Paths are compared as they were sent, percent-encoded and without the query.
    ///
    /// ```swift
    /// let server = try LoopbackServer(handler: LoopbackServer.routes([
    ///     "POST /token": { _ in .json(#"{"access_token": "a"}"#) },
    ///     "GET /files/*": { request in .text(request.path) },
    /// ]))
    /// ```
    public static func routes(_ routes: [String: Handler]) -> Handler {
        let prefixes = routes.filter { $0.key.hasSuffix("*") }
            .map { (prefix: String($0.key.dropLast()), handler: $0.value) }
            .sorted { $0.prefix.utf8.count > $1.prefix.utf8.count }
        return { request in
            let path = request.path
            let full = request.method + " " + path
            if let handler = routes[full] ?? routes[path] { return handler(request) }
            for (prefix, handler) in prefixes where full.hasPrefix(prefix) || path.hasPrefix(prefix) {
                return handler(request)
            }
            return .text("No route for \(full)", status: 404)
        }
    }

    /// A handler that returns the responses in order, and repeats the last one.
    public static func inTurn(_ responses: [Response]) -> Handler {
        precondition(!responses.isEmpty, "inTurn needs a response")
        let next = Guarded(0)
        return { _ in
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            return responses[min(index, responses.count - 1)]
        }
    }
}
