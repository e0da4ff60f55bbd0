/// The time of an exchange: when it is over, and when the server has been silent for too long.
struct ExchangeClock: Sendable {
    let timeouts: RequestTimeouts
    /// When the time is over for an exchange that doesn't stream.
    let limit: MonotonicInstant
    /// When its time is over; `nil` if it has no end any more.
    var end: MonotonicInstant?
    /// The time of the last byte sent or received.
    var lastActivity = MonotonicInstant(nanoseconds: 0)
    /// The number of the last change of the deadline; 0 for none.
    private(set) var lastChange = 0

    init(_ timeouts: RequestTimeouts, until limit: MonotonicInstant) {
        (self.timeouts, self.limit, end) = (timeouts, limit, limit)
    }

    func isOver(at now: MonotonicInstant) -> Bool { end.map { now >= $0 } ?? false }

    /// When the server has been silent for too long.
    var silenceEnd: MonotonicInstant { lastActivity.advanced(byNanoseconds: timeouts.idleNanoseconds) }

    /// The time begins anew.
    mutating func restart(at now: MonotonicInstant) { end = now.advanced(byNanoseconds: timeouts.totalNanoseconds) }

    /// Sets the deadline: the end of the time, or this if it comes first.
    mutating func arm(_ other: MonotonicInstant?) -> ExchangeMachine.Command {
        guard let next = end.map({ end in other.map { min(end, $0) } ?? end }) ?? other else { return disarm() }
        return set(next)
    }

    mutating func set(_ deadline: MonotonicInstant) -> ExchangeMachine.Command {
        lastChange += 1
        return .setDeadline(deadline, number: lastChange)
    }

    mutating func disarm() -> ExchangeMachine.Command {
        guard lastChange > 0 else { return .nothing }
        lastChange += 1
        return .removeDeadline(number: lastChange)
    }
}
