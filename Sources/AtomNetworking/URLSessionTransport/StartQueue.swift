import Foundation

#if canImport(FoundationNetworking)
    /// Starts exchanges in the order in which they were asked for.
    ///
    /// On Linux a task is made and resumed on the one queue that the sessions of
    /// a process share, and whoever asks waits for it, twice. While that queue
    /// has nothing else to do, the caller's own thread is the shortest way. Else
    /// this waits in its stead: a thread of Swift's small pool has better things
    /// to do, and so has the one that brings the answers.
    enum StartQueue {
        private static let queue = DispatchQueue(label: "AtomNetworking.URLSessionTransport.start")

        /// Runs the block after all that were added before.
        static func add(_ block: @escaping @Sendable () -> Void) {
            queue.async(execute: block)
        }
    }
#endif
