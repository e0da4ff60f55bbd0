import Foundation

/// Something that happens once, and can be waited for.
final class Signal: @unchecked Sendable {
    // Touched under `lock` only.
    private let lock = NSLock()
    private var isRaised = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func raise() {
        let woken = lock.withLock {
            isRaised = true
            defer { waiting = [] }
            return waiting
        }
        for continuation in woken { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isRaised = lock.withLock {
                if !self.isRaised { waiting.append(continuation) }
                return self.isRaised
            }
            if isRaised { continuation.resume() }
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
