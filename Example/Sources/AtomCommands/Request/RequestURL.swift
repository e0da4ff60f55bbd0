import AtomNetworking
import Foundation

/// A URL that a user types, split into the SDK's parts.
///
/// It checks only the syntax of the text; the SDK checks whether a host or a path is valid.
struct RequestURL: Sendable {
    let base: BaseURL
    let path: String
    let queryItems: [QueryItem]

    /// - Throws: ``AtomError/requestable(_:)``, as for any request that can't be sent.
    init(_ text: String) throws(AtomError) {
        guard let parts = URLComponents(string: text), let host = parts.percentEncodedHost, !host.isEmpty,
            let scheme = parts.scheme.flatMap({ BaseURLScheme(rawValue: $0.lowercased()) })
        else { throw Self.refusal(text, "a URL must be like https://api.example.com/flights?from=SEA") }
        guard parts.user == nil else { throw Self.refusal(text, "use --basic for user name and password") }
        base = try BaseURL(scheme: scheme, host: host, port: parts.port)
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        // A plus is a space, as in forms and in nearly all servers.
        let items = (parts.percentEncodedQueryItems ?? []).filter { !$0.name.isEmpty }
        queryItems = items.map { item in
            func decoded(_ text: String?) -> String {
                text?.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return QueryItem(name: decoded(item.name), value: decoded(item.value))
        }
    }

    private static func refusal(_ text: String, _ reason: String) -> AtomError {
        .requestable(.invalidURL(.init(subject: text, reason: reason)))
    }
}
