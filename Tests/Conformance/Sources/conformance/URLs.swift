import Foundation

@testable import AtomNetworking

extension Conformance {
    /// References to URLs.
    ///
    /// The SDK reads those of HTTP servers, and sends neither user
    /// information nor a fragment; everything else is refused.
    static func urls(_ folder: Folder) throws -> [Case] {
        try folder.list("rust-url/url/tests/urltestdata.json").compactMap { item in
            guard let input = item["input"] as? String else { return nil }
            let base = item["base"] as? String
            let result = TargetURL.resolving(input, against: base.flatMap { TargetURL.resolving($0, against: nil) })
            return Case(
                "", "\(input) against \(base ?? "nothing")",
                problem: Case.difference(target(item["href"] as? String), result?.absoluteString))
        }
    }

    /// What the SDK sends of a URL of the standard.
    private static func target(_ href: String?) -> String? {
        guard let href, let scheme = ["http://", "https://"].first(where: href.hasPrefix) else { return nil }
        let rest = href.dropFirst(scheme.count).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return scheme + host + rest.dropFirst(authority.count)
    }

    /// Parts of a URL that the app gives.
    ///
    /// Each is what the standard makes of it, or refused.
    /// What the standard ignores has to be refused.
    static func setters(_ folder: Folder) throws -> [Case] {
        let object = try JSONSerialization.jsonObject(with: folder.bytes("rust-url/url/tests/setters_tests.json"))
        let groups = object as? [String: Any] ?? [:]
        return ["hostname", "port", "pathname"].flatMap { part in
            (groups[part] as? [[String: Any]] ?? []).compactMap { item -> Case? in
                guard let href = item["href"] as? String, let value = item["new_value"] as? String,
                    let expected = (item["expected"] as? [String: String])?[part], href.hasPrefix("http"),
                    let before = URLComponents(string: href)
                else { return nil }
                let old: String? =
                    switch part {
                    case "hostname": before.encodedHost
                    case "port": before.port.map(String.init) ?? ""
                    default: before.percentEncodedPath
                    }
                let wanted = expected == old ? nil : expected
                return Case(
                    part, "\(value) in \(href)",
                    problem: Case.difference(wanted, given(value, as: part, scheme: before.scheme)))
            }
        }
    }

    private static func given(_ value: String, as part: String, scheme: String?) -> String? {
        switch part {
        case "hostname": return (try? BaseURL(host: value))?.origin.host
        case "pathname": return (try? URLPath(value))?.encoded
        default:
            let base = try? BaseURL(string: "\(scheme ?? "http")://example.net:\(value)")
            return base.map { $0.port == $0.scheme.defaultPort ? "" : $0.port.map(String.init) ?? "" }
        }
    }
}
