import AtomNetworking
import Foundation

/// Replaces the values of JSON keys whose names say that they are credentials, and searches the other values.
///
/// It reads JSON that isn't valid too, and changes nothing else.
struct JSONSearch {
    private let bytes: [UInt8]
    private let depth: Int
    private var index = 0
    /// What is shown in the place of which bytes, in their order.
    private var edits: [(place: Range<Int>, shown: [UInt8])] = []
    /// What is outside of the strings, each of which is a space in it.
    private var outside: [UInt8] = []
    /// The objects around the place that is searched.
    private var objects: [Object]

    private struct Object {
        /// Whether `code` is an authorization code (RFC 6749 §4.1.3).
        var isOAuth: Bool
        /// Whether the text under `name` or `key` is a credential's name, and so `value` the credential.
        var namesCredential = false
        /// The edits of what was found before that was known.
        var codes: [Int] = []
        var values: [Int] = []
    }

    /// - Parameter depth: How many other values this one is in.
    init(_ bytes: [UInt8], depth: Int = 0) {
        self.bytes = bytes
        self.depth = depth
        objects = [Object(isOAuth: CredentialSearch.contains(bytes, #""grant_type""#))]
    }

    /// `nil` if it can't be searched and may hold a credential.
    mutating func withoutCredentials() -> [UInt8]? {
        // The last sign before a string, and the first string of a list.
        var (sign, first) = (UInt8(0), nil as Range<Int>?)
        while index < bytes.count {
            guard bytes[index] == quote else {
                outside.append(bytes[index])
                if bytes[index] > 0x20 { sign = bytes[index] }
                if !", \t\r\n".utf8.contains(bytes[index]) { first = nil }
                if bytes[index] == UInt8(ascii: "{") { objects.append(Object(isOAuth: objects[0].isOAuth)) }
                if bytes[index] == UInt8(ascii: "}"), objects.count > 1 { objects.removeLast() }
                index += 1
                continue
            }
            let string = index..<Self.endOfString(in: bytes, from: index)
            index = string.upperBound
            outside.append(0x20)
            let colon = afterSpaces(from: index)
            if colon < bytes.count, bytes[colon] == UInt8(ascii: ":") {
                search(valueFrom: afterSpaces(from: colon + 1), of: string)
            } else {
                // A name and its value, as in `["token", "…"]`.
                let isPair = sign == UInt8(ascii: ",") && colon < bytes.count && bytes[colon] == UInt8(ascii: "]")
                show(isPair && first.map(namesCredential) == true ? Self.hidden : shownValue(string), at: string)
                first = sign == UInt8(ascii: "[") ? string : nil
                sign = quote
            }
        }
        // UTF-16 has a NUL in each sign of the syntax.
        if outside.contains(0) { return nil }
        // What isn't JSON may have names without quotes, and quotes in other places.
        guard isJSON || !CredentialName.isMentioned(in: bytes) && isHarmlessSentence else { return nil }
        guard !edits.isEmpty else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var last = 0
        for edit in edits {
            result += bytes[last..<edit.place.lowerBound] + edit.shown
            last = edit.place.upperBound
        }
        return result + bytes[last...]
    }

    private var isHarmlessSentence: Bool { CredentialSearch.sentence(bytes, depth: depth) == bytes }

    private mutating func show(_ shown: [UInt8]?, at place: Range<Int>) {
        if let shown { edits.append((place, shown)) }
    }

    /// Hides a value that is a credential, and leaves any other one to the loop.
    private mutating func search(valueFrom start: Int, of key: Range<Int>) {
        // What can't be read is hidden.
        let meant = JSONString.decoded(content(of: key))
        if meant == nil || CredentialSearch.text(meant ?? [], depth: depth) != meant { show(Self.hidden, at: key) }
        let name = meant.map { String(decoding: $0, as: UTF8.self) }
        // Not the end of every value: then the search would take the square of the time.
        let isText = start < bytes.count && bytes[start] == quote
        let text = isText ? start..<Self.endOfString(in: bytes, from: start) : start..<start
        let isCredential = name.map { CredentialName.isOne($0, value: content(of: text)) } ?? true
        let last = objects.count - 1
        if let name, CredentialName.isBesideCode(name), !objects[last].isOAuth {
            objects[last].isOAuth = true
            for code in objects[last].codes { edits[code].shown = Self.hidden }
        }
        if isText, name.map(CredentialSearch.isName) == true, namesCredential(text) {
            objects[last].namesCredential = true
            for value in objects[last].values { edits[value].shown = Self.hidden }
        }
        let opening = bytes[start...].first
        let isCode = name.map(CredentialName.isCode) == true && opening != UInt8(ascii: "{")
        let isValue =
            name.map(CredentialSearch.isValue) == true
            && (objects[last].namesCredential || opening.map { !"{[".utf8.contains($0) } == true)
        guard isCredential || isCode || isValue else { return }
        let place = start..<endOfValue(from: start)
        index = place.upperBound
        // It was the name of another value: as little JSON as what has a NUL in it.
        if bytes[afterSpaces(from: index)...].first == UInt8(ascii: ":") { outside.append(0) }
        let value = String(decoding: bytes[place], as: UTF8.self)
        if ["null", "true", "false", "\"\"", ""].contains(value) { return }
        if isCredential || isCode && objects[last].isOAuth || isValue && objects[last].namesCredential {
            return show(Self.hidden, at: place)
        }
        if isCode { objects[last].codes.append(edits.count) } else { objects[last].values.append(edits.count) }
        let shown = isText ? shownValue(text) : CredentialSearch.text(Array(bytes[place]), depth: depth) ?? Self.hidden
        show(shown ?? Array(bytes[place]), at: place)
    }

    /// Whether a string is the name of a credential: a word.
    private func namesCredential(_ string: Range<Int>) -> Bool {
        guard let text = JSONString.decoded(content(of: string)) else { return true }
        return !text.contains { $0 <= 0x20 } && CredentialName.isOne(String(decoding: text, as: UTF8.self))
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

    /// A string that is a value, with its quotes; `nil` if it is shown as it is.
    private func shownValue(_ string: Range<Int>) -> [UInt8]? {
        guard let text = JSONString.decoded(content(of: string)) else { return Self.hidden }
        guard let shown = CredentialSearch.text(text, depth: depth) else { return Self.hidden }
        return shown == text ? nil : [quote] + JSONString.encoded(shown) + [quote]
    }

    /// A string without its quotes; the second one may be missing.
    private func content(of string: Range<Int>) -> ArraySlice<UInt8> {
        let content = bytes[string].dropFirst()
        guard content.last == quote else { return content }
        let backslashes = content.dropLast().reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        return backslashes.isMultiple(of: 2) ? content.dropLast() : content
    }

    private func afterSpaces(from start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? bytes.count
    }

    /// The index after the closing quote, or the end.
    static func endOfString(in bytes: [UInt8], from quote: Int) -> Int {
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
                index = Self.endOfString(in: bytes, from: index)
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
