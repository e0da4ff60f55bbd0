/// What happens next, each a number of times, in the order in which a test orders it.
struct Ordered<Event: Sendable>: Sendable {
    private var events: [(event: Event, count: Int)] = []

    /// - Parameter count: How often; nothing is added if it isn't positive.
    mutating func add(_ event: Event, _ count: Int) {
        if count > 0 { events.append((event, count)) }
    }

    /// The next one; `nil` if there is none.
    mutating func next() -> Event? {
        guard let first = events.first else { return nil }
        if first.count > 1 {
            events[0].count -= 1
        } else {
            events.removeFirst()
        }
        return first.event
    }
}
