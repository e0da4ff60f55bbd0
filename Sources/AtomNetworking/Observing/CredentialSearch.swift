import Foundation

/// Takes credentials out of the parts of a request, and leaves every other byte
/// as it is.
enum CredentialSearch {
    /// What stands in the place of a value.
    static let hidden = "HIDDEN"

    // MARK: Header fields

    /// The value of a header field without its credential.
    static func value(of field: HeaderFields.Field) -> String {
        guard CredentialName.isOne(field.name) else {
            // By bytes, here and below: a delimiter may be part of a longer
            // `Character`, for example with an accent.
            let words = field.value.utf8.split(separator: space, omittingEmptySubsequences: false)
            let shown = words.map { word in
                isAddress(field.name) || contains(word, "://") ? url(Array(word)) : Array(word)
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

    /// A URL without user information and without the credentials in its query
    /// and fragment.
    static func url(_ text: String) -> String { String(decoding: url(Array(text.utf8)), as: UTF8.self) }

    private static func url(_ bytes: [UInt8]) -> [UInt8] {
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        var address = Array(bytes[..<end])
        if let slashes = firstIndex(of: "//", in: address) {
            let start = slashes + 2
            let authority = address[start...].prefix { $0 != UInt8(ascii: "/") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                address.replaceSubrange(start..<at, with: hidden.utf8)
            }
        }
        guard end < bytes.endIndex else { return address }
        let parts = bytes[(end + 1)...]
            .split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
        return address + [bytes[end]] + parts.map { items(Array($0)) }.joined(separator: [UInt8(ascii: "#")])
    }

    private static func contains(_ bytes: some Sequence<UInt8>, _ text: String) -> Bool {
        firstIndex(of: text, in: Array(bytes)) != nil
    }

    private static func firstIndex(of text: String, in bytes: [UInt8]) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: text.utf8) }
    }

    /// The items of a query or a form, `name=value&…`, without credentials.
    static func items(_ bytes: [UInt8]) -> [UInt8] {
        let items = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        func name(_ item: ArraySlice<UInt8>) -> String { plain(item.prefix { $0 != equals }) }
        // An authorization code (RFC 6749 §4.1.3) is one, any other code isn't.
        let isOAuth = items.count == 1 || items.contains { ["grant_type", "state"].contains(name($0)) }
        let shown = items.map { item -> [UInt8] in
            guard let sign = item.firstIndex(of: equals), sign + 1 < item.endIndex else { return Array(item) }
            let name = name(item)
            guard CredentialName.isOne(name) || isOAuth && name == "code" else { return Array(item) }
            return item[...sign] + Array(hidden.utf8)
        }
        return Array(shown.joined(separator: [UInt8(ascii: "&")]))
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
        guard !data.isEmpty else { return data }
        // The bytes decide, because the type may be wrong: a method's body is a form unless the endpoint says what it is.
        let first = data.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            var search = JSONSearch(data)
            return search.withoutCredentials()
        }
        if isForm(data) { return Data(items(Array(data))) }
        return CredentialName.isMentioned(in: data) ? nil : data
    }

    /// The body of a response without credentials, as ``body(_:_:)``.
    ///
    /// - Parameter mediaType: The value of `Content-Type`.
    static func responseBody(_ data: Data, _ mediaType: String) -> Data? {
        let type = mediaType.lowercased()
        // Bytes in which every short word occurs by chance.
        if ["image/", "audio/", "video/", "font/"].contains(where: { type.hasPrefix($0) }), !type.contains("svg") {
            return data
        }
        return type.hasPrefix("text/event-stream") ? eventStream(data) : body(data, HeaderFields())
    }

    /// Server-sent events, each line of which is searched by itself.
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
            guard let value = body(Data(line.dropFirst(name.count + 1)), HeaderFields()) else { return nil }
            result += name + [UInt8(ascii: ":")] + value
        }
        return result
    }

    /// Whether these bytes can be a form, and nothing else.
    private static func isForm(_ data: Data) -> Bool {
        data.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || formPunctuation.contains(byte)
        }
            && data.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
                .allSatisfy { $0.contains(equals) }
    }

    private static let formPunctuation = Set("*-._~%+=&".utf8)
}

/// Replaces the values of JSON keys whose names say that they are credentials.
///
/// It reads JSON that isn't valid too, and changes nothing else.
private struct JSONSearch {
    private let bytes: [UInt8]
    private var index = 0
    private var result: [UInt8] = []
    /// Whether `code` is an authorization code (RFC 6749 §4.1.3).
    private let isOAuth: Bool

    init(_ data: Data) {
        bytes = Array(data)
        isOAuth = data.range(of: Data(#""grant_type""#.utf8)) != nil
    }

    mutating func withoutCredentials() -> Data {
        result.reserveCapacity(bytes.count)
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\"") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let end = endOfString(from: index)
            let key = bytes[index..<end]
            result += key
            index = end
            let colon = afterSpaces(from: end)
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":"), isCredential(key) else { continue }
            let start = afterSpaces(from: colon + 1)
            let valueEnd = endOfValue(from: start)
            result += bytes[end..<start]
            let value = String(decoding: bytes[start..<valueEnd], as: UTF8.self)
            result +=
                ["null", "true", "false", "\"\"", ""].contains(value)
                ? Array(value.utf8) : Array("\"\(CredentialSearch.hidden)\"".utf8)
            index = valueEnd
        }
        return Data(result)
    }

    private func isCredential(_ key: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: key.dropFirst().dropLast(), as: UTF8.self)
        if isOAuth, text == "code" { return true }
        guard text.contains("\\") else { return CredentialName.isOne(text) }
        // What can't be read is hidden.
        guard let meant = try? JSONDecoder().decode(String.self, from: Data(key)) else { return true }
        return CredentialName.isOne(meant)
    }

    private func afterSpaces(from start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? bytes.count
    }

    /// The index after the closing quote, or the end.
    private func endOfString(from quote: Int) -> Int {
        var index = quote + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            default: index += 1
            }
        }
        return bytes.count
    }

    private func endOfValue(from start: Int) -> Int {
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = endOfString(from: index)
                if depth == 0 { return index }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return index + 1 }
                if depth < 0 { return index }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return index }
            default:
                break
            }
            index += 1
        }
        return bytes.count
    }
}
