/// The range that a request asks for (RFC 9110 §14).
enum ByteRange: Equatable {
    /// No range, or one that the server may ignore.
    case whole
    case part(Range<Int>)
    /// Answered with 416.
    case notSatisfiable

    /// Judges `Range` and `If-Range` for a file of that size.
    ///
    /// Several ranges, another unit and a malformed value are ignored. A date
    /// in `If-Range` never matches, because the file has none.
    init(_ range: String?, ifRange: String?, entityTag: String, size: Int) {
        guard let range, ifRange ?? entityTag == entityTag, range.lowercased().hasPrefix("bytes=") else {
            self = .whole
            return
        }
        let bounds = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, bounds.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }) else {
            self = .whole
            return
        }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (let first?, let last?) where last < first: self = .whole
        case (let first?, let last): self = Self.part(first, min(last ?? size - 1, size - 1), of: size)
        case (nil, let count?):
            self = count == 0 ? .notSatisfiable : Self.part(max(size - count, 0), size - 1, of: size)
        case (nil, nil): self = .whole
        }
    }

    private static func part(_ first: Int, _ last: Int, of size: Int) -> ByteRange {
        first < size ? .part(first..<last + 1) : .notSatisfiable
    }
}
