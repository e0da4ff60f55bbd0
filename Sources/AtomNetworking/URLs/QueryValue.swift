import Foundation

/// A value that a query can have.
///
/// Texts, numbers, Booleans (`true`, `false`), dates (ISO 8601 in UTC, whole
/// seconds) and UUIDs are, and so are arrays of them: an array is sent as
/// several items of the same name. An enum with raw values needs only the
/// conformance:
///
/// ```swift
/// import AtomNetworking
///
/// enum Cabin: String, QueryValue {
///     case main, first
/// }
///
/// let page: Int? = nil
/// let query: [QueryItem] = ["cabin": Cabin.first, "seats": 2, "page": page, "fare": ["saver", "flex"]]
/// // cabin=first&seats=2&fare=saver&fare=flex
/// ```
public protocol QueryValue: Sendable {
    /// The value as text; several texts are several items.
    var queryTexts: [String] { get }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value as text.
    public var queryTexts: [String] { rawValue.queryTexts }
}

extension QueryValue where Self: LosslessStringConvertible {
    /// The description.
    public var queryTexts: [String] { [description] }
}

extension String: QueryValue {}
extension Substring: QueryValue {}
extension Bool: QueryValue {}
extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Double: QueryValue {}
extension Float: QueryValue {}

extension Decimal: QueryValue {
    /// The number with a decimal point.
    public var queryTexts: [String] { [description] }
}

extension UUID: QueryValue {
    /// The UUID in capital letters.
    public var queryTexts: [String] { [uuidString] }
}

extension Date: QueryValue {
    /// The date as ISO 8601 in UTC, for example `2026-11-22T08:30:00Z`; nothing
    /// for a date that isn't finite.
    public var queryTexts: [String] {
        // Foundation may trap on one.
        timeIntervalSinceReferenceDate.isFinite ? [formatted(.iso8601)] : []
    }
}

extension Array: QueryValue where Element: QueryValue {
    /// The texts of all elements.
    public var queryTexts: [String] { flatMap(\.queryTexts) }
}
