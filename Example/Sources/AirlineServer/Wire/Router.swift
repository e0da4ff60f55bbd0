/// Finds the endpoint for a method and a path.
///
/// A segment of a pattern that starts with a colon matches any one segment; a
/// last segment `*` matches any number of segments.
struct Router: Sendable {
    typealias Endpoint = @Sendable (Call) async throws -> Reply

    /// How the body of a request is read.
    enum BodyReading {
        /// The endpoint gets it, up to the server's limit.
        case kept
        /// The endpoint gets only its digest, and its size isn't limited; a form
        /// is kept.
        case digested
    }

    private struct Route {
        var method: String
        var pattern: [String]
        var body: BodyReading
        var endpoint: Endpoint
    }

    enum Match {
        case found(Endpoint, body: BodyReading, parameters: [String: String])
        case methodNotAllowed(allowed: [String])
        case notFound
    }

    /// Routes by their first segment.
    private var routes: [String: [Route]] = [:]

    /// Adds an endpoint; the method `*` matches every method.
    mutating func on(
        _ method: String, _ path: String, body: BodyReading = .kept, _ endpoint: @escaping Endpoint
    ) {
        let pattern = path.split(separator: "/").map(String.init)
        routes[pattern.first ?? "", default: []].append(
            Route(method: method, pattern: pattern, body: body, endpoint: endpoint))
    }

    func match(method: String, path: String) -> Match {
        let segments = path.split(separator: "/")
        var allowed: [String] = []
        for route in routes[segments.first.map(String.init) ?? ""] ?? [] {
            guard let parameters = parameters(of: route.pattern, for: segments) else { continue }
            if route.method == method || route.method == "*" || (method == "HEAD" && route.method == "GET") {
                return .found(route.endpoint, body: route.body, parameters: parameters)
            }
            allowed.append(route.method)
        }
        return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed: allowed)
    }

    private func parameters(of pattern: [String], for segments: [Substring]) -> [String: String]? {
        let isOpen = pattern.last == "*"
        guard isOpen ? segments.count >= pattern.count - 1 : segments.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(isOpen ? pattern.dropLast() : pattern[...], segments) {
            if part.hasPrefix(":") {
                parameters[String(part.dropFirst())] = String(segment)
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}
