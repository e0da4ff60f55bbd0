import Foundation

/// Tokens and field values (RFC 9110 §5.5, §5.6.2).
enum HTTPGrammar {
    /// The text of a URL for Foundation, with brackets after the host encoded: it would encode each percent sign again.
    static func url(_ text: String) -> URL? {
        // No authority ends within the first eight bytes.
        guard let slash = text.utf8.dropFirst(8).firstIndex(of: UInt8(ascii: "/")),
            text.utf8[slash...].contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") })
        else { return URL(string: text) }
        let rest = text[slash...].replacingOccurrences(of: "[", with: "%5B").replacingOccurrences(of: "]", with: "%5D")
        return URL(string: text[..<slash] + rest)
    }

    /// Whether the text is a token: one or more `tchar`.
    static func isToken(_ text: String) -> Bool {
        var text = text
        return !text.isEmpty && text.withUTF8 { bytes in bytes.allSatisfy { tokenBytes.contains($0) } }
    }

    static func isTokenByte(_ byte: UInt8) -> Bool { tokenBytes.contains(byte) }

    /// The text up to the first character that isn't allowed in a token: the rest may be the value of a field.
    static func tokenPrefix(of text: String) -> String {
        String(decoding: text.utf8.prefix { tokenBytes.contains($0) }, as: UTF8.self)
    }

    /// Checks a header field; the error doesn't show the value.
    static func checkField(_ name: String, _ value: String) throws(AtomError) {
        guard isToken(name) else {
            throw .refused(
                RequestableError.invalidHeader, tokenPrefix(of: name) + "…",
                because: "a field name is a token (RFC 9110 §5.1)")
        }
        if let reason = violation(inFieldValue: value) {
            throw .refused(RequestableError.invalidHeader, name, because: reason)
        }
    }

    /// The most bytes of a field's value: few servers take as many, and not every libcurl sends more.
    static let longestFieldValue = 100 << 10

    static func violation(inFieldValue value: String) -> String? {
        guard value.utf8.count <= longestFieldValue else { return "its value is longer than 100 KiB" }
        var value = value
        return switch value.withUTF8({ bytes in bytes.first { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } }) {
        case nil: nil
        case 0x0A, 0x0D: "its value contains a line break, which would start another header field"
        case 0x00: "its value contains a NUL character"
        default: "its value contains a control character"
        }
    }

    /// Whether a field can't be a secret, and may go anywhere.
    static func isHarmlessFieldName(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "accept" || name == "user-agent" || name.hasPrefix("accept-") || name.hasPrefix("content-")
    }

    /// Whether the transport writes this field, because it delimits the message
    /// or belongs to one connection (RFC 9110 §7.6.1, RFC 9112 §6).
    static func isReservedFieldName(_ name: String) -> Bool { reservedFieldNames.contains(name.lowercased()) }

    private static let reservedFieldNames: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te", "trailer",
        "upgrade",
    ]

    private static let tokenBytes = ByteSet.alphanumeric.union("!#$%&'*+-.^_`|~")

    /// Whether the text is a media type, with or without parameters (RFC 9110 §8.3.1).
    static func isMediaType(_ text: String) -> Bool { text.range(of: mediaType, options: .regularExpression) != nil }

    private static let mediaType: String = {
        let token = #"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"#
        // `quoted-string` (§5.6.4).
        let quoted = #""(?:[^\x00-\x08\x0A-\x1F\x7F"\\]|\\[^\x00-\x08\x0A-\x1F\x7F])*+""#
        // A parameter may be missing (§5.6.6).
        return #"\A\#(token)/\#(token)(?:[ \t]*+;[ \t]*+(?:\#(token)=(?:\#(token)|\#(quoted)))?+)*+\z"#
    }()
}

// ASCII alone.
extension UInt8 {
    package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    var isCapital: Bool { (0x41...0x5A).contains(self) }
    var isDigit: Bool { (0x30...0x39).contains(self) }
}

/// A set of bytes with a fast lookup.
package struct ByteSet: Sendable {
    private var isMember = [Bool](repeating: false, count: 256)

    package init(_ characters: String) { self = Self([]).union(characters) }

    private init(_ none: [UInt8]) {}

    package func contains(_ byte: UInt8) -> Bool { isMember[Int(byte)] }

    package func union(_ characters: String) -> ByteSet {
        var result = self
        for byte in characters.utf8 where byte < 128 { result.isMember[Int(byte)] = true }
        return result
    }

    package static let alphanumeric = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
}
