import Foundation

/// A value that is accessible only under its lock.
///
/// It uses `NSLock`, because `Mutex` needs newer Apple systems and causes a false race report of the thread sanitizer.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
