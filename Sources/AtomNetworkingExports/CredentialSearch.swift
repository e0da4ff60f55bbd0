import AtomNetworking
import Foundation

/// Takes credentials out of the parts of a request, and leaves every other byte as it is.
package enum CredentialSearch {
    /// What stands in the place of a value.
    package static let hidden = "HIDDEN"

    // MARK: Header fields

    /// Header fields without credentials.
    static func fields(_ fields: HeaderFields) -> HeaderFields {
        HeaderFields(fields.map { .init(name: $0.name, value: value(of: $0)) })
    }

    /// Only those that are harmless, without credentials.
    static func harmless(_ fields: HeaderFields) -> HeaderFields { Self.fields(fields.redacted(mark: hidden)) }

    /// The value of a header field without its credential.
    static func value(of field: HeaderItem) -> String {
        let bytes = Array(field.value.utf8)
        let name = field.name.lowercased()
        let isAddress = ["location", "content-location", "referer", "link", "refresh"].contains(name)
        // An address may be after the seconds of `Refresh`.
        guard CredentialName.isOne(field.name, value: isAddress ? [] : bytes) else {
            let shown: [UInt8]?
            if isAddress {
                // The addresses of `Link` are in brackets.
                shown = pieces(of: bytes, at: name == "link" ? "<>" : "") { url($0, depth: 0) }
            } else {
                // A word that is a token, and has no name, is hidden alone.
                let others = pieces(of: bytes, at: " ") { word in
                    word.allSatisfy(PercentEncoding.unreserved.contains) && CredentialValue.isJWT(in: word)
                        ? hiddenBytes : word
                }
                shown = text(bytes, depth: 0) ?? text(others, depth: 0)
            }
            return String(decoding: shown ?? hiddenBytes, as: UTF8.self)
        }
        // The scheme of `Authorization` helps to find out what is wrong.
        let scheme = field.value.utf8.prefix { $0 != UInt8(ascii: " ") }
        return CredentialValue.scheme(scheme) != nil && scheme.count < bytes.count
            ? "\(String(decoding: Array(scheme), as: UTF8.self)) \(hidden)" : hidden
    }

    static let hiddenBytes = Array(hidden.utf8)

    /// The same bytes with each piece between these delimiters as it is shown.
    ///
    /// By bytes: a delimiter may be part of a longer `Character`, for example with an accent.
    private static func pieces(
        of bytes: [UInt8], at delimiters: String, _ shown: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        let delimiters = ByteSet(delimiters)
        var result: [UInt8] = []
        var start = 0
        while true {
            let end = bytes[start...].firstIndex { delimiters.contains($0) } ?? bytes.endIndex
            result += shown(Array(bytes[start..<end]))
            guard end < bytes.endIndex else { return result }
            result.append(bytes[end])
            start = end + 1
        }
    }

    // MARK: URLs and forms

    /// A URL without user information and without the credentials in its path, in its query and in its fragment.
    static func url(_ text: String) -> String {
        String(decoding: url(Array(text.utf8), depth: 0), as: UTF8.self)
    }

    /// - Parameter depth: How many other values this one is in, here and below.
    static func url(_ bytes: [UInt8], depth: Int) -> [UInt8] {
        var isFragment = false
        return pieces(of: bytes, at: "#") { part in
            defer { isFragment = true }
            let end = query(of: part)
            let start = Array(part[..<end])
            // A fragment may be a form, or a path with a query of its own.
            let isForm = isFragment && end == part.endIndex && !part.starts(with: "/".utf8)
            let shown =
                isForm ? items(start, depth: depth) : path(isFragment ? start : withoutUser(start), depth: depth)
            return end < part.endIndex
                ? shown + [UInt8(ascii: "?")] + items(Array(part[(end + 1)...]), depth: depth) : shown
        }
    }

    /// Where the query of a URL begins, or its end.
    private static func query(of url: [UInt8]) -> Int {
        let url = slashed(url)
        let question = UInt8(ascii: "?")
        guard let end = url.firstIndex(of: question) else { return url.endIndex }
        // It may be part of a password.
        guard let at = url.lastIndex(of: UInt8(ascii: "@")), at > end,
            let host = firstIndex(of: "//", in: url[..<end]).map({ url[($0 + 2)..<end] }),
            !host.contains(UInt8(ascii: "/")), !endsWithPort(host)
        else { return end }
        return url[at...].firstIndex(of: question) ?? url.endIndex
    }

    /// Whether a host has no port or one that is a number, and no password.
    private static func endsWithPort(_ host: ArraySlice<UInt8>) -> Bool {
        host.drop { $0 != UInt8(ascii: ":") }.allSatisfy { "0123456789:]".utf8.contains($0) }
    }

    /// An address, which may have others in it, without the users of all of them.
    private static func withoutUser(_ address: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        var rest = slashed(address)[...]
        while let start = startOfAuthority(in: rest) {
            shown += address[rest.startIndex..<start]
            rest = rest[start...]
            let part = rest[..<(startOfAuthority(in: rest) ?? rest.endIndex)]
            let authority = part.prefix { $0 != UInt8(ascii: "/") }
            let at = UInt8(ascii: "@")
            guard let user = authority.lastIndex(of: at) ?? (endsWithPort(authority) ? nil : part.lastIndex(of: at))
            else { continue }
            shown += hiddenBytes
            rest = rest[user...]
        }
        return shown + address[rest.startIndex...]
    }

    /// Where the next authority begins: behind two slashes or more, and behind `https:` also without, as in browsers.
    private static func startOfAuthority(in address: ArraySlice<UInt8>) -> Int? {
        let (colon, slash) = (UInt8(ascii: ":"), UInt8(ascii: "/"))
        let place = address.indices.first { index in
            if address[index] == slash { return address[index...].dropFirst().first == slash }
            guard address[index] == colon else { return false }
            let name = address[..<index].suffix(5).map { $0 | 0x20 }
            return name.elementsEqual("https".utf8) || name.suffix(4).elementsEqual("http".utf8)
        }
        return place.map { address[($0 + 1)...].firstIndex { $0 != slash } ?? address.endIndex }
    }

    /// The same with slashes for backslashes, as browsers read it.
    static func slashed(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
    }

    /// A path without the credentials in its segments and their parameters: `/login;jsessionid=…` (RFC 3986 §3.3).
    private static func path(_ path: [UInt8], depth: Int) -> [UInt8] {
        pieces(of: path, at: "/;") { piece in
            // With a colon it is no name: `/tokens:revoke`.
            if !piece.contains(where: { "=%{\"".utf8.contains($0) }) {
                return CredentialValue.isJWT(in: piece) ? hiddenBytes : piece
            }
            return item(piece[...], depth: depth)
        }
    }

    static func contains(_ bytes: [UInt8], _ text: String) -> Bool { firstIndex(of: text, in: bytes) != nil }

    static func firstIndex<Bytes: RandomAccessCollection>(
        of text: String, in bytes: Bytes
    ) -> Int? where Bytes.Element == UInt8, Bytes.Index == Int {
        guard let first = text.utf8.first else { return nil }
        return bytes.indices.first { bytes[$0] == first && bytes[$0...].starts(with: text.utf8) }
    }

    /// The items of a query or a form, `name=value&…`, without credentials.
    static func items(_ bytes: [UInt8], depth: Int) -> [UInt8] {
        let parts = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let names = parts.map { plain($0.prefix { $0 != equals }) }
        // Also in a form that is a value, and isn't encoded.
        let namesCredential = parts.contains {
            let pair = $0.split(separator: equals).suffix(2).map { plain($0) }
            return pair.first.map(isName) == true && CredentialName.isOne(pair[pair.count - 1])
        }
        // Also in a URL that is a value, and isn't encoded.
        let isOAuth =
            names.count == 1 || names.contains { ["state", "session_state", "iss"].contains($0) }
            || decoded(bytes[...]).split { "&=?;#".utf8.contains($0) }
                .contains { CredentialName.isBesideCode(String(decoding: $0, as: UTF8.self)) }
        return pieces(of: bytes, at: "&") {
            item($0[...], hidesCode: isOAuth, hidesValue: namesCredential, depth: depth)
        }
    }

    /// One `name=value` without its credential.
    private static func item(
        _ item: ArraySlice<UInt8>, hidesCode: Bool = false, hidesValue: Bool = false, depth: Int
    ) -> [UInt8] {
        let name = item.prefix { $0 != equals }
        let meant = decoded(name)
        // What has no name, or more than a name.
        guard text(meant, depth: depth) == meant else { return hiddenBytes }
        let value = decoded(item[name.endIndex...].dropFirst())
        guard !value.isEmpty else { return Array(item) }
        let text = String(decoding: meant, as: UTF8.self)
        let isHidden =
            CredentialName.isOne(text, value: value)
            || hidesCode
                && (CredentialName.isCode(text) || ["code=", "code["].contains { value.starts(with: $0.utf8) })
            || hidesValue && (isValue(text) || value.contains(equals) && isValue(plain(value.prefix { $0 != equals })))
        let shown = isHidden ? hiddenBytes : Self.text(value, depth: depth) ?? hiddenBytes
        guard shown != value else { return Array(item) }
        let encoded = PercentEncoding.encode(
            String(decoding: shown, as: UTF8.self), allowing: PercentEncoding.unreserved)
        return name + [equals] + Array(encoded.utf8)
    }

    private static let equals = UInt8(ascii: "=")

    /// Whether the value under this name is the name of another one: `key`, `ParameterName`.
    static func isName(_ text: String) -> Bool {
        ["name", "key"].contains(CredentialName.words(of: text.utf8).last)
    }

    /// Whether the value under this name is the one that is named beside it: `value`, `ParameterValue`.
    static func isValue(_ text: String) -> Bool { CredentialName.words(of: text.utf8).last == "value" }

    /// A name or a value of a query as the server reads it.
    static func plain(_ text: some Sequence<UInt8>) -> String {
        String(decoding: decoded(Array(text)[...]), as: UTF8.self)
    }

    /// The same as bytes; what isn't percent-encoding stays.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count > 1, let high = PercentEncoding.hexValue(rest[rest.startIndex]),
                let low = PercentEncoding.hexValue(rest[rest.startIndex + 1])
            {
                result.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return result
    }

    // MARK: Bodies

    /// A body without credentials; `nil` if it can't be searched and may hold one.
    static func body(_ data: Data, _ fields: HeaderFields) -> Data? {
        if let coding = fields["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        return body(Array(data), depth: 0).map { Data($0) }
    }

    static func body(_ bytes: [UInt8], depth: Int) -> [UInt8]? {
        guard !bytes.isEmpty else { return bytes }
        // The bytes decide, since the type may be wrong: a method's body is a form unless the endpoint says what it is.
        if isJSON(bytes) {
            var search = JSONSearch(bytes, depth: depth)
            return search.withoutCredentials()
        }
        if isForm(bytes) { return items(bytes, depth: depth) }
        return CredentialName.isMentioned(in: bytes) ? nil : text(bytes, depth: depth)
    }

    /// Whether a text begins as JSON does.
    static func isJSON(_ bytes: some Sequence<UInt8>) -> Bool {
        let first = bytes.first { !beforeJSON.contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// White space, byte order marks, and what UTF-16 has before a bracket.
    private static let beforeJSON: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF]

    /// The body of a response without credentials, as ``body(_:_:)``.
    ///
    /// - Parameters:
    ///   - mediaType: The value of `Content-Type`.
    ///   - coding: That of `Content-Encoding`; the transport may have undone it.
    static func responseBody(_ data: Data, _ mediaType: String, coding: String? = nil) -> Data? {
        let type = mediaType.lowercased()
        let isText = String(data: data, encoding: .utf8) != nil
        // Bytes in which every short word occurs by chance. But a playlist is text with signed URLs.
        if ["image/", "audio/", "video/", "font/"].contains(where: { type.hasPrefix($0) }),
            !["svg", "mpegurl"].contains(where: { type.contains($0) }), !isText
        {
            return data
        }
        // Each transport undoes gzip, which begins so (RFC 1952 §2.3.1), and not always the others.
        if !isText, let coding = coding?.lowercased(), coding != "identity",
            !coding.hasSuffix("gzip") || data.starts(with: [0x1F, 0x8B])
        {
            return nil
        }
        return type.hasPrefix("text/event-stream") ? eventStream(data) : body(data, HeaderFields())
    }

    /// Server-sent events, each line of which is searched by itself.
    ///
    /// JSON in several lines can't be searched so.
    private static func eventStream(_ data: Data) -> Data? {
        let lines = data.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
        var result = Data()
        for line in lines {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            // The delimiters, as they were.
            if line.startIndex > data.startIndex { result.append(data[line.startIndex - 1]) }
            guard name.count < line.count else {
                if CredentialName.isMentioned(in: line) { return nil }
                result += line
                continue
            }
            let text = Data(line.dropFirst(name.count + 1))
            let token = text.drop { $0 == UInt8(ascii: " ") }
            if CredentialName.isOne(String(decoding: name, as: UTF8.self), value: token) { return nil }
            if isJSON(text), !JSONSearch.isClosed(text) { return nil }
            guard let value = body(Array(token), depth: 0) else { return nil }
            result += name + [UInt8(ascii: ":")] + text[..<token.startIndex] + value
        }
        return result
    }

    /// Whether these bytes can be a form, and nothing else.
    static func isForm(_ bytes: [UInt8]) -> Bool {
        // A line's end may be behind it.
        bytes.reversed().drop { $0 <= 0x20 }.allSatisfy { formBytes.contains($0) || $0 >= 0x80 }
            && bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
                .allSatisfy { $0.contains(equals) }
            && !bytes.prefix { $0 != equals }.contains { ":/?".utf8.contains($0) }
    }

    private static let formBytes = ByteSet.alphanumeric.union("*-._~%+=&:/?@,;!$'()[]")
}
