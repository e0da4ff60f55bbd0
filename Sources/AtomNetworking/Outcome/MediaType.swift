import Foundation

/// The parts of a `Content-Type` that a response is read by.
struct MediaType {
    /// The type and the subtype in lower case.
    let name: String
    /// The charset in lower case.
    let charset: String?

    init?(_ field: String?) {
        guard let field else { return nil }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        name = parts[0].lowercased()
        charset =
            parts.dropFirst().lazy.compactMap { parameter in
                let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                guard pair.count == 2, pair[0].lowercased() == "charset" else { return nil }
                return pair[1].trimmingCharacters(in: ["\""]).lowercased()
            }.first
    }

    /// RFC 8259, RFC 6839 §3.1.
    var isJSON: Bool { name == "application/json" || name == "text/json" || name.hasSuffix("+json") }

    /// RFC 7303 §9, except XHTML.
    var isXML: Bool { name == "text/xml" || name == "application/xml" || name.hasSuffix("+xml") && !isHTML }

    var isHTML: Bool { name == "text/html" || name == "application/xhtml+xml" }
}
