import Foundation

/// Media types (RFC 9110 §8.3.1).
enum MediaTypeGrammar {
    /// Whether the text is a type and a subtype, with or without parameters.
    static func isValid(_ text: String) -> Bool { text.range(of: pattern, options: .regularExpression) != nil }

    private static let pattern: String = {
        let token = #"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"#
        // `quoted-string` (§5.6.4).
        let quoted = #""(?:[^\x00-\x08\x0A-\x1F\x7F"\\]|\\[^\x00-\x08\x0A-\x1F\x7F])*+""#
        // A parameter may be missing (§5.6.6).
        return #"\A\#(token)/\#(token)(?:[ \t]*+;[ \t]*+(?:\#(token)=(?:\#(token)|\#(quoted)))?+)*+\z"#
    }()
}
