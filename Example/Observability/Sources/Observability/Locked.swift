import Foundation

/// A value behind a lock.
final class Locked<Value>: @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
