import Dispatch

/// A request that waits for a slot.
protocol SlotWaiter: AnyObject, Sendable {
    /// The waiter has a slot of the origin now, and gives it back with `release`. It is called outside every lock, for
    /// one waiter of an origin after the other.
    func slotGranted(of origin: Origin, place: Int)
}

/// Limits how many exchanges with one origin are on the wire.
///
/// Requests wait here instead of inside URLSession. So they stay in order, are signed when they start, and their idle
/// time doesn't run while they wait. The request that has waited longest gets the next slot. A new request joins the
/// end while others wait.
final class OriginSlots: Sendable {
    fileprivate struct Lane {
        let origin: Origin
        var limit: Int
        var taken = 0
        var waiting = TicketQueue<Waiting>()
        /// Whether a thread is granting slots: two could start waiters in the wrong order.
        var isDraining = false

        var isIdle: Bool { taken == 0 && waiting.isEmpty && !isDraining }

        var canGrant: Bool { taken < limit && waiting.isEmpty && !isDraining }
    }

    fileprivate struct Waiting {
        let waiter: any SlotWaiter
        let place: Int
    }

    fileprivate struct Lanes {
        /// The lanes in use, without the recent one.
        var others: [Origin: Lane] = [:]
        /// The lane that was used last, at first nobody's: to compare its origin costs less than a lookup.
        var recent: Lane
        /// The limits of origins that differ from the others.
        var learned: [Origin: Int] = [:]
        let limit: Int
        /// One counter for all lanes, because lanes come and go.
        var nextPlace = 0
    }

    private let lanes: Guarded<Lanes>
    private let isUnlimited: Bool
    private let isFixed: Bool

    /// So many origins with a limit of their own are remembered.
    private static let maximumLearned = 1_000

    /// - Parameter isFixed: Whether the limit holds whatever the transport learns.
    init(limit: Int?, isFixed: Bool = false) {
        isUnlimited = limit == nil
        self.isFixed = isFixed
        let limit = limit.map { max($0, 1) } ?? .max
        lanes = Guarded(
            Lanes(recent: Lane(origin: Origin(scheme: .https, host: "", port: 0), limit: limit), limit: limit))
    }

    /// Takes a slot, or joins the lane, and is told later: at the end, or at the place where it got a slot that
    /// it could not use.
    func enter(_ waiter: any SlotWaiter, origin: Origin, place: Int? = nil) -> (place: Int, isGranted: Bool) {
        guard !isUnlimited else { return (0, true) }
        return lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            let isGranted = lanes.recent.canGrant
            let place = place ?? lanes.nextPlace
            lanes.nextPlace = max(lanes.nextPlace, place + 1)
            if isGranted {
                lanes.recent.taken += 1
            } else {
                lanes.recent.waiting.enqueue(Waiting(waiter: waiter, place: place), ticket: place)
            }
            return (place, isGranted)
        }
    }

    /// Takes a slot if there is a free one, and returns the place in the lane.
    func take(origin: Origin) -> Int? {
        guard !isUnlimited else { return 0 }
        return lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            guard lanes.recent.canGrant else { return nil }
            lanes.recent.taken += 1
            defer { lanes.nextPlace += 1 }
            return lanes.nextPlace
        }
    }

    /// Leaves the lane, if the waiter with this place is still in it.
    func leave(place: Int, origin: Origin) {
        // Released outside the lock.
        _ = withLane(of: origin) { $0.waiting.remove(place)?.waiter }
    }

    /// Gives a slot back, and grants it to the next waiter.
    ///
    /// - Parameter elsewhere: Whether the waiter gets it on another thread, as it may run code of the app.
    func release(origin: Origin, elsewhere: Bool = false) {
        guard !isUnlimited else { return }
        let drains = withLane(of: origin) { lane in
            lane.taken = max(lane.taken - 1, 0)
            return lane.startsDraining()
        }
        if drains { drain(origin, elsewhere) }
    }

    /// Whether somebody waits for a slot.
    func isWaitedFor(at origin: Origin) -> Bool { withLane(of: origin) { !$0.waiting.isEmpty } }

    /// The transport knows how many exchanges with an origin make sense.
    func learn(_ limit: Int, of origin: Origin, elsewhere: Bool = false) {
        guard !isUnlimited, !isFixed else { return }
        let limit = max(limit, 1)
        let drains = lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            guard lanes.recent.limit != limit else { return false }
            lanes.recent.limit = limit
            if lanes.learned.count >= Self.maximumLearned { lanes.learned = [:] }
            lanes.learned[origin] = limit == lanes.limit ? nil : limit
            return lanes.recent.startsDraining()
        }
        if drains { drain(origin, elsewhere) }
    }

    private func drain(_ origin: Origin, _ elsewhere: Bool) {
        // Without a target, the queue gets a thread also when the app blocks all of GCD's; each origin has its own.
        guard !elsewhere else {
            return DispatchQueue(label: "AtomNetworking.OriginSlots").async { self.drain(origin, false) }
        }
        while let next = nextWaiter(origin) { next.waiter.slotGranted(of: origin, place: next.place) }
    }

    private func nextWaiter(_ origin: Origin) -> Waiting? {
        withLane(of: origin) { lane in
            let next = lane.taken < lane.limit ? lane.waiting.dequeue() : nil
            if next != nil { lane.taken += 1 } else { lane.isDraining = false }
            return next
        }
    }

    /// Runs the body under the lock, with the lane of an origin, which is the recent one then.
    private func withLane<T: Sendable>(of origin: Origin, _ body: (inout Lane) -> T) -> T {
        lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            return body(&lanes.recent)
        }
    }
}

extension OriginSlots.Lanes {
    /// Makes an origin's lane the recent one.
    fileprivate mutating func turn(to origin: Origin) {
        if !recent.isIdle { others[recent.origin] = recent }
        recent =
            others.removeValue(forKey: origin) ?? OriginSlots.Lane(origin: origin, limit: learned[origin] ?? limit)
    }
}

extension OriginSlots.Lane {
    /// Decides whether the caller grants slots to waiters.
    fileprivate mutating func startsDraining() -> Bool {
        guard !isDraining, !waiting.isEmpty else { return false }
        isDraining = true
        return true
    }
}

extension OriginSlots {
    /// The numbers of exchanges that have a slot, and that wait for one.
    var counts: (taken: Int, waiting: Int) {
        lanes.withLock { lanes in
            let all = lanes.others.values + [lanes.recent]
            return (all.reduce(0) { $0 + $1.taken }, all.reduce(0) { $0 + $1.waiting.count })
        }
    }

    /// The number of lanes besides the recent one.
    var laneCount: Int { lanes.withLock { $0.others.count } }
}
