import Foundation

#if canImport(FoundationNetworking)
    /// Starts exchanges in the order in which they were requested.
    ///
    /// On Linux a task is created and resumed on the one queue that all
    /// sessions of a process share, and the calling thread waits for that queue
    /// twice. While that queue is idle, the caller's own thread is fastest.
    /// Otherwise this queue waits instead, so that neither a thread of Swift's
    /// small pool nor the thread that delivers responses has to wait.
    enum StartQueue {
        private static let queue = DispatchQueue(label: "AtomNetworking.URLSessionTransport.start")

        /// Runs the block after all blocks that were added before.
        static func add(_ block: @escaping @Sendable () -> Void) {
            queue.async(execute: block)
        }
    }
#endif
