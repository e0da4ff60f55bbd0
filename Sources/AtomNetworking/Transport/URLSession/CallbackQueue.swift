import Foundation

/// The delegate queue of a session: one callback at a time, in order, with urgent blocks before all waiting ones.
///
/// On Linux nothing else limits how much of a response is read: the session's thread, which the whole process shares,
/// waits while many callbacks do. So functions that wait for that thread are called with ``call(_:)``.
final class CallbackQueue: OperationQueue, @unchecked Sendable {
    // Without it callbacks may run in the background, or wait for threads that the app blocks. Nobody else retains it.
    private let serial = DispatchQueue(label: "AtomNetworking.URLSessionTransport", qos: .userInitiated)

    #if canImport(FoundationNetworking)
        /// How many callbacks may wait before the session's thread does: with the parts that libcurl gives, some 2 MB.
        static let limit = 128

        /// For how many seconds the session's thread waits for a callback to be taken; set before the first one comes.
        var patience = 0.1

        /// Guards the following.
        private let condition = NSCondition()
        private var waiting = 0
        /// How many threads are in `call`.
        private var callers = 0
        /// Whether no callback was taken while the session's thread waited: it
        /// may be code of the app that waits for this thread.
        private var isStuck = false
    #endif

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        underlyingQueue = serial
    }

    /// Runs the block after all waiting blocks, or before them; the caller never waits.
    func add(isUrgent: Bool = false, _ block: @escaping @Sendable () -> Void) {
        let operation = BlockOperation(block: block)
        if isUrgent { operation.queuePriority = .veryHigh }
        addOperation(operation)
    }

    #if canImport(FoundationNetworking)
        /// Called by the session for each callback.
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            condition.withLock {
                let end = Date(timeIntervalSinceNow: isStuck ? min(patience, 0.005) : patience)
                while waiting >= Self.limit, callers == 0 {
                    guard condition.wait(until: end) else {
                        isStuck = true
                        break
                    }
                }
                waiting += 1
            }
            super.addOperation { [self] in
                condition.withLock {
                    waiting -= 1
                    isStuck = false
                    condition.signal()
                }
                block()
            }
        }

        /// Calls functions that wait for the session's thread, which goes on first.
        func call<T>(_ body: () -> T) -> T {
            condition.withLock {
                callers += 1
                condition.signal()
            }
            defer { condition.withLock { callers -= 1 } }
            return body()
        }
    #else
        /// Calls functions of URLSession; none waits on Apple platforms.
        func call<T>(_ body: () -> T) -> T { body() }
    #endif
}
