import Foundation
import Testing

/// Something that happens once, and can be waited for.
final class Signal: @unchecked Sendable {
    // Touched under `lock` only.
    private let lock = NSLock()
    private var isRaised = false
    private var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    private var waits = 0

    func raise() {
        let woken = lock.withLock {
            isRaised = true
            defer { waiting = [:] }
            return waiting.values
        }
        for continuation in woken { continuation.resume(returning: true) }
    }

    /// Waits until it has happened, for so long at most: then the test fails,
    /// and goes on.
    ///
    /// A task that is cancelled goes on waiting, since a test may have
    /// cancelled it on purpose.
    ///
    /// - Parameter seconds: `nil` for a double that may wait for longer than
    ///   its test takes.
    func wait(seconds: Double? = 300, sourceLocation: SourceLocation = #_sourceLocation) async {
        let hasHappened = await withCheckedContinuation { continuation in
            let number: Int? = lock.withLock {
                guard !isRaised else { return nil }
                waits += 1
                waiting[waits] = continuation
                return waits
            }
            guard let number else { return continuation.resume(returning: true) }
            guard let seconds else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
                guard let self else { return }
                lock.withLock { waiting.removeValue(forKey: number) }?.resume(returning: false)
            }
        }
        if !hasHappened {
            Issue.record("What is waited for has not happened in \(seconds ?? 0) s", sourceLocation: sourceLocation)
        }
    }
}

/// A value under a lock.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value { lock.withLock { stored } }

    func set(_ value: Value) {
        lock.withLock { stored = value }
    }

    func with<T>(_ body: (inout Value) -> T) -> T {
        lock.withLock { body(&stored) }
    }
}
