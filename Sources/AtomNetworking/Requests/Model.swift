import Foundation

/// A value that is both encodable and decodable.
///
/// A service can decode every `Decodable & Sendable` type; this name says that a type is also `Encodable`.
public protocol Model: Codable, Sendable {}

extension Data: Model {}

extension Array: Model where Element: Model {}
