/// Splits `Set-Cookie` lines that Foundation has joined with a comma and a space.
///
/// Cookies may contain commas too (RFC 9110 §5.3). A line begins after a comma that a token and an equals sign follow,
/// which no date contains, unless the comma is in a value between quotes or with spaces: a server that allows spaces
/// also allows commas, and the text may be another user's. One cookie less is better than one that no server set.
enum JoinedSetCookies {
    /// The range of each line; each byte is read only a few times, because a server chooses the commas.
    static func lines<Bytes: RandomAccessCollection>(
        in bytes: Bytes
    ) -> [Range<Int>] where Bytes.Element == UInt8, Bytes.Index == Int {
        var lines: [Range<Int>] = []
        var (start, position) = (bytes.startIndex, bytes.startIndex)
        // Of the name and the value of the line.
        var (isInPair, isInValue, hasText, isAfterBlank, hasInnerBlank) = (true, false, false, false, false)
        while position < bytes.endIndex {
            let byte = bytes[position]
            if byte == UInt8(ascii: ","), !(isInPair && hasInnerBlank), aLineBegins(after: position, in: bytes) {
                lines.append(start..<position)
                start = position + 2
                position = start
                (isInPair, isInValue, hasText, isAfterBlank, hasInnerBlank) = (true, false, false, false, false)
                continue
            }
            switch byte {
            case _ where !isInPair: break
            case UInt8(ascii: ";"): isInPair = false
            case UInt8(ascii: "=") where !isInValue: isInValue = true
            case UInt8(ascii: "\"") where isInValue && !hasText:
                hasText = true
                position = endOfQuoted(from: position, in: bytes)
            case UInt8(ascii: " "), UInt8(ascii: "\t"): isAfterBlank = hasText
            default:
                hasInnerBlank = hasInnerBlank || isAfterBlank
                hasText = isInValue
            }
            position += 1
        }
        return lines + [start..<bytes.endIndex]
    }

    /// Whether a space, a token and an equals sign follow the comma.
    private static func aLineBegins<Bytes: RandomAccessCollection>(
        after comma: Int, in bytes: Bytes
    ) -> Bool where Bytes.Element == UInt8, Bytes.Index == Int {
        guard comma + 1 < bytes.endIndex, bytes[comma + 1] == UInt8(ascii: " ") else { return false }
        let name = bytes[(comma + 2)...].prefix { HTTPGrammar.isTokenByte($0) }
        return !name.isEmpty && name.endIndex < bytes.endIndex && bytes[name.endIndex] == UInt8(ascii: "=")
    }

    /// The next quote, if it ends a value, and otherwise the first one: to read on
    /// for another would make this read the rest again for each.
    private static func endOfQuoted<Bytes: RandomAccessCollection>(
        from first: Int, in bytes: Bytes
    ) -> Int where Bytes.Element == UInt8, Bytes.Index == Int {
        guard let next = bytes[(first + 1)...].firstIndex(of: UInt8(ascii: "\"")),
            next + 1 == bytes.endIndex || " \t;,".utf8.contains(bytes[next + 1])
        else { return first }
        return next
    }

    static func lines(in joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        return lines(in: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
}
