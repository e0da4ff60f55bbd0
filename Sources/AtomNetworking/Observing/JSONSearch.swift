import Foundation

/// Replaces the values of JSON keys whose names say that they are credentials,
/// and searches the other values.
///
/// It reads JSON that isn't valid too, and changes nothing else.
struct JSONSearch {
    private let bytes: [UInt8]
    private let depth: Int
    private var index = 0
    private var result: [UInt8] = []
    /// What is outside of the strings, each of which is a space in it.
    private var outside: [UInt8] = []
    /// Whether `code` is an authorization code (RFC 6749 §4.1.3).
    private let isOAuth: Bool

    /// - Parameter depth: How many bodies this one is in.
    init(_ data: Data, depth: Int = 0) {
        bytes = Array(data)
        self.depth = depth
        isOAuth = data.range(of: Data(#""grant_type""#.utf8)) != nil
    }

    /// `nil` if it can't be searched and may hold a credential.
    mutating func withoutCredentials() -> Data? {
        result.reserveCapacity(bytes.count)
        while index < bytes.count {
            guard bytes[index] == quote else {
                result.append(bytes[index])
                outside.append(bytes[index])
                index += 1
                continue
            }
            let end = endOfString(from: index)
            let string = bytes[index..<end]
            index = end
            outside.append(0x20)
            let colon = afterSpaces(from: end)
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else {
                result += shownValue(string)
                continue
            }
            result += string
            let start = afterSpaces(from: colon + 1)
            // Not the end of every value: then the search would take the square of the time.
            let text = start < bytes.count && bytes[start] == quote ? bytes[start..<endOfString(from: start)] : []
            guard isCredential(string, value: content(of: text)) else { continue }
            let valueEnd = endOfValue(from: start)
            result += bytes[end..<start]
            let value = String(decoding: bytes[start..<valueEnd], as: UTF8.self)
            result += ["null", "true", "false", "\"\"", ""].contains(value) ? Array(value.utf8) : Self.hidden
            index = valueEnd
        }
        // UTF-16 has a NUL in each sign of the syntax.
        if outside.contains(0) { return nil }
        // What isn't JSON may have names without quotes, and quotes in other places.
        return isJSON || !CredentialName.isMentioned(in: bytes) ? Data(result) : nil
    }

    private static let hidden = Array("\"\(CredentialSearch.hidden)\"".utf8)
    private let quote = UInt8(ascii: "\"")

    /// Whether nothing is outside of the strings but what JSON has there.
    private var isJSON: Bool {
        outside.split(whereSeparator: { Self.punctuation.contains($0) })
            .allSatisfy { Self.words.contains(String(decoding: $0, as: UTF8.self)) }
    }

    // With a byte order mark, and an exponent's sign.
    private static let punctuation = Set("{}[]:, \t\r\n0123456789+-.\u{FEFF}".utf8)
    private static let words: Set<String> = ["true", "false", "null", "e", "E", "NaN", "Infinity"]

    private func isCredential(_ key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) -> Bool {
        // What can't be read is hidden.
        guard let meant = JSONString.decoded(content(of: key)) else { return true }
        let name = String(decoding: meant, as: UTF8.self)
        if isOAuth, name == "code" { return true }
        return CredentialName.isOne(name, value: value)
    }

    /// A string that is a value, with its quotes.
    private func shownValue(_ string: ArraySlice<UInt8>) -> [UInt8] {
        guard let text = JSONString.decoded(content(of: string)) else { return Self.hidden }
        return switch CredentialSearch.text(text, depth: depth) {
        case .unchanged: Array(string)
        case .changed(let shown): [quote] + JSONString.encoded(shown) + [quote]
        case .hidden: Self.hidden
        }
    }

    /// A string without its quotes; the second one may be missing.
    private func content(of string: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let content = string.dropFirst()
        guard content.last == quote else { return content }
        let backslashes = content.dropLast().reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        return backslashes.isMultiple(of: 2) ? content.dropLast() : content
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

extension JSONSearch {
    /// Whether every string and every bracket of a text is closed in it.
    static func isClosed(_ text: Data) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in text {
            if isEscaped {
                isEscaped = false
            } else if isInString {
                isEscaped = byte == UInt8(ascii: "\\")
                isInString = byte != UInt8(ascii: "\"")
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if "{[".utf8.contains(byte) {
                depth += 1
            } else if "}]".utf8.contains(byte) {
                depth -= 1
            }
            if depth < 0 { return false }
        }
        return depth == 0 && !isInString
    }
}
