import Foundation

/// Stands in for the unified log of Apple's systems: keeps what it is given.
public struct Logger: Sendable {
    /// The lines of every logger, in order.
    public static var lines: [String] { store.lines }

    fileprivate static let store = LineStore()

    private let prefix: String

    /// Makes a logger of a subsystem and a category.
    public init(subsystem: String, category: String) {
        prefix = "\(subsystem)/\(category)"
    }

    /// Notes a line.
    public func debug(_ message: OSLogMessage) {
        Self.store.append("\(prefix): \(message.text)")
    }
}

/// A message whose parts say who may see them.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    let text: String

    /// Makes a message without parts.
    public init(stringLiteral value: String) {
        text = value
    }

    /// Makes a message of parts.
    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
    }

    /// Puts a message together.
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""

        /// Starts with nothing.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds what stands between the parts.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Adds a part.
        public mutating func appendInterpolation(_ value: String, privacy: OSLogPrivacy) {
            text += privacy == .public ? value : "<private>"
        }
    }
}

/// Who may see a part of a message.
public enum OSLogPrivacy: Sendable {
    /// Everybody.
    case `public`
    /// Nobody but a debugger.
    case `private`
}

private final class LineStore: @unchecked Sendable {
    // Touched under `lock` only.
    private let lock = NSLock()
    private var all: [String] = []

    var lines: [String] { lock.withLock { all } }

    func append(_ line: String) {
        lock.withLock { all.append(line) }
    }
}
