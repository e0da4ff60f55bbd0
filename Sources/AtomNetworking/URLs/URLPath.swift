/// The path of a URL, beginning with a slash.
///
/// Percent-encoded octets are kept as given (also `%2F`); characters that need
/// encoding are encoded. Empty segments and the segments `.` and `..` are
/// rejected, because clients, proxies and servers interpret them differently
/// (RFC 3986 §5.2.4). A trailing slash is kept.
public struct URLPath: Sendable, Hashable {
    /// The path as it is sent.
    let encoded: String

    /// Creates a path.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` with
    ///   ``RequestableError/invalidURLPath(_:)``, which says which rule the
    ///   path breaks.
    public init(_ path: String) throws(AtomError) {
        do {
            encoded = try Self.encode(path)
        } catch {
            throw .requestable(.invalidURLPath(.init(subject: path, reason: error.reason)))
        }
    }

    /// Creates a path from segments, each of which may be any text.
    ///
    /// All characters with a special meaning in a path are encoded, including
    /// slashes and percent signs, so each text stays one segment:
    /// `URLPath(segments: ["airports", "Paris/CDG"])` is
    /// `/airports/Paris%2FCDG`.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` with
    ///   ``RequestableError/invalidURLPath(_:)`` if there are no segments, or
    ///   if a segment is empty, `.` or `..`.
    public init(segments: [String]) throws(AtomError) {
        try self.init(
            "/"
                + segments.map { PercentEncoding.encode($0, allowing: PercentEncoding.unreserved) }.joined(
                    separator: "/"))
        if segments.isEmpty || segments.contains("") {
            throw .requestable(.invalidURLPath(.init(subject: encoded, reason: "a segment is empty")))
        }
    }

    private init(unchecked encoded: String) {
        self.encoded = encoded
    }

    /// No path: the default of a ``Requestable``.
    static let empty = URLPath(unchecked: "")

    /// Stands for a path that an endpoint doesn't declare; no path is like it.
    static let undeclared = URLPath(unchecked: "\0undeclared")

    private struct Refusal: Error {
        let reason: String
    }

    private static func encode(_ path: String) throws(Refusal) -> String {
        var path = path
        if path.withUTF8({ isEncoded($0) }) { return path }
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Refusal(reason: path.isEmpty ? "the path is empty" : "a path begins with a slash")
        }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(path.utf8.count)
        var segmentLength = 0
        var segmentDots = 0
        var bytes = path.utf8.makeIterator()
        _ = bytes.next()
        encoded.append(UInt8(ascii: "/"))

        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "/"):
                if segmentLength == 0 { throw Refusal(reason: "a segment is empty") }
                try refuseDots(segmentDots, of: segmentLength)
                encoded.append(byte)
                segmentLength = 0
                segmentDots = 0
                continue
            case UInt8(ascii: "%"):
                guard let first = bytes.next(), let second = bytes.next(),
                    let high = PercentEncoding.hexValue(first), let low = PercentEncoding.hexValue(second)
                else { throw Refusal(reason: "a percent sign needs two hexadecimal digits after it; write it as %25") }
                encoded += [byte, first, second]
                if high << 4 | low == UInt8(ascii: ".") { segmentDots += 1 }
            case UInt8(ascii: "?"): throw Refusal(reason: "use query items for a query; write a question mark as %3F")
            case UInt8(ascii: "#"): throw Refusal(reason: "a fragment can't be sent; write a number sign as %23")
            case UInt8(ascii: " "): throw Refusal(reason: "write a space as %20")
            case 0..<0x20, 0x7F: throw Refusal(reason: "a path contains no control characters")
            case let byte where PercentEncoding.path.contains(byte):
                encoded.append(byte)
                if byte == UInt8(ascii: ".") { segmentDots += 1 }
            default:
                PercentEncoding.append(byte, to: &encoded)
            }
            segmentLength += 1
        }
        try refuseDots(segmentDots, of: segmentLength)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Whether a quick check finds nothing to encode or to reject: each segment
    /// has characters other than dots and percent signs.
    private static func isEncoded(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        // The last segment may be empty.
        var isSegmentGood = false
        for byte in path.dropFirst() {
            if byte == UInt8(ascii: "/") {
                guard isSegmentGood else { return false }
                isSegmentGood = false
            } else {
                guard PercentEncoding.path.contains(byte) else { return false }
                if byte != UInt8(ascii: ".") { isSegmentGood = true }
            }
        }
        return isSegmentGood || path.last == UInt8(ascii: "/")
    }

    /// Rejects a segment that consists of one or two dots, encoded or not.
    private static func refuseDots(_ dots: Int, of length: Int) throws(Refusal) {
        if dots == length, (1...2).contains(dots) {
            throw Refusal(reason: "the segments . and .. can't be sent")
        }
    }
}

extension URLPath: CustomStringConvertible {
    /// The path as it is sent.
    public var description: String { encoded }
}
