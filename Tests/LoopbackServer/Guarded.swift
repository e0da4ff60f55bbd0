import Foundation

/// A value that is only reached under its lock.
///
/// `NSLock` and not `Mutex`, which needs newer Apple systems and gives the thread sanitizer a false race.
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
