/// Finds possible secrets in a text, also percent-encoded several times, and writes the text without them.
struct SecretSearch {
    /// Only this many bytes of a longer text are searched and shown.
    static let limit = 4096

    private let source: [UInt8]
    private var bytes: [UInt8] = []
    /// Where each of the bytes begins in the source, and the end.
    private var offsets: [Int] = []
    private var isHidden: [Bool]

    init(_ text: String) {
        source = Array(text.utf8.prefix(Self.limit + 1))
        bytes.reserveCapacity(source.count)
        offsets.reserveCapacity(source.count + 1)
        var index = 0
        while index < source.count {
            offsets.append(index)
            let (byte, next) = Self.octet(at: index, of: source)
            bytes.append(byte)
            index = next
        }
        offsets.append(index)
        isHidden = [Bool](repeating: false, count: bytes.count)
        if source.count > Self.limit { hideTail() }
    }

    var findsLikelyToken: Bool { runs.contains { Self.looksLikeToken(bytes[$0]) } }

    /// Hides everything that looks like a token, up to a space or quote.
    mutating func hideLikelyTokens() {
        for run in runs where Self.looksLikeToken(bytes[run]) { hide(run) }
    }

    mutating func hide(_ secrets: [String]) {
        let secrets = secrets.map { Self.folded(SecretSearch($0).bytes) }.filter { !$0.isEmpty }
        guard !secrets.isEmpty else { return }
        let text = Self.folded(bytes)
        hideShared(with: secrets, in: text)
        hideShortened(secrets, in: text)
    }

    func shown(mark: String) -> String {
        guard isHidden.contains(true) else { return String(decoding: source, as: UTF8.self) }
        var shown: [UInt8] = []
        for index in bytes.indices {
            if !isHidden[index] {
                shown += source[offsets[index]..<offsets[index + 1]]
            } else if index == 0 || !isHidden[index - 1] {
                shown += Array(mark.utf8)
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private mutating func hide(_ range: Range<Int>) {
        for index in range { isHidden[index] = true }
    }

    /// Hides the last run of a truncated text, which can't be checked.
    private mutating func hideTail() {
        var start = bytes.count - 1
        while start > 0, Self.isTokenByte(bytes[start - 1]) { start -= 1 }
        hide(start..<bytes.count)
    }
}

// Parts that look like a token.
extension SecretSearch {
    /// What tokens consist of, except padding (`b64token`, RFC 6750 §2.1).
    private var runs: [Range<Int>] { stretches { Self.isTokenByte(bytes[$0]) } }

    private static func looksLikeToken(_ run: ArraySlice<UInt8>) -> Bool {
        run.split { "./".utf8.contains($0) }.contains { piece in
            let segments = piece.split { !$0.isLetter && !$0.isDigit }.map(words)
            if segments.joined().contains(where: { $0.count > ($0[$0.startIndex].isDigit ? 12 : 24) }) { return true }
            guard piece.count >= 16 else { return false }
            // In a name there are few digits, at the end of words.
            let changes = segments.reduce(0) { changes, words in
                changes
                    + zip(words, words.dropFirst()).count { $0[$0.startIndex].isDigit != $1[$1.startIndex].isDigit }
            }
            return changes >= 3
                || segments.contains { words in
                    let length = words.reduce(0) { $0 + $1.count }
                    return length >= 16 && length < 3 * words.count
                }
        }
    }

    /// Splits `passengerPNRCode2` as a reader does: passenger, PNR, Code, 2.
    private static func words(of segment: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var words: [ArraySlice<UInt8>] = []
        var start = segment.startIndex
        for index in segment.indices.dropFirst() {
            let (last, byte) = (segment[index - 1], segment[index])
            let isBeforeSmall =
                index + 1 < segment.endIndex && segment[index + 1].isLetter
                && !segment[index + 1].isCapital
            if last.isDigit != byte.isDigit || byte.isCapital && (!last.isCapital || isBeforeSmall) {
                words.append(segment[start..<index])
                start = index
            }
        }
        return words + [segment[start...]]
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-._~+/".utf8.contains(byte)
    }
}

// Known secrets.
extension SecretSearch {
    /// The shortest part of a secret that is hidden anywhere.
    private static let stretch = 8

    private mutating func hideShared(with secrets: [[UInt8]], in text: [UInt8]) {
        var words: Set<UInt64> = []
        for secret in secrets where secret.count >= Self.stretch {
            Self.forEachStretch(of: secret) { words.insert($1) }
        }
        var found: [Int] = []
        Self.forEachStretch(of: text) { if words.contains($1) { found.append($0) } }
        for index in found { hide(index..<index + Self.stretch) }
        // A space at an end matched a `+`, but belongs to the sentence.
        for range in stretches({ isHidden[$0] }) {
            for end in [range.lowerBound, range.upperBound - 1] where bytes[end] == UInt8(ascii: " ") {
                isHidden[end] = false
            }
        }
        for secret in secrets where secret.count < Self.stretch {
            for index in text.indices where text[index...].starts(with: secret) { hide(index..<index + secret.count) }
        }
    }

    /// Calls the body with each eight bytes, as a number, and their position.
    private static func forEachStretch(of bytes: [UInt8], _ body: (Int, UInt64) -> Void) {
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word = word << 8 | UInt64(byte)
            if index >= stretch - 1 { body(index - (stretch - 1), word) }
        }
    }

    /// Hides the beginning or the end of a secret next to `…`, `...` or `***`, including these marks.
    private mutating func hideShortened(_ secrets: [[UInt8]], in text: [UInt8]) {
        let isMark = marks(in: text)
        for piece in stretches({ Self.isTokenByte(bytes[$0]) && !isMark[$0] }) {
            let part = text[piece]
            guard isBeside(piece, isMark),
                secrets.contains(where: { $0.starts(with: part) || $0.suffix(part.count) == part })
            else { continue }
            hide(piece)
        }
        for mark in stretches({ isMark[$0] }) where isBeside(mark, isHidden) { hide(mark) }
    }

    /// Whether the neighbour of a range is one of these.
    private func isBeside(_ range: Range<Int>, _ those: [Bool]) -> Bool {
        range.lowerBound > 0 && those[range.lowerBound - 1]
            || range.upperBound < those.count && those[range.upperBound]
    }

    private func marks(in text: [UInt8]) -> [Bool] {
        var isMark = text.map { $0 == UInt8(ascii: "*") }
        for sign in ["..", "…", "•"].map({ Array($0.utf8) }) {
            for index in text.indices where text[index...].starts(with: sign) {
                for offset in sign.indices { isMark[index + offset] = true }
            }
        }
        return isMark
    }

    /// A secret and its form in a body or a log are the same then.
    private static func folded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0.isCapital ? $0 | 0x20 : $0 }
    }

    private func stretches(_ isIn: (Int) -> Bool) -> [Range<Int>] {
        bytes.indices.split { !isIn($0) }.map { $0.startIndex..<$0.endIndex }
    }

    /// The byte at an index, with `%41`, `%2541` and so on read as `A`, and the start of the next one (RFC 3986 §2.1).
    private static func octet(at index: Int, of source: [UInt8]) -> (UInt8, next: Int) {
        guard source[index] == UInt8(ascii: "%") else { return (source[index], index + 1) }
        var digits = index + 1
        while source[digits...].starts(with: "25".utf8), value(ofHexAt: digits + 2, of: source) != nil { digits += 2 }
        return value(ofHexAt: digits, of: source).map { ($0, digits + 2) } ?? (source[index], index + 1)
    }

    private static func value(ofHexAt index: Int, of source: [UInt8]) -> UInt8? {
        guard index + 1 < source.count else { return nil }
        let digits = source[index...index + 1].compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return digits.count == 2 ? UInt8(digits[0] << 4 + digits[1]) : nil
    }
}
