import Foundation

/// The delegate queue of a session: one callback at a time, in order, with
/// urgent blocks before all waiting ones.
///
/// On Linux the session adds three blocks per request, and an operation for
/// each costs more than the work in it. There the blocks are kept in a list
/// that a serial queue processes.
final class CallbackQueue: OperationQueue, @unchecked Sendable {
    #if canImport(FoundationNetworking)
        typealias Block = @Sendable () -> Void

        private let queue = DispatchQueue(label: "AtomNetworking.URLSessionTransport")

        private struct State {
            var urgent: [Block] = []
            var waiting: [Block] = []
            /// The blocks that are processed next, in reverse order.
            var next: [Block] = []
            /// Whether a thread processes the list, or has been scheduled to.
            var isDraining = false

            /// Removes and returns the next block; `nil` if there is none.
            mutating func take() -> Block? {
                if !urgent.isEmpty { return urgent.removeFirst() }
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
            add { $0.waiting.append(block) }
        }

        override func addOperation(_ operation: Operation) {
            addOperation { operation.start() }
        }

        /// Runs the block before all waiting blocks.
        func addUrgent(_ block: @escaping Block) {
            add { $0.urgent.append(block) }
        }

        private func add(_ append: (inout State) -> Void) {
            let starts = state.withLock { state in
                append(&state)
                defer { state.isDraining = true }
                return !state.isDraining
            }
            if starts { queue.async { self.drain() } }
        }

        private func drain() {
            while let block = state.withLock({ $0.take() }) { block() }
        }
    #else
        override init() {
            super.init()
            maxConcurrentOperationCount = 1
            name = "AtomNetworking.URLSessionTransport"
        }

        /// Runs the block before all waiting blocks.
        func addUrgent(_ block: @escaping @Sendable () -> Void) {
            let operation = BlockOperation(block: block)
            operation.queuePriority = .veryHigh
            addOperation(operation)
        }
    #endif
}
