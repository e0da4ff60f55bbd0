import Foundation

/// A parser for `application/x-www-form-urlencoded`.
enum FormEncoding {
    /// The names and values; `nil` if a percent sign isn't followed by two
    /// hexadecimal digits or the result isn't UTF-8.
    static func decode(_ text: String) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard
                let name = decodeComponent(String(halves[0])),
                let value = decodeComponent(halves.count > 1 ? String(halves[1]) : "")
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    static func decodeComponent(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard
                    let high = iterator.next().flatMap(hexadecimalValue),
                    let low = iterator.next().flatMap(hexadecimalValue)
                else { return nil }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        return String(bytes: bytes, encoding: .utf8)
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map(UInt8.init)
    }
}
