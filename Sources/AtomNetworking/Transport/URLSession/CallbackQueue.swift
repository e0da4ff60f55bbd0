import Foundation

/// The delegate queue of a session: one callback at a time, in order, with
/// urgent blocks before all waiting ones.
///
/// On Linux the session adds three blocks per request, and an operation for
/// each costs more than the work in it. There the blocks are kept in a list
/// that a serial queue processes. The session's thread waits while the list is
/// long; nothing else there limits how much is read.
final class CallbackQueue: OperationQueue, @unchecked Sendable {
    #if canImport(FoundationNetworking)
        typealias Block = @Sendable () -> Void

        private let queue = DispatchQueue(label: "AtomNetworking.URLSessionTransport")

        /// How many blocks may wait before the session's thread does: with the
        /// parts that libcurl gives, some 2 MB.
        static let limit = 128

        /// How long the session's thread waits for the next block to be taken.
        private let patience: DispatchTimeInterval

        private let thread: LoadingThread

        init(patience: DispatchTimeInterval, thread: LoadingThread) {
            self.patience = patience
            self.thread = thread
            super.init()
        }

        override convenience init() { self.init(patience: .milliseconds(100), thread: .shared) }

        private struct State {
            var urgent: [Block] = []
            var waiting: [Block] = []
            /// The blocks that are processed next, in reverse order.
            var next: [Block] = []
            /// Whether a thread processes the list, or has been scheduled to.
            var isDraining = false
            /// What wakes the session's thread; `nil` unless it waits.
            var room: DispatchSemaphore?
            /// How many blocks have been taken.
            var taken: UInt64 = 0
            /// Whether the session's thread has waited in vain since a block was
            /// taken.
            var isStuck = false

            var length: Int { waiting.count + next.count }

            /// Removes and returns the next block; `nil` if there is none.
            mutating func take() -> Block? {
                if !urgent.isEmpty { return urgent.removeFirst() }
                taken &+= 1
                isStuck = false
                if let room, length <= CallbackQueue.limit / 2 {
                    self.room = nil
                    room.signal()
                }
                if next.isEmpty {
                    swap(&next, &waiting)
                    next.reverse()
                    // The memory of a burst isn't kept forever.
                    if waiting.capacity > 64 { waiting = [] }
                }
                isDraining = !next.isEmpty
                return next.popLast()
            }
        }

        private let state = Guarded(State())

        override func addOperation(_ block: @escaping Block) {
            if addWaiting(block) { waitForRoom() }
        }

        /// Runs the block after all waiting blocks; the caller never waits.
        func addOwn(_ block: @escaping Block) {
            _ = addWaiting(block)
        }

        private func addWaiting(_ block: @escaping Block) -> Bool {
            add {
                $0.waiting.append(block)
                return $0.length > Self.limit
            }
        }

        /// Holds the calling thread until half of the blocks have run.
        ///
        /// It is let go early if no block is taken for some time: a block may
        /// call an app's code that waits for this thread.
        private func waitForRoom() {
            let room = DispatchSemaphore(value: 0)
            while true {
                let (taken, isStuck, isLong) = state.withLock { state in
                    let isLong = state.length > Self.limit / 2
                    if isLong { state.room = room }
                    return (state.taken, state.isStuck, isLong)
                }
                if !isLong { return }
                let isOver = thread.hold(until: room, atMost: isStuck ? .milliseconds(5) : patience)
                let waitsOn = state.withLock { state in
                    let isHeld = isOver && state.room != nil
                    state.room = nil
                    if isHeld, state.taken == taken { state.isStuck = true }
                    return isHeld && !state.isStuck
                }
                if !waitsOn { return }
            }
        }

        override func addOperation(_ operation: Operation) {
            addOperation { operation.start() }
        }

        /// Runs the block before all waiting blocks.
        func addUrgent(_ block: @escaping Block) {
            _ = add {
                $0.urgent.append(block)
                return false
            }
        }

        private func add(_ append: (inout State) -> Bool) -> Bool {
            let (isLong, starts) = state.withLock { state in
                let isLong = append(&state)
                defer { state.isDraining = true }
                return (isLong, !state.isDraining)
            }
            if starts { queue.async { self.drain() } }
            return isLong
        }

        private func drain() {
            while let block = state.withLock({ $0.take() }) { block() }
        }
    #else
        override init() {
            super.init()
            maxConcurrentOperationCount = 1
            name = "AtomNetworking.URLSessionTransport"
            // Else it may run in the background.
            qualityOfService = .userInitiated
        }

        /// Runs the block after all waiting blocks.
        func addOwn(_ block: @escaping @Sendable () -> Void) {
            addOperation(block)
        }

        /// Runs the block before all waiting blocks.
        func addUrgent(_ block: @escaping @Sendable () -> Void) {
            let operation = BlockOperation(block: block)
            operation.queuePriority = .veryHigh
            addOperation(operation)
        }
    #endif
}
