import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What may be shown of a text that came from outside.
enum Redaction {
    /// At most 100 characters, control characters escaped; hidden are what
    /// looks like a token, of a URL what ``url(_:)`` hides, and user
    /// information before an `@` in a host position.
    static func excerpt(_ text: String, limit: Int = 100) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let shown =
            words.contains { $0.contains("://") }
            ? words.map { $0.contains("://") ? url(String($0)) : String($0) }.joined(separator: " ") : text
        return clipped(withoutUserInformation(withoutTokens(shown)), limit: limit)
    }

    /// What is shown of a host, a path or a name that was refused: an excerpt
    /// without user information, query and fragment, since whoever writes a
    /// whole URL where a part belongs has its secrets in there.
    static func subject(_ text: String) -> String {
        clipped(withoutTokens(withoutSecrets(text)), limit: 100)
    }

    /// Whether there is something in a text that looks like a token.
    ///
    /// That is a piece of 16 characters or more that
    ///
    /// - changes between letters and digits three times or more, such as
    ///   `8f2b4c1e-1d2c-4b5a`, or
    /// - is made of words shorter than three characters on average, told apart
    ///   by their capitals, such as `QwErTyUiOpAsDfGh`,
    ///
    /// or a word of more than 24 letters, or a number of more than 12 digits.
    ///
    /// That finds random characters, and leaves alone what people call things:
    /// in `numberOfBagsInTheHold` and `address_line_1` words are longer and
    /// digits fewer. It is a guess; what is known to be a secret is given to
    /// ``withoutTokens(_:secrets:)``.
    static func looksLikeToken(_ text: String) -> Bool {
        SecretSearch(text).findsLikelyToken
    }

    /// The text with "…" in place of what looks like a token, and of what it
    /// shares with a secret.
    ///
    /// Shared is a stretch of eight characters or more that occurs in a secret,
    /// a shorter secret as a whole, and the beginning or end of one beside `…`,
    /// `...` or `***`. Percent-encoding and the case of letters don't matter,
    /// nor whether a blank is written as `+`.
    static func withoutTokens(_ text: String, secrets: [String] = []) -> String {
        var search = SecretSearch(text)
        search.hideLikelyTokens()
        search.hide(secrets)
        return search.shown
    }

    /// What is shown of a name that somebody else chose, such as a key of a
    /// JSON object: nothing of one that looks like a token.
    static func name(_ text: String, limit: Int = 100) -> String {
        looksLikeToken(text) ? "…" : clipped(text, limit: limit)
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

    /// The URL's scheme, host, port and path, and the names in its query.
    ///
    /// The values of the query are hidden, and so is an item without a name,
    /// which may be nothing but a value. A part of the path that looks like a
    /// token is hidden too, unless it is a UUID: there those name things.
    static func url(_ string: String) -> String {
        // By code points: a delimiter that an accent follows is part of a longer `Character`.
        let bare = string.unicodeScalars.prefix { $0 != "#" }
        guard let question = bare.firstIndex(of: "?") else { return withoutTokensInPath(Substring(bare)) }
        let query = bare[bare.index(after: question)...]
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            item.firstIndex(of: "=").map { "\(name(String(item[..<$0])))=…" } ?? (item.isEmpty ? "" : "…")
        }
        return withoutTokensInPath(Substring(bare[..<question])) + "?" + items.joined(separator: "&")
    }

    private static func withoutTokensInPath(_ address: Substring) -> String {
        let text = withoutUserInformation(String(address))
        let authority = text.range(of: "://")?.upperBound ?? text.startIndex
        let path = text[authority...].firstIndex(of: "/") ?? text.endIndex
        let parts = text[path...].split(separator: "/", omittingEmptySubsequences: false).map { part in
            looksLikeToken(String(part)) && UUID(uuidString: String(part)) == nil ? "…" : String(part)
        }
        return text[..<path] + parts.joined(separator: "/")
    }

    /// What is shown of a `Content-Type` (RFC 9110 §8.3.1): type, subtype and
    /// `charset` if they are plain; that there are other parameters.
    ///
    /// Plain is a type that is registered (RFC 6838 §4.2.7) and a subtype that
    /// could be (§4.2).
    static func mediaType(_ field: String) -> String? {
        var parts = field.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let type = parts.removeFirst()
        let halves = type.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2, mediaTypes.contains(halves[0].lowercased()), isPlainName(halves[1]) else { return nil }
        return parts.reduce(into: type) { shown, parameter in
            let pair = parameter.split(separator: "=", maxSplits: 1).map(String.init)
            let value = pair.count == 2 ? pair[1].trimmingCharacters(in: ["\""]) : ""
            let isCharset = pair.first?.lowercased() == "charset" && isPlainName(value) && shown == type
            if isCharset {
                shown += "; charset=\(value)"
            } else if !parameter.isEmpty, !shown.hasSuffix("…") {
                shown += "; …"
            }
        }
    }

    private static let mediaTypes: Set<String> = [
        "application", "audio", "example", "font", "haptics", "image", "message", "model", "multipart", "text", "video",
    ]

    private static func isPlainName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && !looksLikeToken(text)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789!#$&-^_.+".unicodeScalars.contains($0))
            }
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
    /// say and keys that look like tokens hidden, at most `limit` characters.
    static func jsonOutline(_ data: Data, limit: Int = 200) -> String {
        var outline = ""
        var bytes = data.prefix(4096).makeIterator()
        var pending: String?
        var next = bytes.next()
        func flush(asKey isKey: Bool) {
            guard let text = pending else { return }
            outline += isKey ? "\"\(key(text))\"" : "\"…\""
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

    /// A key as it is written; one written with escapes is judged by what it means.
    private static func key(_ text: String) -> String {
        let meant =
            text.contains("\\") ? (try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))) : text
        return meant.map { looksLikeToken($0) ? "…" : excerpt(text, limit: 40) } ?? "…"
    }

    /// An error of Foundation's without the URLs that it notes, whose queries
    /// may hold a secret; in its texts they are shown as ``url(_:)`` does.
    ///
    /// The errors below it are treated alike;
    /// those that are not Foundation's are left as they are.
    static func error(_ error: any Error) -> any Error {
        if let error = error as? URLError { return URLError(error.code, userInfo: userInfo(error.userInfo)) }
        guard type(of: error) is NSError.Type else { return error }
        let error = error as NSError
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo(error.userInfo))
    }

    /// What ``error(_:)`` keeps of an error's notes.
    static func userInfo(_ notes: [String: Any]) -> [String: Any] {
        notes.compactMapValues { note in
            switch note {
            case is URL: nil
            case let text as String: text.contains("://") ? excerpt(text, limit: 400) : text
            case let error as any Error: Self.error(error)
            case let errors as [any Error]: errors.map(Self.error)
            default: note
            }
        }
        .filter { !$0.key.contains("URLSessionTask") }
    }
}
