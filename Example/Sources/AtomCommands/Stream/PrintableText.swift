import Foundation

/// Text for a terminal, from bytes that arrive in parts.
///
/// A part may end within a character; its first bytes wait for the next part.
struct PrintableText {
    private var rest = Data()

    /// The characters that are complete now, without control characters.
    mutating func take(_ part: Data) -> String {
        rest.append(part)
        let complete = rest.dropLast(Self.incompleteBytes(at: rest))
        defer { rest = Data(rest.dropFirst(complete.count)) }
        return ResponsePrinter.printable(String(decoding: complete, as: UTF8.self), keeping: "\n\t")
    }

    /// The number of bytes at the end that are the beginning of a character.
    private static func incompleteBytes(at data: Data) -> Int {
        for (index, byte) in data.suffix(3).reversed().enumerated() where byte & 0b1100_0000 != 0b1000_0000 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return index + 1 < length ? index + 1 : 0
        }
        return 0
    }
}
