import Foundation

extension LoopbackServer {
    /// Responds to a request.
    ///
    /// It runs on the connection's own thread, concurrently with others, and may block.
    public typealias Handler = @Sendable (Request) -> Response

    /// A handler that chooses by method and path.
    ///
    /// A route is a method and a path, or only a path for any method. In a path
    /// `{name}` stands for one segment, which the handler finds in
    /// ``Request/parameters``, and a `*` at the end for any rest. The route that
    /// says most about a path wins: an exact one, then the one with the fewest
    /// placeholders, then the longest before a `*`. A path without a route gets
    /// a 404 that lists the routes.
    ///
    /// Paths are compared as they were sent, percent-encoded and without the query.
    ///
    /// ```swift
    /// import AtomNetworkingTesting
    ///
    /// let server = try LoopbackServer(handler: LoopbackServer.routes([
    ///     "POST /token": { _ in .json(#"{"access_token": "a"}"#) },
    ///     "GET /flights/{number}": { request in .text(request.parameters["number"] ?? "") },
    ///     "/files/*": { request in .text(request.path) },
    /// ]))
    /// ```
    public static func routes(_ routes: [String: Handler]) -> Handler {
        let known = routes.map { Route($0.key, $0.value) }.sorted { $0.precedes($1) }
        return { request in
            for route in known {
                guard let parameters = route.parameters(of: request) else { continue }
                var request = request
                request.parameters = parameters
                return route.handler(request)
            }
            let list = known.map { "\n  \($0.pattern)" }.sorted().joined()
            return .text("No route for \(request.method) \(request.path). There are:\(list)\n", status: 404)
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

/// One route of ``LoopbackServer/routes(_:)``.
private struct Route: Sendable {
    let pattern: String
    let handler: LoopbackServer.Handler
    private let method: String?
    private let segments: [Substring]
    private let hasRest: Bool

    init(_ pattern: String, _ handler: @escaping LoopbackServer.Handler) {
        self.pattern = pattern
        self.handler = handler
        let words = pattern.split(separator: " ", maxSplits: 1)
        method = words.count == 2 ? String(words[0]) : nil
        var path = words.last ?? ""
        hasRest = path.hasSuffix("*")
        if hasRest { path = path.dropLast() }
        segments = path.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Whether it is asked first.
    func precedes(_ other: Route) -> Bool {
        if hasRest != other.hasRest { return !hasRest }
        if hasRest, length != other.length { return length > other.length }
        if placeholders != other.placeholders { return placeholders < other.placeholders }
        if (method == nil) != (other.method == nil) { return method != nil }
        return pattern < other.pattern
    }

    private var placeholders: Int { segments.count { Self.name(of: $0) != nil } }
    private var length: Int { segments.reduce(0) { $0 + $1.utf8.count + 1 } }

    private static func name(of segment: Substring) -> String? {
        segment.hasPrefix("{") && segment.hasSuffix("}") ? String(segment.dropFirst().dropLast()) : nil
    }

    /// What stands for the placeholders; `nil` if the request is another route's.
    func parameters(of request: LoopbackServer.Request) -> [String: String]? {
        if let method, method != request.method { return nil }
        let sent = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard hasRest ? sent.count >= segments.count : sent.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (index, (segment, part)) in zip(segments, sent).enumerated() {
            if let name = Self.name(of: segment) {
                guard !part.isEmpty else { return nil }
                parameters[name] = part.removingPercentEncoding ?? String(part)
            } else if hasRest, index == segments.count - 1 {
                guard part.hasPrefix(segment) else { return nil }
            } else if segment != part {
                return nil
            }
        }
        return parameters
    }
}
