import Foundation

/// Asks the system not to suspend the process for some time.
///
/// A system that suspends a process while it holds a file lock in a shared
/// container ends it instead (0xdead10cc). So a lock is held only within an
/// activity, and is given back when the activity expires.
struct ExpiringActivity: Sendable {
    /// Begins an activity.
    ///
    /// It calls `onExpiry` at most once, on any thread, perhaps before it
    /// returns. It returns a function that ends the activity, which is called
    /// once.
    let begin: @Sendable (_ onExpiry: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    /// The process is never suspended.
    static let unlimited = ExpiringActivity { _ in {} }

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        static let system = ExpiringActivity { onExpiry in
            let isDone = DispatchSemaphore(value: 0)
            // The system calls the block on a thread of its own: first to run
            // the activity, then, while that still runs, to announce its end.
            ProcessInfo.processInfo.performExpiringActivity(withReason: "The tokens of a session are locked") {
                isExpired in
                if isExpired {
                    onExpiry()
                    isDone.signal()
                } else {
                    isDone.wait()
                }
            }
            return { isDone.signal() }
        }
    #else
        static let system = unlimited
    #endif
}
