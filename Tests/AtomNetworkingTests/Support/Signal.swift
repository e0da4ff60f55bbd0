import Foundation
import Testing

/// An event that happens once and can be awaited.
final class Signal: @unchecked Sendable {
    // Accessed only under `lock`.
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

    /// Waits for the event.
    ///
    /// After the limit the test fails and continues.
    ///
    /// A cancelled task continues to wait, because a test may have cancelled it
    /// on purpose.
    ///
    /// - Parameter seconds: The limit; `nil` for a double that may wait longer
    ///   than its test.
    func wait(seconds: Double? = 240, sourceLocation: SourceLocation = #_sourceLocation) async {
        let hasHappened = await Limited.awaiting("a signal", at: sourceLocation) {
            await withCheckedContinuation { continuation in
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
        }
        if !hasHappened {
            Issue.record(
                "The signal at \(sourceLocation) was not set within \(seconds ?? 0) s", sourceLocation: sourceLocation)
        }
    }
}
