import Foundation

/// A type that shows only its description: in text, in a debugger and in `dump`.
///
/// Everything that holds a secret, or a value that may be one, is redacted. The
/// description of a type that shows nothing at all is its name.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The name of the type.
    public var description: String { String(describing: Self.self) }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// An error that shows only its description, also to Foundation.
package protocol RedactedError: Redacted, LocalizedError {}

extension RedactedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}
