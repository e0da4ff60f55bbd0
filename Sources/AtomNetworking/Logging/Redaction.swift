import Foundation

/// What may be shown of a text that came from outside.
enum Redaction {
    /// At most 100 characters, control characters escaped, user information
    /// before an `@` in a host position replaced.
    static func excerpt(_ text: String, limit: Int = 100) -> String {
        clipped(withoutUserInformation(text), limit: limit)
    }

    /// What is shown of a host, a path or a name that was refused: an excerpt
    /// without user information, query and fragment, since whoever writes a
    /// whole URL where a part belongs has its secrets in there.
    static func subject(_ text: String) -> String {
        clipped(withoutSecrets(text), limit: 100)
    }

    /// At most `limit` characters, control characters escaped.
    static func clipped(_ text: String, limit: Int) -> String {
        var shown = ""
        shown.reserveCapacity(min(text.utf8.count, limit) + 8)
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else {
                shown += "…"
                break
            }
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
            count += 1
        }
        return shown
    }

    /// The URL's scheme, host, port and path; the values of the query hidden.
    static func url(_ string: String) -> String {
        let bare = string.prefix { $0 != "#" }
        guard let question = bare.firstIndex(of: "?") else { return withoutUserInformation(String(bare)) }
        let query = bare[bare.index(after: question)...]
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            item.firstIndex(of: "=").map { "\(item[..<$0])=…" } ?? String(item)
        }
        return withoutUserInformation(String(bare[..<question])) + "?" + items.joined(separator: "&")
    }

    /// Drops `user:password@` where a text looks like `…user:password@host`.
    private static func withoutUserInformation(_ text: String) -> String {
        let start = text.range(of: "://")?.upperBound ?? text.startIndex
        // A path may hold an `@` of its own; only what precedes the first slash is an authority.
        let authority = text[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return text[..<start] + "…@" + text[text.index(after: at)...]
    }

    /// The text up to its query or fragment, without what precedes an `@`
    /// unless that is part of a path.
    private static func withoutSecrets(_ text: String) -> String {
        let bytes = text.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let tail = end == bytes.endIndex ? "" : "\(text.unicodeScalars[end])…"
        let isPath = text.hasPrefix("/") && !text.hasPrefix("//")
        guard !isPath, let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text[..<end] + tail }
        // A password may hold a slash, a question mark or an `@`; what precedes the last one isn't shown.
        guard at < end else { return "…" + tail }
        let scheme = ["https://", "http://", "//"].first { text.hasPrefix($0) } ?? ""
        return scheme + "…" + text[at..<end] + tail
    }

    /// A body's outline: keys and punctuation kept, what strings and numbers
    /// say hidden, at most `limit` characters.
    static func jsonOutline(_ data: Data, limit: Int = 200) -> String {
        var outline = ""
        var bytes = data.prefix(4096).makeIterator()
        var pending: String?
        var next = bytes.next()
        func flush(asKey isKey: Bool) {
            guard let text = pending else { return }
            outline += isKey ? "\"\(excerpt(text, limit: 40))\"" : "\"…\""
            pending = nil
        }
        while let byte = next, outline.count < limit {
            next = bytes.next()
            switch byte {
            case UInt8(ascii: "\""):
                flush(asKey: false)
                var text: [UInt8] = []
                var isEscaped = false
                while let inner = next {
                    next = bytes.next()
                    if isEscaped {
                        isEscaped = false
                    } else if inner == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else if inner == UInt8(ascii: "\"") {
                        break
                    }
                    text.append(inner)
                }
                pending = String(decoding: text, as: UTF8.self)
            case UInt8(ascii: ":"):
                flush(asKey: true)
                outline += ":"
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","):
                flush(asKey: false)
                outline.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x20, 0x09, 0x0A, 0x0D:
                continue
            default:
                flush(asKey: false)
                if outline.last != "…" { outline += "…" }
            }
        }
        flush(asKey: false)
        return outline.count > limit || next != nil ? outline.prefix(limit) + " …" : outline
    }
}
