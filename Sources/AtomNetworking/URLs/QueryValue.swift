import Foundation

/// A value that a query can have.
///
/// Texts, numbers, Booleans (`true`, `false`), dates (ISO 8601 in UTC, whole seconds) and UUIDs are, and so are arrays
/// of them: an array is sent as several items of the same name. A type of yours needs only the conformance:
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
///
/// What is sent for it is its raw value, if it has one, and otherwise what
/// `String(describing:)` says of it: its `description`, or an enum's case.
///
/// The protocol requires nothing, so nothing is added to the types of the standard library.
public protocol QueryValue: Sendable {}

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
extension Decimal: QueryValue {}
extension UUID: QueryValue {}
extension Date: QueryValue {}
extension Array: QueryValue where Element: QueryValue {}

extension QueryItem {
    /// The texts of a value; several texts are several items.
    static func texts(of value: any QueryValue) -> [String] {
        switch value {
        case let text as String: [text]
        // The last case would give the same texts, for 10,000 instructions more.
        case let number as Int: [String(number)]
        case let isSet as Bool: [String(isSet)]
        // Foundation may trap on a date that isn't finite.
        case let date as Date: date.timeIntervalSinceReferenceDate.isFinite ? [date.formatted(.iso8601)] : []
        case let values as [any QueryValue]: values.flatMap(texts)
        case let value as any RawRepresentable: texts(ofRawValue: value)
        default: [String(describing: value)]
        }
    }

    private static func texts(ofRawValue value: some RawRepresentable) -> [String] {
        (value.rawValue as? any QueryValue).map(texts) ?? [String(describing: value.rawValue)]
    }
}
