import AtomNetworking
import Foundation

/// The text of a JSON string, and back.
enum JSONString {
    /// The text between the quotes, as it is meant.
    ///
    /// - Returns: `nil` if an escape isn't one of JSON's.
    static func decoded(_ content: ArraySlice<UInt8>) -> [UInt8]? {
        guard content.contains(backslash) else { return Array(content) }
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        // Units of UTF-16 that follow each other are one text.
        var units: [UInt16] = []
        var rest = content
        while let byte = rest.popFirst() {
            if byte == backslash, rest.first == UInt8(ascii: "u") {
                guard let unit = unit(rest.dropFirst().prefix(4)) else { return nil }
                units.append(unit)
                rest = rest.dropFirst(5)
                continue
            }
            append(&units, to: &result)
            guard byte == backslash else {
                result.append(byte)
                continue
            }
            guard let escape = rest.popFirst(), let meant = escapes[escape] else { return nil }
            result.append(meant)
        }
        append(&units, to: &result)
        return result
    }

    /// A text as the content of a JSON string.
    static func encoded(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), backslash: result += [backslash, byte]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                result += Array("\\u00\(byte < 0x10 ? "0" : "")\(digits)".utf8)
            default: result.append(byte)
            }
        }
        return result
    }

    private static let backslash = UInt8(ascii: "\\")
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), backslash: backslash, UInt8(ascii: "/"): UInt8(ascii: "/"),
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]

    /// A number of four hexadecimal digits.
    private static func unit(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func append(_ units: inout [UInt16], to result: inout [UInt8]) {
        guard !units.isEmpty else { return }
        result += Array(String(decoding: units, as: UTF16.self).utf8)
        units = []
    }
}
