import Foundation

/// A value that travels as JSON, both ways.
///
/// Any `Decodable & Sendable` type can be expected of a service; this name
/// says that a type also encodes.
public protocol Model: Codable, Sendable {}

extension Data: Model {}

extension Array: Model where Element: Model {}
