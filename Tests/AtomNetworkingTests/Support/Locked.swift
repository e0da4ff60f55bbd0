import Foundation

/// A value under a lock, for tests.
///
/// The SDK's own lock is under test itself.
final class Locked<Value>: @unchecked Sendable {
    // Accessed only under `lock`.
    private var stored: Value
    private let lock = NSLock()

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }

    func set(_ value: Value) { lock.withLock { stored = value } }

    @discardableResult
    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&stored) }
    }
}
