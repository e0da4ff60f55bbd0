import Foundation

/// One `Set-Cookie` field line, parsed by RFC 6265bis §5.6.
///
/// Whether the server may set the cookie is checked later.
struct SetCookie: Sendable, Equatable {
    let name: String
    let value: String
    /// In lower case and without a leading dot.
    private(set) var domain: String?
    /// `nil` for the folder of the request.
    private(set) var path: String?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// At most 400 days away; `nil` for a cookie that lasts as long as the jar.
    private(set) var expires: Date?

    static let maximumPairLength = 4_096
    static let maximumAttributeLength = 1_024

    /// Parses a line.
    ///
    /// A cookie without a name is ignored, as in RFC 6265 §5.2: by RFC 6265bis only its
    /// value is sent, and `=session=EVIL` could imitate any name.
    init?(_ line: String, at now: Date) {
        // A line break would start another header field when it is sent back.
        guard !Self.holdsControlCharacter(line) else { return nil }
        // By bytes: a delimiter may be part of a longer `Character`.
        var parts = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = Self.pair(parts.removeFirst())
        guard let value = pair.value, !pair.name.isEmpty,
            pair.name.utf8.count + value.utf8.count <= Self.maximumPairLength
        else { return nil }
        name = pair.name
        self.value = value
        var lifetime: Date?
        for part in parts {
            let attribute = Self.pair(part)
            let text = attribute.value ?? ""
            guard text.utf8.count <= Self.maximumAttributeLength else { continue }
            let isNamed = { HeaderFields.isSameName(attribute.name, $0) }
            if isNamed("Secure") {
                isSecure = true
            } else if isNamed("HttpOnly") {
                isHTTPOnly = true
            } else if isNamed("Path") {
                path = text.utf8.first == UInt8(ascii: "/") ? text : nil
            } else if isNamed("Domain") {
                domain = text.isEmpty ? nil : Self.canonicalDomain(text)
            } else if isNamed("Expires") {
                expires = HTTPDate.cookieDate(text) ?? expires
            } else if isNamed("Max-Age") {
                lifetime = Self.expiry(maximumAge: text, now: now) ?? lifetime
            }
        }
        // Max-Age takes precedence (§5.7).
        expires = (lifetime ?? expires).map { min($0, now.addingTimeInterval(Double(Self.maximumLifetime))) }
    }

    /// All control characters except the tab (RFC 6265bis §5.6).
    static func holdsControlCharacter(_ text: String) -> Bool {
        text.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }
}

extension SetCookie {
    /// 400 days in seconds (RFC 6265bis §5.5).
    private static let maximumLifetime = 400 * Duration.day.components.seconds

    /// A date in the past for zero and less (RFC 6265bis §5.6.2).
    private static func expiry(maximumAge text: String, now: Date) -> Date? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        // A number that doesn't fit is a very long time.
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        if isNegative || seconds == 0 { return .distantPast }
        return now.addingTimeInterval(Double(min(seconds, maximumLifetime)))
    }

    /// Letters outside ASCII stay as they are and match no host: some have a
    /// lower case within ASCII, which would be another domain.
    private static func canonicalDomain(_ text: String) -> String {
        let bytes = text.utf8.first == UInt8(ascii: ".") ? text.utf8.dropFirst() : text.utf8[...]
        return String(decoding: bytes.map { $0.isCapital ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func pair(_ part: Substring.UTF8View) -> (name: String, value: String?) {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<equals]), trimmed(part[part.index(after: equals)...]))
    }

    private static func trimmed(_ part: Substring.UTF8View) -> String {
        let isText = { (byte: UInt8) in byte != 0x20 && byte != 0x09 }
        guard let first = part.firstIndex(where: isText), let last = part.lastIndex(where: isText) else { return "" }
        return String(decoding: part[first...last], as: UTF8.self)
    }
}
