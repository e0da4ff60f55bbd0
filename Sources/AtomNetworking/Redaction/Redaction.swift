import Foundation

package enum Redaction {
    /// What stands in the place of what isn't shown.
    package static let hidden = "…"

    /// Of what a library says: a certificate has several parts.
    static let longest = 1_200

    /// At most 100 characters, with those escaped that can't be seen, and without what
    /// looks like a token, what ``url(_:mark:)`` hides, and user information.
    static func excerpt(_ text: String, limit: Int = 100, mark: String = hidden) -> String {
        let text = words(of: text) { word in
            // It may be a URL, or a path with a query.
            word.unicodeScalars.contains("?") || authority(of: word) != nil
                ? url(word, mark: mark) : withoutUsers(word, mark)
        }
        return clipped(withoutUserInformation(withoutTokens(text, mark: mark), mark), limit: limit, mark: mark)
    }

    private static func words(of text: String, _ shown: (String) -> String) -> String {
        text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false).map { shown(String($0)) }
            .joined(separator: " ")
    }

    /// The visible part of a host, a path or a name that was rejected: the text may be a whole URL with its secrets.
    package static func subject(_ text: String) -> String { clipped(withoutTokens(withoutSecrets(text)), limit: 100) }

    /// The path of a file, without names that look like tokens; a UUID in a name identifies a folder.
    static func file(_ path: String) -> String {
        let names = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        let shown = names.map { name in
            let rest = name.replacing(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/, with: "")
            return looksLikeToken(rest) ? hidden : name
        }
        return clipped(shown.joined(separator: "/"), limit: longest)
    }

    /// Whether a text contains something that looks like a token: a word of more than 24 letters, a number of more than
    /// 12 digits, or a piece of 16 or more characters that changes between letters and digits three times or more, or
    /// consists of words of less than three characters on average, such as `QwErTyUiOpAsDfGh`.
    ///
    /// It is a heuristic, which keeps names such as `numberOfBagsInTheHold`; pass known
    /// secrets to ``withoutTokens(_:secrets:mark:)``.
    static func looksLikeToken(_ text: String) -> Bool { SecretSearch(text).findsLikelyToken }

    /// The text with the mark in place of everything that looks like a token, and of everything that it shares with a
    /// secret: eight or more characters, a complete shorter secret, and its beginning or end next to `…`, `...` or
    /// `***`; percent-encoding, the case of letters and `+` for a space make no difference.
    package static func withoutTokens(_ text: String, secrets: [String] = [], mark: String = hidden) -> String {
        var search = SecretSearch(text)
        search.hideLikelyTokens()
        search.hide(secrets)
        return search.shown(mark: mark)
    }

    /// Whether a text speaks of a credential, and so may show one.
    static func namesCredential(_ text: String) -> Bool {
        let text = text.lowercased()
        let hasNumber = text.contains(where: \.isNumber)
        return [
            "token", "secret", "bearer", "cookie", "session", "credential", "passw", "passp", "passc", "authorization",
            // A password in the ten other languages of what is said to people.
            "kennwort", "contraseñ", "contrasen", "motdepasse", "mot de passe", "palavra-passe", "palavrapasse",
            "senha", "парол", "パスワード", "暗証", "비밀번호", "암호", "密码", "密碼", "口令",
            "كلمة المرور", "كلمة السر",
        ].contains { text.contains($0) }
            || text.split { !$0.isLetter }.contains { word in
                // Words end so, as in `apikey`; few others do.
                ["pass", "key", "keys", "auth", "basic", "pin"].contains { word.hasSuffix($0) }
                    || hasNumber && word.hasPrefix("code") || CredentialName.isOne(String(word))
            }
    }

    /// A name from outside, such as a key of JSON, unless it looks like a token.
    static func name(_ text: String, limit: Int = 100, mark: String = hidden) -> String {
        looksLikeToken(text) ? mark : clipped(text, limit: limit, mark: mark)
    }

    /// At most `limit` characters, with those escaped that can't be seen, and the
    /// mark for the rest; a mark in the text is never cut.
    static func clipped(_ text: String, limit: Int, mark: String = hidden) -> String {
        var (shown, count) = ("", 0)
        let mark = mark.unicodeScalars
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            guard count < limit else { return shown + String(mark) }
            let isMark = scalar == mark.first && rest.starts(with: mark)
            if isMark || !isControl(scalar) {
                shown.unicodeScalars += rest.prefix(isMark ? mark.count : 1)
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            }
            rest.removeFirst(isMark ? mark.count : 1)
            count += 1
        }
        return shown
    }

    /// The text with those characters escaped that can't be seen, or that a terminal obeys.
    static func visible(_ text: String) -> String {
        text.unicodeScalars.contains(where: isControl) ? clipped(text, limit: .max) : text
    }

    /// The text without those characters, and with a space for a line break or a tab.
    static func withoutControls(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.compactMap { scalar in
                    scalar.properties.isWhitespace ? " " : isControl(scalar) ? nil : scalar
                }))
    }

    /// Line breaks of Unicode are controls too, and so are the marks, embeddings
    /// and isolates of its bidirectional algorithm (UAX #9).
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The URL's scheme, host, port and path, and the names in its query.
    ///
    /// The values of the query and of the path's parameters are hidden, and an item without `=`. So is a path segment
    /// that looks like a token, but for a UUID, which identifies a resource.
    package static func url(_ string: String, mark: String = hidden) -> String {
        // By code points: a delimiter may be part of a longer `Character`.
        let bare = string.unicodeScalars.prefix { $0 != "#" }
        guard let question = bare.firstIndex(of: "?") else { return visible(path(Substring(bare), mark)) }
        let query = bare[bare.index(after: question)...]
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item($0, mark) }
        return visible(path(Substring(bare[..<question]), mark)) + "?" + items.joined(separator: "&")
    }

    private static func item(_ item: Substring.UnicodeScalarView, _ mark: String) -> String {
        item.firstIndex(of: "=").map { "\(plainName(String(item[..<$0]), mark))=\(mark)" }
            ?? (item.isEmpty ? "" : mark)
    }

    /// A name in a URL, unless it has JSON, another URL or a credential in it.
    private static func plainName(_ text: String, _ mark: String) -> String {
        var (meant, depth) = (text, 0)
        while depth < 8, let next = meant.removingPercentEncoding, next != meant { (meant, depth) = (next, depth + 1) }
        guard depth > 0 else { return name(text, mark: mark) }
        let signs = #"["{<]"# + (namesCredential(meant) ? #"|[:=]|(bearer|basic|token)\s"# : "")
        let isValue = meant.range(of: signs, options: [.regularExpression, .caseInsensitive]) != nil
        let hasUser = meant.contains("//") && meant.contains("@") || withoutUsers(meant, mark) != meant
        return isValue || hasUser || depth == 8 ? mark : name(text, mark: mark)
    }

    private static func path(_ address: Substring, _ mark: String) -> String {
        let text = withoutUsers(withoutUserInformation(String(address), mark), mark).unicodeScalars
        let start = text[(authority(of: String(text)) ?? text.startIndex)...].firstIndex(of: "/") ?? text.endIndex
        return Substring(text[..<start])
            + withoutValues(Substring(text[start...]), mark) { segment in
                looksLikeToken(segment) && UUID(uuidString: segment) == nil ? mark : segment
            }
    }

    /// A path without the values of its parameters, as in `/login;jsessionid=…`
    /// (RFC 3986 §3.3), and of its items, as in `/token=…`; encoded, too.
    private static func withoutValues(
        _ path: Substring, _ mark: String, shown: (String) -> String = { $0 }
    ) -> String {
        path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            guard segment.contains(where: { ";%=".unicodeScalars.contains($0) }) else { return shown(String(segment)) }
            let parts = decoding("3B", as: ";", in: segment).unicodeScalars.split(
                separator: ";", omittingEmptySubsequences: false)
            return parts.enumerated().map { index, part in
                let text = decoding("3D", as: "=", in: part)
                if text.contains("=") { return item(text[...].unicodeScalars, mark) }
                // Without a sign it's a name, as in `/a;b`.
                let name = plainName(text, mark)
                return index > 0 || name == mark && !looksLikeToken(text) ? name : shown(text)
            }
            .joined(separator: ";")
        }
        .joined(separator: "/")
    }

    /// The value of a header field up to the first credential's name.
    static func withoutNamedValues(_ field: String, mark: String) -> String {
        let scalars = field.unicodeScalars
        let name = scalars.split { ";,=".unicodeScalars.contains($0) }.first { part in
            scalars[part.endIndex...].first == "=" && namesCredential(String(part))
        }
        return name.map { Substring(scalars[...$0.endIndex]) + mark } ?? field
    }

    /// A sign may be encoded several times.
    private static func decoding(_ code: String, as sign: String, in text: Substring.UnicodeScalarView) -> String {
        String(text).replacingOccurrences(
            of: "%(?:25)*+\(code)", with: sign, options: [.regularExpression, .caseInsensitive])
    }

    /// The visible part of a `Content-Type` (RFC 9110 §8.3.1): type, subtype and `charset`, if the type is registered
    /// (RFC 6838 §4.2.7) and they are valid (§4.2), and whether there are other parameters.
    package static func mediaType(_ field: String) -> String? {
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

    /// Removes `user:password@` from a text such as `…user:password@host`.
    private static func withoutUserInformation(_ text: String, _ mark: String) -> String {
        let scalars = text.unicodeScalars
        let start = authority(of: text) ?? text.startIndex
        // A path may contain its own `@`.
        guard let at = scalars[start...].prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return text }
        return String(scalars[..<start]) + mark + String(scalars[at...])
    }

    /// The same in each segment of a path: behind two slashes or a scheme, and of all that has a colon or a backslash
    /// before the `@`, since browsers take a backslash for a slash, and need none behind `https:`.
    private static func withoutUsers(_ text: String, _ mark: String) -> String {
        guard text.unicodeScalars.contains("@") else { return text }
        let segments = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
        return segments.enumerated().map { index, segment in
            let user = segment[..<(segment.lastIndex(of: "@") ?? segment.startIndex)]
            let isBehind = index > 1 && segments[index - 1].isEmpty || index > 0 && segments[index - 1].last == ":"
            let isUser = isBehind && !user.isEmpty || user.contains { ":\\".unicodeScalars.contains($0) }
            return isUser ? mark + String(segment[user.endIndex...]) : String(segment)
        }
        .joined(separator: "/")
    }

    /// Where the authority of a URL begins; by code points, as above.
    private static func authority(of text: String) -> String.Index? {
        text.unicodeScalars.firstRange(of: "://".unicodeScalars)?.upperBound
    }

    /// The text up to its query or fragment, without the text before an `@` unless that is part of a path.
    private static func withoutSecrets(_ text: String) -> String {
        let bytes = text.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let tail = end == bytes.endIndex ? "" : "\(text.unicodeScalars[end])…"
        let isPath = bytes.starts(with: "/".utf8) && !bytes.starts(with: "//".utf8)
        guard !isPath, let at = bytes.lastIndex(of: UInt8(ascii: "@")) else {
            return withoutValues(withoutUsers(String(text[..<end]), hidden)[...], hidden) + tail
        }
        // A password may contain a slash, a question mark or an `@`.
        guard at < end else { return "…" + tail }
        let scheme = ["https://", "http://", "//"].first { text.hasPrefix($0) } ?? ""
        return scheme + "…" + withoutValues(text[at..<end], hidden) + tail
    }

    /// An outline of a body: keys and punctuation are shown; strings, numbers
    /// and keys that look like tokens are hidden; at most `limit` characters.
    static func jsonOutline(_ data: Data, limit: Int = 200) -> String {
        let text = String(decoding: data.prefix(SecretSearch.limit), as: UTF8.self)
        // A string, a sign, or anything else.
        let tokens = text.matches(
            of: /"((?:[^"\\]|\\.)*)"?|[{}\[\]:,]|[^{}\[\]:," \t\r\n]+/.dotMatchesNewlines()
                .matchingSemantics(.unicodeScalar))
        var outline = ""
        for (index, token) in tokens.enumerated() {
            guard outline.count < limit else { return outline.prefix(limit) + " …" }
            if let string = token.1 {
                let isKey = index + 1 < tokens.count && tokens[index + 1].0 == ":"
                outline += isKey ? "\"\(key(String(string)))\"" : "\"…\""
            } else if let sign = token.0.first, "{}[]:,".contains(sign) {
                outline.append(sign)
            } else if outline.last != "…" {
                outline += "…"
            }
        }
        return outline.count > limit ? outline.prefix(limit) + " …" : outline
    }

    /// A key as it is written, if what it means may be shown.
    private static func key(_ text: String) -> String {
        let meant =
            text.contains("\\") ? (try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))) : text
        return meant.map { looksLikeToken($0) ? "…" : excerpt(text, limit: 40) } ?? "…"
    }

    /// An error of Foundation, and those beneath it, without the URLs in it: their
    /// queries may contain a secret; in texts they are shown as in ``url(_:mark:)``.
    static func error(_ error: any Error) -> any Error {
        if let error = error as? URLError { return URLError(error.code, userInfo: userInfo(error.userInfo)) }
        if let error = error as? POSIXError { return POSIXError(error.code, userInfo: userInfo(error.userInfo)) }
        guard type(of: error) is NSError.Type else { return error }
        let error = error as NSError
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo(error.userInfo))
    }

    /// The part of an error's `userInfo` that ``error(_:)`` keeps; what resumes a task holds its request.
    static func userInfo(_ notes: [String: Any]) -> [String: Any] {
        notes.filter { !$0.key.contains("URLSessionTask") && !$0.key.contains("ResumeData") }.compactMapValues(note)
    }

    private static func note(_ note: Any) -> Any? {
        switch note {
        case is URL, is Data: return nil
        case let text as String:
            guard authority(of: text) == nil else { return excerpt(text, limit: longest) }
            return visible(words(of: text) { withoutUsers($0, hidden) })
        case let error as any Error: return self.error(error)
        case let notes as [String: Any]: return userInfo(notes)
        case let notes as [Any]: return notes.compactMap { self.note($0) }
        default: return note
        }
    }
}
