/// What observers have not heard yet of one request, in order, and what their last event will say.
///
/// A value under the lock of its ``EventTeller``.
struct NotedEvents: Sendable {
    typealias Event = (kind: RequestEvent.Kind, instant: MonotonicInstant)

    /// The right to tell an event now.
    struct Turn {
        /// When it happened.
        let instant: MonotonicInstant
        /// Whether the attempt that was noted comes before it.
        let isAfterSending: Bool
    }

    /// An attempt that has not been told, and comes before the others: each request has one, without an array.
    private var sending: SentRequest?
    private(set) var sentAt = MonotonicInstant(nanoseconds: .min)
    /// When the last event happened: threads don't take the lock in the order in which they read the clock.
    private var latest = MonotonicInstant(nanoseconds: .min)
    private var others: Others?
    /// Whether a thread is telling events.
    private var isTelling = false
    private var isClosed = false
    /// Whether it has been queued, and not admitted since.
    private(set) var isQueued = false
    private(set) var traffic = RequestTraffic()

    /// In an object, because most requests never have any.
    private final class Others: @unchecked Sendable {
        // Used only under the lock that guards the value, which is never copied.
        var events: [Event] = []
    }

    private var hasOthers: Bool { others?.events.isEmpty == false }
}

// MARK: - Noting

extension NotedEvents {
    mutating func append(_ kind: RequestEvent.Kind, at now: MonotonicInstant) {
        guard !isClosed else { return }
        let others = others ?? Others()
        others.events.append((kind, notBack(now)))
        self.others = others
    }

    private mutating func notBack(_ now: MonotonicInstant) -> MonotonicInstant {
        latest = max(latest, now)
        return latest
    }

    /// The request waits.
    mutating func queued(for reason: RequestEvent.QueueReason, at now: MonotonicInstant) {
        isQueued = true
        append(.queued(reason), at: now)
    }

    /// The request goes on, and perhaps has waited.
    mutating func admitted(at now: MonotonicInstant) -> Bool {
        guard isQueued else { return false }
        isQueued = false
        append(.admitted, at: now)
        return true
    }

    /// The request is handed to the transport.
    mutating func sent(_ request: TransportRequest, at now: MonotonicInstant) {
        traffic.attempts = request.attempt
        let hasWaited = admitted(at: now)
        guard !hasWaited, sending == nil, !hasOthers, !isClosed else {
            return append(.sent(SentRequest(request)), at: now)
        }
        (sending, sentAt) = (SentRequest(request), notBack(now))
    }

    /// Counts bytes of the request's body.
    mutating func countSent(_ count: Int) { traffic.bytesSent.add(count) }

    /// Counts bytes of a response's body.
    mutating func countReceived(_ count: Int) { traffic.bytesReceived.add(count) }

    /// No event comes any more.
    mutating func close() { isClosed = true }
}

extension Int64 {
    /// Adds a count that a transport may have chosen.
    mutating func add(_ count: Int) {
        let (sum, isTooLarge) = addingReportingOverflow(Int64(count))
        self = isTooLarge ? count < 0 ? .min : .max : sum
    }
}

// MARK: - Telling

extension NotedEvents {
    /// The turn to tell an event that isn't noted; `nil` if others come first, or if it comes too late.
    mutating func turn(at now: MonotonicInstant) -> Turn? {
        guard !isTelling, !isClosed, !hasOthers else { return nil }
        isTelling = true
        return Turn(instant: notBack(now), isAfterSending: sending != nil)
    }

    /// Whether this thread tells what has been noted.
    mutating func beginsDelivery() -> Bool {
        guard !isTelling, sending != nil || hasOthers else { return false }
        isTelling = true
        return true
    }

    /// The attempt that was noted, at ``sentAt``.
    mutating func takeSending() -> SentRequest? { sending.take() }

    /// The next event; `nil` ends the turn.
    mutating func next() -> Event? {
        if let request = takeSending() { return Event(kind: .sent(request), instant: sentAt) }
        if let others, !others.events.isEmpty { return others.events.removeFirst() }
        isTelling = false
        return nil
    }
}
