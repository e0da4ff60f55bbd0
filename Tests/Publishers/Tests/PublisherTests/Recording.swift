import Foundation

/// Records elements, and waits for the next ones.
final class Recording<Element: Sendable>: @unchecked Sendable {
    private typealias Waiter = (count: Int, continuation: CheckedContinuation<[Element], any Error>)

    // All three are accessed only under `lock`.
    private let lock = NSLock()
    private var elements: [Element] = []
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0

    /// All recorded elements, in order.
    var all: [Element] { lock.withLock { elements } }

    func append(_ element: Element) {
        let (elements, ready) = lock.withLock {
            self.elements.append(element)
            let ready = waiters.filter { $0.value.count <= self.elements.count }
            for key in ready.keys { waiters[key] = nil }
            return (self.elements, ready.values)
        }
        for waiter in ready {
            waiter.continuation.resume(returning: elements)
        }
    }

    /// Waits until this many elements have been recorded, or the test's time
    /// limit has passed.
    @discardableResult
    func first(_ count: Int) async throws -> [Element] {
        let key = lock.withLock {
            nextWaiter += 1
            return nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = lock.withLock { () -> Result<[Element], any Error>? in
                    if elements.count >= count { return .success(elements) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    waiters[key] = (count, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            lock.withLock { waiters.removeValue(forKey: key) }?.continuation.resume(throwing: CancellationError())
        }
    }
}
