import Foundation

/// The search in a text that is a value in JSON.
extension CredentialSearch {
    /// What is shown of a text.
    enum ShownText {
        case unchanged
        case changed([UInt8])
        case hidden
    }

    /// A text may be a body of its own, a URL or a form, or have some in it.
    ///
    /// - Parameter depth: How many bodies it is in.
    static func text(_ text: [UInt8], depth: Int) -> ShownText {
        if CredentialValue.isJWT(in: text) { return .hidden }
        if isJSON(text) {
            guard let shown = body(Data(text), depth: depth + 1) else { return .hidden }
            return shown.elementsEqual(text) ? .unchanged : .changed(Array(shown))
        }
        if contains(text, "://") { return prose(text) }
        if text.contains(UInt8(ascii: "&")), isForm(text) {
            let shown = items(text)
            return shown == text ? .unchanged : .changed(shown)
        }
        return namesValue(text) ? .hidden : .unchanged
    }

    /// A text with URLs in it.
    ///
    /// What isn't a URL is searched as a whole.
    private static func prose(_ text: [UInt8]) -> ShownText {
        var shown: [UInt8] = []
        var rest: [UInt8] = []
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex { $0 <= 0x20 } ?? text.endIndex
            let word = Array(text[start..<end])
            let isAddress = contains(word, "://")
            shown += isAddress ? url(word) : word
            // With a quote in it, or a name before it, it's more than a URL.
            if !isAddress || !isOnlyURL(word) { rest += word }
            if end < text.endIndex {
                shown.append(text[end])
                rest.append(text[end])
            }
            start = end + 1
        }
        if namesValue(rest) { return .hidden }
        return shown == text ? .unchanged : .changed(shown)
    }

    private static func isOnlyURL(_ word: [UInt8]) -> Bool {
        let scheme = word.prefix { $0 != UInt8(ascii: ":") }
        return scheme.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "+-.".utf8.contains(byte)
        } && !word.contains { "\"<>\\^`{|}".utf8.contains($0) }
    }

    /// Whether a text has the name of a credential and then a sign with
    /// something behind it: `password = x`, but not `Wrong password`.
    private static func namesValue(_ text: [UInt8]) -> Bool {
        guard let end = text.lastIndex(where: { $0 > 0x20 && !signs.contains($0) }),
            let sign = text[..<end].lastIndex(where: { signs.contains($0) })
        else { return false }
        // Names of OAuth's own, such as those of the types of tokens.
        if text.starts(with: "urn:ietf:params:oauth:".utf8), !text.contains(where: { $0 <= 0x20 }) { return false }
        return CredentialName.isMentioned(in: text[..<sign])
    }

    private static let signs = Set(":=(>".utf8)
}
