/// Octets of a field that aren't UTF-8, in its text: they are kept, and sent back as they came (RFC 9110 §5.5).
///
/// Each is the character that it is in ISO 8859-1, which people can read, with a mark behind it that shows nothing.
package enum OpaqueOctets {
    /// The last variation selector, which belongs to no character.
    private static let mark = "\u{E01EF}"
    /// The first byte of the mark, which hardly any other text has.
    static let sign: UInt8 = 0xF3

    static func text(_ octets: some Sequence<UInt8>) -> String {
        octets.reduce(into: "") { text, octet in
            text.unicodeScalars.append(Unicode.Scalar(octet))
            if octet >= 0x80 { text += mark }
        }
    }

    /// What the text is of.
    package static func octets(of text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        bytes.removeLast(bytes.count - bytes.withUnsafeMutableBufferPointer { restore($0) })
        return bytes
    }

    /// Puts the octets into the place of their characters, and returns how many bytes the text has then.
    static func restore(_ text: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var (count, next) = (0, 0)
        while next < text.count {
            let lead = text[next]
            // U+0080 to U+00FF have two bytes.
            let isMarked = lead & 0xFE == 0xC2 && text.dropFirst(next + 2).starts(with: mark.utf8)
            text[count] = isMarked ? lead << 6 | text[next + 1] & 0x3F : lead
            count += 1
            next += isMarked ? 6 : 1
        }
        return count
    }
}
