import Foundation

@testable import AtomNetworking

enum RedactionTargets {
    /// It doesn't look like a token: only its place says that it is a secret.
    private static let word = "hunter2"
    /// It looks like a token, wherever it is.
    private static let token = "Zx9Qw8Er7Ty6Ui5Op4As3Df2"

    /// Texts, URLs, fields and JSON that have a secret in them, between two texts.
    @Sendable static func redaction(_ input: Input) {
        let (first, second) = (input.text(0), input.text(1))
        guard !input.text.has(word), !input.text.has(String(token.prefix(8))) else { return }
        let address = "https://a.example/\(first)"
        // In a query, before the host, and behind a name in a path.
        hides(word, Redaction.url("\(address)?\(second)=\(word)"), [first, second])
        hides(word, Redaction.url("\(address)?\(second)=\(word)&\(second)"), [first, second])
        let user = String(first.unicodeScalars.filter { !"/?#".unicodeScalars.contains($0) })
        hides(word, Redaction.url("https://\(user):\(word)@a.example/"), [user])
        hides(word, Redaction.url("https://u:\(word)@\(second)"), [second])
        hides(word, Redaction.url("\(address);id=\(word)"), [first])
        hides(word, Redaction.subject("a\(first)?\(word)\(second)"), [first, second])
        hides(
            word, Redaction.excerpt("\(first) https://a.example/?x=\(word) \(second)", limit: 4_000), [first, second])
        let name = String(first.unicodeScalars.filter { !$0.properties.isWhitespace })
        hides(word, Redaction.excerpt("see https://a.example/?\(name)=\(word)", limit: 4_000), [name])
        hides(word, Redaction.excerpt("see /a?\(name)=\(word)", limit: 4_000), [name])
        // The name of a field whose value is shown says nothing.
        let isPlain = HeaderFields([HeaderItem(name: first, value: "plain")]).redacted.contains { $0.value == "plain" }
        let fields = [
            ("warning", "token=\(second)\(word)"), (isPlain ? "x" : first, word), ("server", "\(first);token=\(word)"),
            ("x-a", word),
            ("via", "\(first)\(token)"),
        ]
        .map { HeaderItem(name: $0, value: $1) }
        for field in HeaderFields(fields).redacted { hides(word, field.name + field.value, [first, field.name]) }
        hides(token, "\(HeaderFields(fields).redacted.map { $0.name + $0.value })", [first])
        if second.unicodeScalars.first(where: { !$0.properties.isWhitespace }) != ":" {
            hides(word, Redaction.jsonOutline(Data("{\(first):\"\(word)\"\(second)".utf8)), [first, second])
        }
        let text = "\(first)\(token)\(second)"
        hides(token, Redaction.withoutTokens(text), [first, second])
        hides(token, Redaction.excerpt(text, limit: 4_000), [first, second])
        hides(token, Redaction.subject(text), [first, second])
        hides(token, Redaction.name(text, limit: 4_000), [first, second])
        hides(token, Redaction.url("https://a.example/\(text)"), [first, second])
        hides(token, Redaction.jsonOutline(Data("{\"\(text)\":1}".utf8), limit: 4_000), [first, second])
        hides(token, Redaction.mediaType(text) ?? "", [first, second])
        hides(token, Redaction.mediaType("text/plain;charset=\(text)") ?? "", [first, second])
        checkAgain(text)
        checkAgain("\(address)?\(second)")
    }

    private static func hides(_ secret: String, _ shown: String, _ texts: [String], line: UInt = #line) {
        check(!shown.has(secret), "the secret is hidden", [shown] + texts, line: line)
    }

    /// What has been redacted isn't changed by another time, and can be shown in one line.
    private static func checkAgain(_ text: String) {
        let shown = [Redaction.excerpt(text), Redaction.url(text), Redaction.subject(text), Redaction.name(text)]
        check(!shown.contains { $0.breaksLine }, "what is shown is a line", [text, shown])
        // What is escaped or clipped gets longer.
        guard text.utf8.count <= 60, !shown[1].has("\\u{") else { return }
        let bare = Redaction.withoutTokens(text)
        check(Redaction.withoutTokens(bare) == bare, "tokens are hidden once", [text, bare])
        check(Redaction.url(shown[1]) == shown[1], "a URL stays", [text, shown[1], Redaction.url(shown[1])])
    }

    /// A known secret, and texts in which it is written in several ways.
    @Sendable static func secrets(_ input: Input) {
        let secret = input.text(0)
        let (first, second) = (input.text(1), input.text(2))
        guard secret.utf8.count >= 8,
            secret.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "-._~+/=".utf8.contains($0) })
        else { return }
        let encoded = secret.utf8.map { "%\(String(Int($0) | 0x100, radix: 16).dropFirst())" }.joined()
        let twice = encoded.replacingOccurrences(of: "%", with: "%25")
        let written = [secret, secret.uppercased(), encoded, twice, PercentEncoding.formEncode(secret)]
        for written in written {
            let text = first + written + second
            let shown = Redaction.withoutTokens(text, secrets: [secret])
            let read = plain(shown)
            let meant = plain(secret)
            let pieces = Set((0...(meant.count - min(8, meant.count))).map { Array(meant[$0...].prefix(8)) })
            for index in read.indices {
                check(!pieces.contains(Array(read[index...].prefix(8))), "no part is shown", [secret, text, shown])
            }
            let mark = "(-)"
            _ = Redaction.withoutTokens(text, secrets: [secret], mark: mark)
            let body = AtomResponse(
                data: Data(text.utf8), statusCode: 400,
                headerFields: HeaderFields([.init(name: "Content-Type", value: "text/plain")]))
            let words = plain(body.quotes(without: { [secret] }).words ?? "")
            for index in words.indices {
                check(!pieces.contains(Array(words[index...].prefix(8))), "no word shows a part", [secret, text])
            }
        }
    }

    /// The bytes that a text means: percent-encoded several times or not, in lower case, with spaces for `+`.
    private static func plain(_ text: String) -> [UInt8] {
        let source = Array(text.utf8)
        var (meant, index) = ([UInt8](), 0)
        func hex(_ index: Int) -> UInt8? {
            guard index + 1 < source.count else { return nil }
            return PercentEncoding.hexValue(source[index]).flatMap { high in
                PercentEncoding.hexValue(source[index + 1]).map { high << 4 | $0 }
            }
        }
        while index < source.count {
            var digits = index + 1
            while source[index] == 0x25, source[digits...].starts(with: "25".utf8), hex(digits + 2) != nil {
                digits += 2
            }
            let byte = source[index] == 0x25 ? hex(digits) : nil
            index = byte == nil ? index + 1 : digits + 2
            let folded = byte ?? source[index - 1]
            meant.append(folded == 0x2B ? 0x20 : (0x41...0x5A).contains(folded) ? folded | 0x20 : folded)
        }
        return meant
    }
}
