import Foundation

/// Takes credentials out of the parts of a request, and leaves every other byte
/// as it is.
enum CredentialSearch {
    /// What stands in the place of a value.
    static let hidden = "HIDDEN"

    // MARK: Header fields

    /// The value of a header field without its credential.
    static func value(of field: HeaderFields.Field) -> String {
        // An address may be after the seconds of `Refresh`.
        let token = isAddress(field.name) ? [] : Array(field.value.utf8)
        guard CredentialName.isOne(field.name, value: token) else {
            // By bytes, here and below: a delimiter may be part of a longer
            // `Character`, for example with an accent.
            let words = field.value.utf8.split(separator: space, omittingEmptySubsequences: false)
            let shown = words.map { word -> [UInt8] in
                if isAddress(field.name) || contains(word, "://") { return url(Array(word)) }
                return CredentialValue.isJWT(in: word) ? Array(hidden.utf8) : Array(word)
            }
            return String(decoding: Array(shown.joined(separator: [space])), as: UTF8.self)
        }
        // The scheme of `Authorization` helps to find out what is wrong.
        let scheme = String(decoding: field.value.utf8.prefix { $0 != space }, as: UTF8.self)
        return schemes.contains(scheme.lowercased()) && scheme.utf8.count < field.value.utf8.count
            ? "\(scheme) \(hidden)" : hidden
    }

    private static let space = UInt8(ascii: " ")
    private static let schemes: Set<String> = ["basic", "bearer", "digest", "dpop", "hmac", "negotiate"]

    private static func isAddress(_ name: String) -> Bool {
        ["location", "content-location", "referer", "link", "refresh"].contains(name.lowercased())
    }

    // MARK: URLs and forms

    /// A URL without user information and without the credentials in the
    /// parameters of its path, in its query and in its fragment.
    static func url(_ text: String) -> String { String(decoding: url(Array(text.utf8)), as: UTF8.self) }

    static func url(_ bytes: [UInt8]) -> [UInt8] {
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        var address = Array(bytes[..<end])
        if let slashes = firstIndex(of: "//", in: address) {
            let start = slashes + 2
            let authority = address[start...].prefix { $0 != UInt8(ascii: "/") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                address.replaceSubrange(start..<at, with: hidden.utf8)
            }
        }
        address = withoutParameters(address)
        guard end < bytes.endIndex else { return address }
        let parts = bytes[(end + 1)...]
            .split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
        return address + [bytes[end]] + parts.map { items(Array($0)) }.joined(separator: [UInt8(ascii: "#")])
    }

    /// A path without the credentials in its parameters, as in
    /// `/login;jsessionid=…` (RFC 3986 §3.3).
    private static func withoutParameters(_ path: [UInt8]) -> [UInt8] {
        guard path.contains(semicolon) else { return path }
        let segments = path.split(separator: slash, omittingEmptySubsequences: false).map { segment in
            let parts = segment.split(separator: semicolon, omittingEmptySubsequences: false)
            let shown = [Array(parts[0])] + parts.dropFirst().map { item($0) }
            return Array(shown.joined(separator: [semicolon]))
        }
        return Array(segments.joined(separator: [slash]))
    }

    private static let slash = UInt8(ascii: "/")
    private static let semicolon = UInt8(ascii: ";")

    static func contains(_ bytes: some Sequence<UInt8>, _ text: String) -> Bool {
        firstIndex(of: text, in: Array(bytes)) != nil
    }

    private static func firstIndex(of text: String, in bytes: [UInt8]) -> Int? {
        guard let first = text.utf8.first else { return nil }
        return bytes.indices.first { bytes[$0] == first && bytes[$0...].starts(with: text.utf8) }
    }

    /// The items of a query or a form, `name=value&…`, without credentials.
    static func items(_ bytes: [UInt8]) -> [UInt8] {
        let items = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        func name(_ item: ArraySlice<UInt8>) -> String { plain(item.prefix { $0 != equals }) }
        // An authorization code (RFC 6749 §4.1.3) is one, any other code isn't.
        let isOAuth = items.count == 1 || items.contains { ["grant_type", "state"].contains(name($0)) }
        let shown = items.map { item($0, hidesCode: isOAuth) }
        return Array(shown.joined(separator: [UInt8(ascii: "&")]))
    }

    /// One `name=value` without its credential.
    private static func item(_ item: ArraySlice<UInt8>, hidesCode: Bool = false) -> [UInt8] {
        guard let sign = item.firstIndex(of: equals), sign + 1 < item.endIndex else { return Array(item) }
        let name = plain(item[..<sign])
        let value = Array(plain(item[(sign + 1)...]).utf8)
        guard
            CredentialName.isOne(name, value: value) || hidesCode && name == "code" || CredentialValue.isJWT(in: value)
        else { return Array(item) }
        return item[...sign] + Array(hidden.utf8)
    }

    private static let equals = UInt8(ascii: "=")

    /// A name or a value of a query as the server reads it.
    static func plain(_ text: some Sequence<UInt8>) -> String {
        let spaced = String(decoding: text.map { $0 == UInt8(ascii: "+") ? space : $0 }, as: UTF8.self)
        return spaced.removingPercentEncoding ?? spaced
    }

    // MARK: Bodies

    /// A body without credentials; `nil` if it can't be searched and may hold
    /// one.
    static func body(_ data: Data, _ fields: HeaderFields) -> Data? {
        if let coding = fields["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        return body(data, depth: 0)
    }

    /// - Parameter depth: How many bodies this one is in, as a text in JSON.
    static func body(_ data: Data, depth: Int) -> Data? {
        guard !data.isEmpty else { return data }
        guard depth <= deepest else { return nil }
        // The bytes decide, because the type may be wrong: a method's body is a form unless the endpoint says what
        // it is.
        if isJSON(data) {
            var search = JSONSearch(data, depth: depth)
            return search.withoutCredentials()
        }
        if isForm(data) { return Data(items(Array(data))) }
        return CredentialName.isMentioned(in: data) ? nil : data
    }

    /// A body in more bodies is hidden.
    private static let deepest = 4

    /// Whether a text begins as JSON does.
    static func isJSON(_ bytes: some Sequence<UInt8>) -> Bool {
        let first = bytes.first { !beforeJSON.contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// White space, byte order marks, and what UTF-16 has before a bracket.
    private static let beforeJSON: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF]

    /// The body of a response without credentials, as ``body(_:_:)``.
    ///
    /// - Parameter mediaType: The value of `Content-Type`.
    static func responseBody(_ data: Data, _ mediaType: String) -> Data? {
        let type = mediaType.lowercased()
        // Bytes in which every short word occurs by chance. But a playlist is text with signed URLs.
        if ["image/", "audio/", "video/", "font/"].contains(where: { type.hasPrefix($0) }),
            !["svg", "mpegurl"].contains(where: { type.contains($0) }), String(data: data, encoding: .utf8) == nil
        {
            return data
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
            let token = text.drop { $0 == space }
            if CredentialName.isOne(String(decoding: name, as: UTF8.self), value: token) { return nil }
            if isJSON(text), !JSONSearch.isClosed(text) { return nil }
            guard let value = body(text, depth: 0) else { return nil }
            result += name + [UInt8(ascii: ":")] + value
        }
        return result
    }

    /// Whether these bytes can be a form, and nothing else.
    static func isForm(_ data: some Collection<UInt8>) -> Bool {
        data.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || formPunctuation.contains(byte)
        }
            && data.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
                .allSatisfy { $0.contains(equals) }
    }

    private static let formPunctuation = Set("*-._~%+=&".utf8)
}
