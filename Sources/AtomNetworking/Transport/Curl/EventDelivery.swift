#if os(Linux)
    import Dispatch

    /// Delivers the events of a transport: those of one exchange in order.
    ///
    /// An event may run code of the app or write to a slow disk, which must hold up
    /// neither the connections nor other exchanges. One thread delivers everything as
    /// long as it gets on; whenever it is stuck, another one goes on with the rest.
    final class EventDelivery: Sendable {
        struct Item: Sendable {
            let exchange: CurlExchange
            /// `nil` if the receiver wants the rest of what it has held back.
            let event: TransportEvent?
        }

        private struct State {
            /// What has been delivered is let go of there, and not under the lock.
            var waiting: [Item?] = []
            /// How many of them have been delivered.
            var first = 0
            /// Whose events are being delivered, one for each thread.
            var busy: [CurlExchange] = []
            /// How many threads deliver, or have been asked to.
            var threads = 0
            /// How many events have been taken.
            var taken = 0
            /// The same when it was looked at, and since when it has not changed.
            var noted = (taken: 0, since: UInt64(0))

            var isEmpty: Bool { first == waiting.count }

            /// Whether events wait that nobody's own delivery holds up.
            var isBehind: Bool {
                waiting[first...].contains { item in !busy.contains { $0 === item?.exchange } }
            }

            /// The next event whose exchange isn't busy.
            mutating func next() -> Item? {
                guard !isEmpty else { return nil }
                if busy.isEmpty {
                    defer { move(to: first + 1) }
                    return waiting[first].take()
                }
                for index in first..<waiting.count where !busy.contains(where: { $0 === waiting[index]?.exchange }) {
                    defer { move(to: first) }
                    return waiting.remove(at: index)
                }
                return nil
            }

            private mutating func move(to next: Int) {
                first = next
                if isEmpty {
                    // The memory of a burst isn't kept forever.
                    if waiting.capacity > 1_024 { waiting = [] } else { waiting.removeAll(keepingCapacity: true) }
                    first = 0
                } else if first >= 64, first >= waiting.count / 2 {
                    waiting.removeFirst(first)
                    first = 0
                }
            }

            /// Whether nothing has been taken for a while.
            mutating func isStuck() -> Bool {
                let now = DispatchTime.now().uptimeNanoseconds
                let isStuck = taken == noted.taken && noted.since > 0 && now - noted.since >= EventDelivery.patience
                if isStuck || taken != noted.taken || noted.since == 0 { noted = (taken, now) }
                return isStuck
            }
        }

        /// How long, in nanoseconds, one event may hold up the others.
        static let patience: UInt64 = 5_000_000

        private let state = Guarded(State())
        /// Without a target, it gets a thread also when the app blocks all of GCD's.
        private let queue = DispatchQueue(label: "AtomNetworking.CurlTransport")

        /// Adds events and empties the list.
        ///
        /// - Parameter isLate: Whether the caller won't ask again.
        /// - Returns: Whether events wait, so that it is to be called again soon.
        func add(_ items: inout [Item], isLate: Bool = false) -> Bool {
            let (starts, helps, isBehind) = state.withLock { state in
                let wasEmpty = state.isEmpty
                for item in items { state.waiting.append(item) }
                // Whoever delivers the last event of an exchange lets go of it.
                items.removeAll(keepingCapacity: true)
                if wasEmpty { state.noted.since = 0 }
                let starts = !state.isEmpty && state.threads == 0
                let isBehind = state.isBehind
                let helps = !starts && isBehind && (isLate || state.isStuck())
                if starts || helps { state.threads += 1 }
                return (starts, helps, isBehind)
            }
            if starts { queue.async { self.deliver() } }
            // The first one is stuck there.
            if helps { DispatchQueue(label: "AtomNetworking.CurlTransport").async { self.deliver() } }
            return isBehind
        }

        /// Whether an event of this exchange waits, or is being delivered.
        func holds(_ exchange: CurlExchange) -> Bool {
            state.withLock { state in
                state.busy.contains { $0 === exchange }
                    || state.waiting[state.first...].contains { $0?.exchange === exchange }
            }
        }

        private func deliver() {
            var last: CurlExchange?
            while true {
                let item = state.withLock { state in
                    if let last { state.busy.removeAll { $0 === last } }
                    let item = state.next()
                    if let item {
                        state.taken &+= 1
                        state.busy.append(item.exchange)
                    } else {
                        state.threads -= 1
                    }
                    return item
                }
                guard let item else { return }
                item.exchange.deliver(item.event)
                last = item.exchange
            }
        }
    }
#endif
