import Foundation

/// A path as a literal, into which values are inserted.
///
/// Use it as the type of an endpoint's `path()`: nothing has to be tried, and
/// each inserted value stays within its segment, whatever characters it has.
///
/// ```swift
/// import AtomNetworking
///
/// struct Seatmap: Requestable {
///     let flight: String
///
///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
///     func path() -> EndpointPath { "/v1/flights/\(flight)/seatmap" }
/// }
/// ```
///
/// The text around the values follows the rules of ``URLPath``. They are
/// checked when the request is resumed, before anything is sent: the error is
/// ``RequestableError/invalidURLPath(_:)``. An empty value is rejected, since
/// the path would name another resource, and so is a segment that is `.` or
/// `..`. An empty literal is no path.
public struct EndpointPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The literal parts as written, and the values encoded.
    private let text: String
    private let hasEmptyValue: Bool

    /// Creates a path from a literal without values.
    public init(stringLiteral value: String) {
        text = value
        hasEmptyValue = false
    }

    /// Creates a path from a literal with values.
    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        hasEmptyValue = stringInterpolation.hasEmptyValue
    }

    /// Stands for a path that an endpoint doesn't declare.
    static let undeclared = EndpointPath(stringLiteral: Undeclared.text)

    /// - Throws: ``RequestableError/invalidURLPath(_:)``.
    func checked() throws(AtomError) -> URLPath {
        if hasEmptyValue {
            throw .requestable(.invalidURLPath(.init(subject: text, reason: "a value that is inserted is empty")))
        }
        return text.isEmpty ? .empty : try URLPath(text)
    }

    /// The parts of a literal; the compiler calls it.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var hasEmptyValue = false

        /// Reserves memory.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Adds a part of the literal.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a text, a number or a Boolean, percent-encoded.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) { add(value.description) }

        /// Adds a UUID.
        public mutating func appendInterpolation(_ value: UUID) { add(value.uuidString) }

        /// Adds the raw value, percent-encoded.
        public mutating func appendInterpolation<T: RawRepresentable>(_ value: T)
        where T.RawValue: LosslessStringConvertible {
            add(value.rawValue.description)
        }

        /// Adds a whole path, whose slashes stay slashes.
        public mutating func appendInterpolation(path: URLPath) { text += path.encoded }

        private mutating func add(_ value: String) {
            if value.isEmpty { hasEmptyValue = true }
            text += PercentEncoding.encode(value, allowing: PercentEncoding.unreserved)
        }
    }
}

extension EndpointPath: CustomStringConvertible {
    /// The path before it is checked.
    public var description: String { text }
}
