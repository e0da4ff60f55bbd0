import Foundation

/// The path of a URL, beginning with a slash.
///
/// Percent-encoded octets are kept as given (also `%2F`); characters that need encoding are encoded. Empty segments and
/// the segments `.` and `..` are rejected, because clients, proxies and servers interpret them differently (RFC 3986
/// §5.2.4). A trailing slash is kept.
public struct URLPath: Sendable, Hashable {
    private let text: String
    /// What is wrong with a literal.
    private let refusal: Refusal?

    /// The path as it is sent; empty for a literal that isn't a path.
    var encoded: String { refusal == nil ? text : "" }

    /// Creates a path.
    ///
    /// A value that you insert is taken as it is: a slash in it begins another
    /// segment. Use ``literal(_:)`` for values that must stay one segment.
    ///
    /// - Throws: ``RequestableError/invalidURLPath(_:)``, which says which rule the path breaks.
    public init(_ path: String) throws(AtomError) {
        do {
            self.init(as: try Self.encode(path))
        } catch {
            throw error.refusal(of: path)
        }
    }

    /// Creates a path from segments, each of which may be any text.
    ///
    /// All characters with a special meaning in a path are encoded, so each text stays one segment: `URLPath(segments:
    /// ["airports", "Paris/CDG"])` is `/airports/Paris%2FCDG`.
    ///
    /// - Throws: ``RequestableError/invalidURLPath(_:)`` if there are no segments, or
    ///   if a segment is empty, `.` or `..`.
    public init(segments: [String]) throws(AtomError) {
        try self.init("/" + segments.map(Self.segment).joined(separator: "/"))
        if segments.isEmpty || segments.contains("") { throw Refusal.emptySegment.refusal(of: text) }
    }

    private init(as text: String, refusal: Refusal? = nil) {
        self.text = text
        self.refusal = refusal
    }

    /// No path: the default of a ``Requestable``.
    static let empty = URLPath(as: "")

    private static func segment(_ text: String) -> String {
        PercentEncoding.encode(text, allowing: PercentEncoding.unreserved)
    }

    /// The rule that a path breaks.
    private enum Refusal: String, Error {
        case empty = "the path is empty"
        case noSlash = "a path begins with a slash"
        case emptySegment = "a segment is empty"
        case emptyValue = "a value that is inserted is empty"
        case percentSign = "a percent sign needs two hexadecimal digits after it; write it as %25"
        case questionMark = "use query items for a query; write a question mark as %3F"
        case numberSign = "a fragment can't be sent; write a number sign as %23"
        case space = "write a space as %20"
        case controlCharacter = "a path contains no control characters"
        case dots = "the segments . and .. can't be sent"

        func refusal(of path: String) -> AtomError {
            .requestable(.invalidURLPath(.init(subject: path, reason: rawValue)))
        }
    }

    private static func encode(_ path: String) throws(Refusal) -> String {
        var path = path
        if path.withUTF8({ isEncoded($0) }) { return path }
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw path.isEmpty ? .empty : .noSlash
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
                if segmentLength == 0 { throw .emptySegment }
                try refuseDots(segmentDots, of: segmentLength)
                encoded.append(byte)
                segmentLength = 0
                segmentDots = 0
                continue
            case UInt8(ascii: "%"):
                guard let first = bytes.next(), let second = bytes.next(),
                    let high = PercentEncoding.hexValue(first), let low = PercentEncoding.hexValue(second)
                else { throw .percentSign }
                encoded += [byte, first, second]
                if high << 4 | low == UInt8(ascii: ".") { segmentDots += 1 }
            case UInt8(ascii: "?"): throw .questionMark
            case UInt8(ascii: "#"): throw .numberSign
            case UInt8(ascii: " "): throw .space
            case 0..<0x20, 0x7F: throw .controlCharacter
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
        if dots == length, (1...2).contains(dots) { throw .dots }
    }
}

// `URLPath("/x")` with a literal is the literal itself for a type that can be one, and nothing would be thrown. So
// `Literal` is that type.
extension URLPath {
    /// A path as a literal, into which values are inserted.
    ///
    /// Nothing has to be tried, and each inserted value stays within its segment,
    /// whatever characters it has: `.literal("/v1/flights/\(flight)/seatmap")`.
    ///
    /// The text around the values follows the rules above. They are checked when the request is resumed, before
    /// anything is sent: the error is ``RequestableError/invalidURLPath(_:)``. An empty value is rejected, since the
    /// path would name another resource. An empty literal is no path.
    public static func literal(_ path: Literal) -> URLPath { URLPath(path) }

    private init(_ literal: Literal) {
        do throws(Refusal) {
            if literal.hasEmptyValue { throw .emptyValue }
            self.init(as: literal.text.isEmpty ? "" : try Self.encode(literal.text))
        } catch {
            self.init(as: literal.text, refusal: error)
        }
    }

    /// The path itself, unless it is a literal that breaks a rule.
    func checked() throws(AtomError) -> URLPath {
        if let refusal { throw refusal.refusal(of: text) }
        return self
    }

    /// What ``URLPath/literal(_:)`` takes: a text with values, made by the compiler.
    public struct Literal: Sendable, ExpressibleByStringInterpolation, StringInterpolationProtocol {
        /// The literal parts as written, and the values encoded.
        fileprivate private(set) var text = ""
        fileprivate private(set) var hasEmptyValue = false

        /// Creates a literal without values.
        public init(stringLiteral value: String) { text = value }

        /// Creates a literal with values.
        public init(stringInterpolation literal: Literal) { self = literal }

        /// Reserves memory.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Adds a part of the literal.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a text, a number or a Boolean, percent-encoded.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            add(value.description)
        }

        /// Adds a UUID.
        public mutating func appendInterpolation(_ value: UUID) { add(value.uuidString) }

        /// Adds the raw value, percent-encoded.
        public mutating func appendInterpolation<T: RawRepresentable>(_ value: T)
        where T.RawValue: LosslessStringConvertible {
            add(value.rawValue.description)
        }

        /// Adds a whole path, whose slashes stay slashes.
        public mutating func appendInterpolation(path: URLPath) {
            // Its text alone doesn't show it.
            if path.refusal == .emptyValue { hasEmptyValue = true }
            text += path.text
        }

        private mutating func add(_ value: String) {
            if value.isEmpty { hasEmptyValue = true }
            text += URLPath.segment(value)
        }
    }
}

extension URLPath: CustomStringConvertible {
    /// The path as it is sent, or the text of a literal that breaks a rule.
    public var description: String { text }
}
