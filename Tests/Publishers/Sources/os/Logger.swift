import Foundation

/// Replaces the unified log of Apple platforms: it records the messages.
public struct Logger: Sendable {
    /// The lines of every logger, in order.
    public static var lines: [String] { store.lines }

    fileprivate static let store = LineStore()

    private let prefix: String

    /// Makes a logger with a subsystem and a category.
    public init(subsystem: String, category: String) {
        prefix = "\(subsystem)/\(category)"
    }

    /// Records a line.
    public func log(level: OSLogType, _ message: OSLogMessage) {
        Self.store.append("\(prefix): \(message.text)")
    }
}

/// The level of a message.
public struct OSLogType: Sendable {
    /// For developers.
    public static let debug = OSLogType()
    /// Of some use.
    public static let info = OSLogType()
    /// What is needed to find a fault.
    public static let `default` = OSLogType()
    /// An error.
    public static let error = OSLogType()
}

/// A message whose parts have privacy settings.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    let text: String

    /// Makes a message without parts.
    public init(stringLiteral value: String) {
        text = value
    }

    /// Makes a message from parts.
    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
    }

    /// Builds a message.
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""

        /// Starts with an empty message.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds literal text.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Adds an interpolated value.
        public mutating func appendInterpolation(_ value: String, privacy: OSLogPrivacy) {
            text += privacy == .public ? value : "<private>"
        }
    }
}

/// The privacy of a value in a message.
public enum OSLogPrivacy: Sendable {
    /// Visible in the log.
    case `public`
    /// Visible only in a debugger.
    case `private`
}

private final class LineStore: @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var all: [String] = []

    var lines: [String] { lock.withLock { all } }

    func append(_ line: String) {
        lock.withLock { all.append(line) }
    }
}
