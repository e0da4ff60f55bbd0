import Foundation

@testable import AtomNetworking
@testable import AtomNetworkingExports
@testable import AtomNetworkingTesting

enum ExportTargets {
    /// Only its name says that it is a credential.
    private static let word = "hunter2"

    /// What the exports show of bodies, URLs and fields with a credential in them, between two texts.
    @Sendable static func search(_ input: Input) {
        let (first, second) = (input.text(0), input.text(1))
        guard !input.text.has(word) else { return }
        for text in ["\(first)\"password\":\"\(word)\"\(second)", "{\"a\":[\(first),{\"token\":\"\(word)\"\(second)"] {
            hides(CredentialSearch.body(Array(text.utf8), depth: 0), [text])
        }
        for text in ["\(first)&password=\(word)&\(second)", "a=\(first)&client_secret=\(word)"] {
            hides(CredentialSearch.body(Array(text.utf8), depth: 0), [text])
        }
        for text in ["https://a.example/\(first)?access_token=\(word)", "https://a.example/?\(first)&password=\(word)"]
        {
            let shown = CredentialSearch.url(text)
            hides(Array(shown.utf8), [text])
            check(isShown(CredentialSearch.url(shown), for: shown), "a URL stays or is hidden", [text, shown])
        }
        let events = "data: \(first)\ndata: {\"password\":\"\(word)\"}\n\(second)\n"
        hides(CredentialSearch.responseBody(Data(events.utf8), "text/event-stream").map { Array($0) }, [events])
        for name in ["Authorization", "X-Api-Key", "Cookie", "Set-Cookie"] {
            let value = "\(first)\(word)\(second)"
            // The word before a space is the scheme.
            let scheme = first.utf8.prefix { $0 != 0x20 }
            guard scheme.count < first.utf8.count else { continue }
            hides(Array(CredentialSearch.value(of: .init(name: name, value: value)).utf8), [name, value])
        }
        for body in [input.bytes, Array(first.utf8)] {
            guard let shown = CredentialSearch.body(body, depth: 0) else { continue }
            let again = CredentialSearch.body(shown, depth: 0).map { isShown(Input($0).text, for: Input(shown).text) }
            check(again ?? true, "what is shown stays or is hidden", [Input(body).text])
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(body))) != nil
            let staysJSON = (try? JSONSerialization.jsonObject(with: Data(shown))) != nil
            check(!isJSON || staysJSON, "JSON stays JSON", [Input(body).text, Input(shown).text])
        }
        let content = JSONString.encoded(Array(first.utf8))
        check(JSONString.decoded(content[...]) == Array(first.utf8), "a string of JSON is the same", [first])
    }

    /// The word `HIDDEN` may itself look like a credential, or the rest of a value beside it.
    private static func isShown(_ again: String, for shown: String) -> Bool {
        let (first, second) = (shown.split(separator: "&"), again.split(separator: "&"))
        return first.count == second.count && zip(first, second).allSatisfy { $0 == $1 || $1.contains("HIDDEN") }
    }

    private static func hides(_ shown: [UInt8]?, _ texts: [String], line: UInt = #line) {
        let text = String(decoding: shown ?? [], as: UTF8.self)
        check(!text.has(word), "the credential is hidden", [text] + texts, line: line)
    }

    /// Recordings that tools write: the bytes of a file, or the parts of one entry.
    @Sendable static func har(_ input: Input) {
        checkArchive(input.data)
        let texts = input.texts
        guard texts.count > 4 else { return }
        let entry: [String: Any?] = [
            "request": [
                "method": texts[0], "url": texts[1], "headers": [["name": texts[2], "value": texts[3]]],
                "postData": ["mimeType": texts[3], "text": texts[4], "_encoding": texts[2]],
            ],
            "response": [
                "status": Int(texts[4]) ?? 200, "headers": [["name": texts[2], "value": texts[4]]],
                "content": ["text": texts[3], "encoding": texts[2], "mimeType": texts[4]],
            ],
            "_failure": texts.count > 5 ? ["code": Int(texts[5]) ?? -1, "delivery": texts[0]] : nil,
        ]
        let shown = entry.compactMapValues(\.self)
        let file: [String: Any] = ["log": ["entries": [shown, shown]]]
        if let data = try? JSONSerialization.data(withJSONObject: file) { checkArchive(data) }
    }

    private static func checkArchive(_ data: Data) {
        guard let archive = try? HTTPArchive(data) else { return }
        check(!archive.review.description.isEmpty, "a review says something", [])
        for entry in archive.entries { _ = (entry.answer, entry.description) }
    }

    /// A word of a shell is the text again.
    @Sendable static func shell(_ input: Input) {
        let text = String(decoding: input.bytes.filter { $0 != 0 }, as: UTF8.self)
        let word = ShellWord.quoted(text)
        check(!word.utf8.contains { $0 < 0x20 && $0 != 0x0A && $0 != 0x09 || $0 == 0x7F }, "it can be seen", [word])
        check(read(word) == text, "a shell reads the text", [text, word, read(word)])
    }

    /// What a shell reads, where it knows only what is used here: bare characters, `'…'`, `\'` and `"$(printf '…')"`.
    private static func read(_ word: String) -> String? {
        var (rest, result) = (Array(word.utf8)[...], [UInt8]())
        let command = Array("\"$(printf ".utf8)
        func takeQuoted() -> [UInt8]? {
            guard rest.first == 0x27, let end = rest.dropFirst().firstIndex(of: 0x27) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return Array(rest[(rest.startIndex + 1)..<end])
        }
        while let byte = rest.first {
            if byte == 0x27 {
                guard let text = takeQuoted() else { return nil }
                result += text
            } else if byte == 0x5C {
                guard let next = rest.dropFirst().first else { return nil }
                result.append(next)
                rest = rest.dropFirst(2)
            } else if rest.starts(with: command) {
                rest = rest.dropFirst(command.count)
                guard let format = takeQuoted(), rest.starts(with: ")\"".utf8), let text = printed(format) else {
                    return nil
                }
                rest = rest.dropFirst(2)
                // A command substitution loses the line breaks at its end.
                result += text.reversed().drop { $0 == 0x0A }.reversed()
            } else {
                guard byte.isLetter || byte.isDigit || "-._/:@%+,".utf8.contains(byte) else { return nil }
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func printed(_ format: [UInt8]) -> [UInt8]? {
        var (rest, result) = (format[...], [UInt8]())
        while let byte = rest.popFirst() {
            switch byte {
            case 0x25:
                guard rest.popFirst() == 0x25 else { return nil }
                result.append(0x25)
            case 0x5C:
                guard let next = rest.first else { return nil }
                if next.isDigit {
                    result.append(rest.prefix(3).reduce(0) { $0 << 3 | ($1 & 7) })
                    rest = rest.dropFirst(3)
                } else {
                    result.append(next == UInt8(ascii: "n") ? 0x0A : next)
                    rest = rest.dropFirst()
                }
            default: result.append(byte)
            }
        }
        return result
    }
}
