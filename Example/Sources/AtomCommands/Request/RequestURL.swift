import AtomNetworking
import Foundation

/// A URL as a person types it, taken apart for the SDK.
///
/// Only what the text says about its own parts is judged here; whether a host
/// or a path can be used is for ``AtomNetworking`` to say.
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
        else { throw Self.refusal(text, "a URL begins with http:// or https://") }
        self.scheme = scheme
        let rest = text[colon.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest[authority.endIndex...]
        guard !authority.contains("@") else {
            throw Self.refusal(text, "give user name and password with --basic")
        }
        (host, port) = try Self.split(authority: String(authority), of: text)
        let path = target.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        queryItems = try Self.items(query: target[path.endIndex...].dropFirst(), of: text)
    }

    /// An IPv6 address keeps its brackets; whatever looks wrong is left for the SDK to refuse.
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

    /// A plus is a space, as forms and nearly all servers have it.
    private static func items(query: Substring, of text: String) throws(AtomError) -> [QueryItem] {
        var items: [QueryItem] = []
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            let value = pair[name.endIndex...].dropFirst()
            guard let name = decoded(name), let value = decoded(value) else {
                throw refusal(text, "the query is not properly percent-encoded UTF-8; or give it with --query")
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
