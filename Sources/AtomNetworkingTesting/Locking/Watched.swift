import Foundation

/// A value under a lock, whose changes can be awaited.
final class Watched<Value>: @unchecked Sendable {
    private struct Watcher {
        let condition: (Value) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    // All properties are accessed only under `lock`.
    private let lock = NSLock()
    private var value: Value
    private var watchers: [Int: Watcher] = [:]
    private var cancelled: Set<Int> = []
    private var lastWatcher = 0

    init(_ value: Value) {
        self.value = value
    }

    /// Reads or changes the value, and then wakes those whose condition holds.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        let result: Result
        do {
            result = try body(&value)
        } catch {
            lock.unlock()
            throw error
        }
        var woken: [CheckedContinuation<Bool, Never>] = []
        for (number, watcher) in watchers where watcher.condition(value) {
            watchers[number] = nil
            woken.append(watcher.continuation)
        }
        lock.unlock()
        for continuation in woken { continuation.resume(returning: true) }
        return result
    }

    /// Waits until the condition holds.
    ///
    /// - Parameter condition: Called under the lock.
    /// - Returns: Whether it holds; `false` if the task was cancelled before.
    func wait(until condition: @escaping @Sendable (Value) -> Bool) async -> Bool {
        let number = lock.withLock {
            lastWatcher += 1
            return lastWatcher
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Bool? = lock.withLock {
                    let isCancelled = cancelled.remove(number) != nil
                    if condition(value) { return true }
                    if isCancelled { return false }
                    watchers[number] = Watcher(condition: condition, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let watcher = lock.withLock {
                let watcher = watchers.removeValue(forKey: number)
                if watcher == nil { cancelled.insert(number) }
                return watcher
            }
            watcher?.continuation.resume(returning: false)
        }
    }

    /// How waiting ends.
    enum WaitEnd { case held, cancelled, inVain }

    /// Waits until the condition holds, or until nothing happens any more.
    ///
    /// - Parameters:
    ///   - patience: For how long nothing happens.
    ///   - pulse: Changes when something has happened.
    ///   - condition: Called under the lock.
    func wait(
        patience: Duration, pulse: @escaping @Sendable () -> [Int]?,
        until condition: @escaping @Sendable (Value) -> Bool
    ) async -> WaitEnd {
        // Nearly always.
        if withLock({ condition($0) }) { return .held }
        return await withTaskGroup(of: WaitEnd.self) { group in
            group.addTask { await self.wait(until: condition) ? .held : .cancelled }
            group.addTask { await Turn.standStill(for: patience, pulse) ? .inVain : .cancelled }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            // It may have come at the last moment.
            let second = await group.next() ?? .cancelled
            return second == .held ? second : first
        }
    }
}
