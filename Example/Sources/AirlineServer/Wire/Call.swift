import Foundation

/// A request in the form for the endpoints.
struct Call: Sendable {
    let method: String
    /// The decoded path.
    let path: String
    /// The path and query as they were sent.
    let target: String
    let headers: [(name: String, value: String)]
    let query: [(name: String, value: String)]
    let body: Data
    /// The digest of a body that isn't kept; ``body`` is empty then.
    var digest: BodyDigest?
    /// The values of the route's placeholders.
    var parameters: [String: String] = [:]

    func header(_ name: String) -> String? {
        headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }

    func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    func parameter(_ name: String) -> String {
        parameters[name] ?? ""
    }

    /// The content type without its parameters, in lower case.
    var mediaType: String? {
        header("Content-Type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
}

extension Call {
    /// A whole number from the query, within bounds.
    func query(_ name: String, default fallback: Int, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = query(name) else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            throw Problem(422, "invalid_query", "\(name) must be a whole number \(bounds).")
        }
        return number
    }

    /// The body as JSON.
    func json<Value: Decodable>(_ type: Value.Type) throws(Problem) -> Value {
        guard mediaType == "application/json" else {
            throw Problem(415, "unsupported_media_type", "The body must be application/json.")
        }
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch let DecodingError.typeMismatch(_, context) where !context.codingPath.isEmpty {
            let field = context.codingPath.map(\.stringValue).joined(separator: ".")
            let fields = [field: "has the wrong type"]
            throw Problem(422, "validation_failed", "The body is not acceptable.", fields: fields)
        } catch {
            throw Problem(400, "malformed_json", "The body is not the expected JSON.")
        }
    }
}
