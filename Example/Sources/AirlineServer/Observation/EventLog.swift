import Foundation

/// The latest events, up to a limit.
struct EventLog {
    private let capacity: Int
    private var events: [ServerEvent] = []
    private var recorded = 0

    init(capacity: Int) {
        self.capacity = min(max(capacity, 1), 10_000_000)
    }

    mutating func append(
        _ kind: ServerEvent.Kind,
        at startedAt: TimeInterval,
        until endedAt: TimeInterval? = nil,
        token: Int? = nil,
        detail: String? = nil,
        _ fill: (inout ServerEvent) -> Void = { _ in }
    ) {
        recorded += 1
        var event = ServerEvent(kind: kind, number: recorded, startedAt: startedAt, endedAt: endedAt ?? startedAt)
        event.token = token
        event.detail = detail
        fill(&event)
        events.append(event)
        // The oldest are removed together, so that a full log costs nothing per
        // event.
        if events.count >= capacity * 2 {
            events.removeFirst(events.count - capacity)
        }
    }

    /// The events after a number, oldest first.
    func events(after number: Int) -> [ServerEvent] {
        let kept = events.suffix(capacity)
        guard let first = kept.first, first.number <= number else { return Array(kept) }
        return Array(kept.dropFirst(number - first.number + 1))
    }

    /// Removes all events; the numbering continues.
    mutating func removeAll() {
        events.removeAll()
    }
}
