import AtomNetworking
import Foundation

/// A URL that a user types, split into the SDK's parts.
///
/// It checks only the syntax of the text; ``AtomNetworking`` checks whether a
/// host or a path is valid.
struct RequestURL: Sendable, Equatable {
    let scheme: BaseURLScheme
    let host: String
    let port: Int?
    let path: String
    let queryItems: [QueryItem]

    /// - Throws: ``AtomError/requestable(_:)``, as for any request that can't be sent.
    init(_ text: String) throws(AtomError) {
        guard let colon = text.range(of: "://"),
            let scheme = BaseURLScheme(rawValue: text[..<colon.lowerBound].lowercased())
        else { throw Self.refusal(text, "a URL must begin with http:// or https://") }
        self.scheme = scheme
        let rest = text[colon.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest[authority.endIndex...]
        guard !authority.contains("@") else {
            throw Self.refusal(text, "use --basic for user name and password")
        }
        (host, port) = try Self.split(authority: String(authority), of: text)
        let path = target.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        queryItems = try Self.items(query: target[path.endIndex...].dropFirst(), of: text)
    }

    /// An IPv6 address keeps its brackets; the SDK rejects invalid hosts.
    private static func split(authority: String, of text: String) throws(AtomError) -> (String, Int?) {
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket ?? authority.startIndex
        guard let colon = authority[end...].firstIndex(of: ":"), colon == authority[end...].lastIndex(of: ":") else {
            return (authority, nil)
        }
        let digits = authority[authority.index(after: colon)...]
        guard digits.allSatisfy(\.isASCII), let port = Int(digits) else {
            throw refusal(text, "the port is not a number")
        }
        return (String(authority[..<colon]), port)
    }

    /// A plus is a space, as in forms and in nearly all servers.
    private static func items(query: Substring, of text: String) throws(AtomError) -> [QueryItem] {
        var items: [QueryItem] = []
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            let value = pair[name.endIndex...].dropFirst()
            guard let name = decoded(name), let value = decoded(value) else {
                throw refusal(text, "the query is not percent-encoded UTF-8; you can use --query instead")
            }
            items.append(QueryItem(name: name, value: value))
        }
        return items
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    private static func refusal(_ text: String, _ reason: String) -> AtomError {
        .requestable(.invalidURL(.init(subject: text, reason: reason)))
    }
}
