import AtomNetworking
import Foundation

/// Says for which requests an answer is meant.
protocol RequestMatching: Sendable, CustomStringConvertible {
    /// Why a request isn't meant; empty if it is.
    func mismatches(of request: RecordedRequest) -> [String]
}

/// Says by a pattern for which requests an answer is meant.
struct RequestMatcher: RequestMatching {
    var method: String?
    var host: String?
    var path: String
    var query: [QueryItem]
    var headerItems: [HeaderItem]
    var condition: (@Sendable (RecordedRequest) throws -> Bool)?

    func mismatches(of request: RecordedRequest) -> [String] {
        var found: [String] = []
        if let method, method != request.method { found.append("the method is \(request.method)") }
        if let host, host.lowercased() != request.host { found.append("the host is \(request.host)") }
        if !Self.matches(request.path, pattern: path) { found.append("the path is \(request.path)") }
        let items = request.queryItems
        // As the request's own are read.
        for item in FormText.items(of: PercentEncoding.query(query)) where !items.contains(item) {
            let isThere = items.contains { $0.name == item.name }
            found.append("the query item \(item.name) \(isThere ? "has another value" : "is missing")")
        }
        for item in headerItems where !request.headerFields.values(for: item.name).contains(item.value) {
            let isThere = request.headerFields.contains(item.name)
            found.append("the header field \(item.name) \(isThere ? "has another value" : "is missing")")
        }
        // The app's condition may rely on everything else.
        guard found.isEmpty, let condition else { return found }
        do {
            return try condition(request) ? [] : ["its condition doesn't hold"]
        } catch {
            return ["its condition throws \(type(of: error))"]
        }
    }

    /// Compares segment by segment, without percent-encoding.
    ///
    /// In a pattern `*` stands for one segment and `**` for any number of them.
    static func matches(_ path: String, pattern: String) -> Bool {
        let segments = segments(of: path)
        let patterns = Self.segments(of: pattern)
        /// The numbers of segments that the patterns so far can stand for.
        var reached: Set<Int> = [0]
        for pattern in patterns {
            switch pattern {
            case "**": reached = Set((reached.min() ?? segments.count)...segments.count)
            case "*": reached = Set(reached.filter { $0 < segments.count && !segments[$0].isEmpty }.map { $0 + 1 })
            default: reached = Set(reached.filter { $0 < segments.count && segments[$0] == pattern }.map { $0 + 1 })
            }
            if reached.isEmpty { return false }
        }
        return reached.contains(segments.count)
    }

    private static func segments(of path: String) -> [String] {
        let text = path.hasPrefix("/") ? path.dropFirst() : Substring(path)
        return text.split(separator: "/", omittingEmptySubsequences: false).map {
            $0.removingPercentEncoding ?? String($0)
        }
    }
}

extension RequestMatcher: CustomStringConvertible {
    /// What is asked for, without values.
    var description: String {
        var text = [method, (host ?? "") + path].compactMap { $0 }.joined(separator: " ")
        if !query.isEmpty { text += ", query " + query.map(\.name).joined(separator: ", ") }
        if !headerItems.isEmpty { text += ", header " + headerItems.map(\.name).joined(separator: ", ") }
        if condition != nil { text += ", with a condition" }
        return text
    }
}
