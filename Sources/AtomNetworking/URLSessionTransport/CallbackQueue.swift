import Foundation

/// Where a session calls its delegate: one callback at a time, in order, but
/// what is urgent before all that waits.
///
/// On Linux the session hands over three blocks a request, and an operation
/// for each costs more than what is done in it. There they are kept in a list
/// that a serial queue works off.
final class CallbackQueue: OperationQueue, @unchecked Sendable {
    #if canImport(FoundationNetworking)
        typealias Block = @Sendable () -> Void

        private let queue = DispatchQueue(label: "AtomNetworking.URLSessionTransport")

        private struct State {
            var urgent: [Block] = []
            var waiting: [Block] = []
            /// What was waiting when there was nothing left in here, last first.
            var next: [Block] = []
            /// Whether a thread works the list off, or has been asked to.
            var isDraining = false

            /// What is to run now; none when there is nothing left.
            mutating func take() -> Block? {
                if !urgent.isEmpty { return urgent.removeFirst() }
                if next.isEmpty {
                    swap(&next, &waiting)
                    next.reverse()
                    // A burst's memory isn't kept for ever.
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

        /// Runs the block as soon as no other runs.
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

        /// Runs the block as soon as no other runs.
        func addUrgent(_ block: @escaping @Sendable () -> Void) {
            let operation = BlockOperation(block: block)
            operation.queuePriority = .veryHigh
            addOperation(operation)
        }
    #endif
}
