import AtomNetworking
import Foundation

/// The search in a value, whatever carries it: a query item, a field of a form or
/// of a header, a text in JSON, a parameter.
extension CredentialSearch {
    /// The text without credentials; `nil` if it must be hidden.
    ///
    /// A text may be JSON, a form, a URL, a list of parameters, the value of an `Authorization` field or a token, or
    /// have some of them in it. Each of them has values that are searched in the same way. A text that is looked at in
    /// several ways has them one after the other, so the search takes a number of passes that doesn't depend on the
    /// text.
    ///
    /// - Parameter depth: How many other values this one is in.
    static func text(_ text: [UInt8], depth: Int) -> [UInt8]? {
        if isJSON(text) { return depth < deepest ? body(text, depth: depth + 1) : nil }
        return sentence(text, depth: depth)
    }

    /// The same for a text that isn't JSON.
    static func sentence(_ text: [UInt8], depth: Int) -> [UInt8]? {
        if text.contains(UInt8(ascii: "&")), isForm(text) {
            return depth < deepest ? items(text, depth: depth + 1) : nil
        }
        if contains(slashed(text), "://") { return depth < deepest ? prose(text, depth: depth + 1) : nil }
        return plainText(text, depth: depth)
    }

    /// What is in more values is hidden.
    private static let deepest = 4

    /// A sentence with URLs in it.
    ///
    /// What isn't a URL is searched as a whole.
    private static func prose(_ text: [UInt8], depth: Int) -> [UInt8]? {
        var shown: [UInt8] = []
        var rest: [UInt8] = []
        var start = text.startIndex
        while start < text.endIndex {
            let end: Int = text[start...].firstIndex { $0 <= 0x20 || "\"<>".utf8.contains($0) } ?? text.endIndex
            let word = Array(text[start..<end])
            let colon = firstIndex(of: "://", in: slashed(word))
            shown += colon == nil ? word : url(word, depth: depth)
            // With a name before it, it's more than a URL.
            if !word[..<(colon ?? 0)].allSatisfy({ schemeBytes.contains($0) }) || colon == nil { rest += word }
            if end < text.endIndex {
                shown.append(text[end])
                rest.append(text[end])
            }
            start = end + 1
        }
        guard plainText(rest, depth: depth) == rest, !CredentialValue.isJWT(in: shown) else { return nil }
        return shown
    }

    private static let schemeBytes = ByteSet.alphanumeric.union("+-.")

    /// A sentence without URLs.
    private static func plainText(_ text: [UInt8], depth: Int) -> [UInt8]? {
        if CredentialValue.isJWT(in: text) || CredentialValue.isAuthorization(text) { return nil }
        let parameters = depth < deepest ? parameters(text) : nil
        if let parameters { return withoutCredentials(text, in: parameters, depth: depth + 1) }
        if namesValue(text) { return nil }
        for word in text.split(whereSeparator: { $0 <= 0x20 }) where depth < deepest {
            // A URL without `://`, as in `/a`, `app:/a?b=c` or `https:/u:p@a`.
            let hasQuery = word.drop { !"?#".utf8.contains($0) }.contains(UInt8(ascii: "="))
            let mayBeURL = hasQuery || word.starts(with: "/".utf8) || word.contains(UInt8(ascii: "@"))
            if mayBeURL, url(Array(word), depth: depth + 1) != Array(word) { return nil }
        }
        guard text.contains(UInt8(ascii: "%")) else { return text }
        let meant = decoded(text[...])
        guard meant.count < text.count else { return text }
        return depth < deepest && self.text(meant, depth: depth + 1) == meant ? text : nil
    }

    // MARK: Parameters

    private struct Parameter {
        let name: Range<Int>
        let value: Range<Int>
    }

    private static func withoutCredentials(_ text: [UInt8], in parameters: [Parameter], depth: Int) -> [UInt8] {
        var shown: [UInt8] = []
        var index = 0
        let names = parameters.map { String(decoding: text[$0.name], as: UTF8.self) }
        let isOAuth = names.contains { CredentialName.isBesideCode($0) }
        for (parameter, name) in zip(parameters, names) {
            let value = Array(text[parameter.value])
            let isHidden =
                CredentialName.isOne(name, value: value) || isOAuth && CredentialName.isCode(name)
                || self.text(value, depth: depth) != value
            guard isHidden, !value.isEmpty else { continue }
            shown += text[index..<parameter.value.lowerBound] + hiddenBytes
            index = parameter.value.upperBound
        }
        return shown + text[index...]
    }

    /// The parameters of a text that consists of them, as in
    /// `a; name=value, name="value"` (RFC 9110 §5.6.6), maybe with a scheme.
    private static func parameters(_ text: [UInt8]) -> [Parameter]? {
        var found: [Parameter] = []
        var index = 0
        func word(_ bytes: ByteSet) -> Range<Int> {
            let start = index
            while index < text.count, bytes.contains(text[index]) { index += 1 }
            return start..<index
        }
        while true {
            _ = word(spaces)
            var name = word(nameBytes)
            if !word(spaces).isEmpty, CredentialValue.scheme(text[name]) != nil { name = word(nameBytes) }
            if index < text.count, index == name.upperBound, text[index] == UInt8(ascii: "=") {
                index += 1
                var value = word(valueBytes)
                if value.isEmpty, index < text.count, text[index] == quote {
                    index = JSONSearch.endOfString(in: text, from: index)
                    guard index > value.lowerBound + 1, text[index - 1] == quote else { return nil }
                    value = value.lowerBound + 1..<index - 1
                }
                found.append(Parameter(name: name, value: value))
            }
            _ = word(spaces)
            guard index < text.count else { return found.isEmpty ? nil : found }
            guard text[index] == UInt8(ascii: ";") || text[index] == UInt8(ascii: ",") else { return nil }
            index += 1
        }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let spaces = ByteSet(" \t")
    private static let nameBytes = ByteSet.alphanumeric.union("!$&'*+-./^_`|~[]")
    private static let valueBytes = nameBytes.union("#=:@?%(){}<>\\")

    // MARK: Sentences

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

    private static let signs = ByteSet(":=(>")
}
