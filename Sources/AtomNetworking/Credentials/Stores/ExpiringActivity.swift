import Foundation

/// Asks the system not to suspend the process for some time.
///
/// A process that is suspended while it holds a file lock in a shared container is
/// ended (0xdead10cc). So the lock is given back when the activity expires.
struct ExpiringActivity: Sendable {
    /// Begins an activity, which calls `onExpiry` at most once, on any thread, perhaps
    /// before this returns; what it returns ends it, and is called once.
    let begin: @Sendable (_ onExpiry: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        static let system = ExpiringActivity { onExpiry in
            let isDone = DispatchSemaphore(value: 0)
            // The system calls the block on a thread of its own: first to run
            // the activity, then, while that still runs, to announce its end.
            ProcessInfo.processInfo.performExpiringActivity(withReason: "The tokens of a session are in use") {
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
        /// The process is never suspended.
        static let system = ExpiringActivity { _ in {} }
    #endif
}
