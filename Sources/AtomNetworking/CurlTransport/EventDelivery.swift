#if os(Linux)
    import Dispatch

    /// Delivers the events of a transport, in order, one at a time.
    ///
    /// An event may run code of the app, such as a log handler. That must not
    /// hold up the thread that all connections of the transport share.
    final class EventDelivery: Sendable {
        struct Item: Sendable {
            let exchange: CurlExchange
            let event: TransportEvent
        }

        private struct State {
            var waiting: [Item] = []
            /// Whether a thread delivers, or has been scheduled to.
            var isDelivering = false
        }

        private let state = Guarded(State())
        /// On the threads that run most tasks: the one that delivers can go on
        /// with the caller that it has resumed.
        private let queue = DispatchQueue(label: "AtomNetworking.CurlTransport", target: .global())

        /// Adds events and empties the list.
        func add(_ items: inout [Item]) {
            guard !items.isEmpty else { return }
            let starts = state.withLock { state in
                if state.waiting.isEmpty {
                    // Both lists keep their memory.
                    swap(&state.waiting, &items)
                } else {
                    state.waiting.append(contentsOf: items)
                }
                defer { state.isDelivering = true }
                return !state.isDelivering
            }
            items.removeAll(keepingCapacity: true)
            if starts { queue.async { self.deliver() } }
        }

        private func deliver() {
            var items: [Item] = []
            while true {
                let isOver = state.withLock { state in
                    swap(&state.waiting, &items)
                    state.isDelivering = !items.isEmpty
                    return items.isEmpty
                }
                if isOver { return }
                for item in items { item.exchange.deliver(item.event) }
                // The memory of a burst isn't kept forever.
                if items.capacity > 1_024 { items = [] } else { items.removeAll(keepingCapacity: true) }
            }
        }
    }
#endif
