/// Splits `Set-Cookie` lines that Foundation has joined with a comma and a
/// space.
///
/// Cookies may contain commas too (RFC 9110 §5.3). A line begins after a comma that
/// a token and an equals sign follow, which no date contains, unless the comma is in
/// a value between quotes or with spaces: a server that allows spaces also allows
/// commas, and the text may be another user's. One cookie less is better than one
/// that no server set.
struct JoinedSetCookies<Bytes: RandomAccessCollection> where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    private var position: Int

    init(_ bytes: Bytes) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The range of each line; each byte is read only a few times, because a server
    /// chooses the commas.
    static func lines(in bytes: Bytes) -> [Range<Int>] {
        var joined = Self(bytes)
        var lines: [Range<Int>] = []
        var start = bytes.startIndex
        while let end = joined.endOfLine() {
            lines.append(start..<end)
            start = end + 2
        }
        lines.append(start..<bytes.endIndex)
        return lines
    }

    /// Moves to the end of the line and past the comma and the space; `nil` for
    /// the last line.
    private mutating func endOfLine() -> Int? {
        if let end = endInPair() { return end }
        // Attributes. The comma in a date isn't followed by a token and an
        // equals sign.
        while position < bytes.endIndex {
            if let end = endHere() { return end }
            position += 1
        }
        return nil
    }

    /// The same, up to the first semicolon.
    private mutating func endInPair() -> Int? {
        var isInValue = false
        var hasText = false
        var hasInnerBlank = false
        var isAfterBlank = false
        while position < bytes.endIndex {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: ";"):
                return nil
            case UInt8(ascii: "=") where !isInValue:
                isInValue = true
            case UInt8(ascii: "\"") where isInValue && !hasText:
                hasText = true
                skipQuoted()
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                isAfterBlank = hasText
            default:
                if !hasInnerBlank, let end = endHere() { return end }
                hasInnerBlank = hasInnerBlank || isAfterBlank
                hasText = isInValue
            }
            position += 1
        }
        return nil
    }

    /// Moves from a value's first quote to its last quote, if there is one.
    private mutating func skipQuoted() {
        // Only to the next quote; otherwise a server could make this read the
        // rest again for each quote.
        var next = position + 1
        while next < bytes.endIndex, bytes[next] != UInt8(ascii: "\"") { next += 1 }
        guard next < bytes.endIndex else { return }
        let after = next + 1
        guard after == bytes.endIndex || " \t;,".utf8.contains(bytes[after]) else { return }
        position = next
    }

    /// The end of the line if it ends at this comma; moves past the comma and
    /// the space then.
    private mutating func endHere() -> Int? {
        guard bytes[position] == UInt8(ascii: ","), position + 1 < bytes.endIndex,
            bytes[position + 1] == UInt8(ascii: " ")
        else { return nil }
        let name = position + 2
        var end = name
        while end < bytes.endIndex, HTTPGrammar.isTokenByte(bytes[end]) { end += 1 }
        guard end > name, end < bytes.endIndex, bytes[end] == UInt8(ascii: "=") else { return nil }
        defer { position = name }
        return position
    }
}

extension JoinedSetCookies<[UInt8]> {
    /// The lines of a joined value.
    static func lines(in joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        return lines(in: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
}
