import Foundation

/// Splits the parts of a response into lines.
///
/// A line ends with LF, CR LF or CR. Where a part ends makes no difference: a CR LF in two parts is one end, and a line
/// that ends with CR is there at once, without the byte after it. Blank lines are lines too.
///
/// Take all lines after each ``append(_:)``. Then it holds at most as many bytes
/// as one line may have and one part, and looks at each byte only once.
struct LineSplitter {
    private let limit: Int
    /// Whether a byte order mark may still come, and is to be dropped.
    private var expectsMark = true
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Before it no line ends, from `start` on.
    private var scanned = 0
    /// Whether the last line ended with CR, so that an LF now is part of its end.
    private var isAfterReturn = false
    private var isFinished = false
    private var isTooLong = false

    /// Creates a splitter for one response.
    ///
    /// The limit is for the bytes of a line, without its end. A byte order mark
    /// elsewhere than at the beginning is a character like any other.
    init(limit: Int) { self.limit = limit }

    /// Adds the next part of the response.
    mutating func append(_ part: Data) {
        guard !isTooLong else { return }
        // Moves a byte only once: if all lines were taken, then the rest came
        // with the last part. Otherwise at least as much is dropped as moved.
        if start > 0, scanned == bytes.count || start >= bytes.count - start {
            bytes.removeSubrange(..<start)
            scanned -= start
            start = 0
        }
        part.withUnsafeBytes { bytes.append(contentsOf: $0.bindMemory(to: UInt8.self)) }
    }

    /// Ends the response: what is left is a line, too, unless it is empty.
    mutating func finish() { isFinished = true }

    /// Returns the next line, without its end; `nil` if the rest is incomplete.
    ///
    /// It fails if the line is longer than the limit, and again at each call.
    mutating func next() throws(AtomError) -> Data? {
        guard let line = try nextRange() else { return nil }
        return withBytes(in: line) { Data($0) }
    }

    /// Returns the next line as text.
    ///
    /// As ``next()``. It also fails if the line isn't UTF-8.
    mutating func nextText() throws(AtomError) -> String? {
        guard let line = try nextRange() else { return nil }
        guard let text = withBytes(in: line, Self.text) else {
            throw .transfer(TransferError(.notUTF8, "A line of the response is not UTF-8.", delivery: .answered))
        }
        return text
    }

    /// Returns where the next line is, for ``withBytes(in:_:)``.
    ///
    /// As ``next()``, but without a copy. It is valid until the next call of any other function of the splitter.
    mutating func nextRange() throws(AtomError) -> Range<Int>? {
        guard skipMark() else { return nil }
        if isAfterReturn, start < bytes.count {
            isAfterReturn = false
            if bytes[start] == 0x0A {
                start += 1
                scanned = start
            }
        }
        let end = bytes.withUnsafeBytes { Self.lineEnd(in: $0, from: scanned) }
        guard !isTooLong, (end ?? bytes.count) - start <= limit else { throw tooLong() }
        if let end {
            defer { start = end + 1 }
            scanned = end + 1
            isAfterReturn = bytes[end] == 0x0D
            return start..<end
        }
        scanned = bytes.count
        guard isFinished, start < bytes.count else { return nil }
        defer { start = bytes.count }
        return start..<bytes.count
    }

    /// Calls a closure with the bytes of a line that ``nextRange()`` returned.
    func withBytes<Result>(in line: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[line])) }
    }

    /// Drops the byte order mark at the beginning, and returns whether it is known that there is none left.
    private mutating func skipMark() -> Bool {
        guard expectsMark else { return true }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard bytes.count >= mark.count || !mark.starts(with: bytes) || isFinished else { return false }
        expectsMark = false
        if bytes.starts(with: mark) {
            start = mark.count
            scanned = start
        }
        return true
    }

    /// Forgets everything, because nothing is taken from here on.
    private mutating func tooLong() -> AtomError {
        isTooLong = true
        bytes = []
        (start, scanned) = (0, 0)
        let explanation = "A line of the response is longer than \(limit) bytes."
        return .transfer(TransferError(.tooLarge, explanation, delivery: .answered))
    }

    /// The position of the first LF or CR.
    ///
    /// It looks for both in eight bytes at a time: a search for one of them would
    /// run to the end of the part for each line that ends with the other.
    private static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let (ones, highBits): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var position = start
        while bytes.count - position >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let feeds = word ^ (ones &* 0x0A)
            let returns = word ^ (ones &* 0x0D)
            // The high bit of the first byte that is 0, and perhaps of later ones, which don't matter.
            let found = (((feeds &- ones) & ~feeds) | ((returns &- ones) & ~returns)) & highBits
            if found != 0 { return position + found.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < bytes.count {
            if bytes[position] == 0x0A || bytes[position] == 0x0D { return position }
            position += 1
        }
        return nil
    }

    /// The text of a line; `nil` if it isn't UTF-8.
    ///
    /// Foundation's function would also drop a byte order mark, in any line. The
    /// one used here replaces what is invalid, and then the bytes aren't the same.
    private static func text(of line: UnsafeRawBufferPointer) -> String? {
        let text = String(decoding: line, as: UTF8.self)
        let isSame = text.utf8.withContiguousStorageIfAvailable { decoded in
            guard decoded.count == line.count else { return false }
            guard let first = decoded.baseAddress, let second = line.baseAddress else { return true }
            return memcmp(first, second, line.count) == 0
        }
        return isSame ?? text.utf8.elementsEqual(line) ? text : nil
    }
}
