/// A request that waits for a slot.
protocol SlotWaiter: AnyObject, Sendable {
    /// Its place in the lane. Only the slots read and write it, under their lock.
    var slotPlace: SlotPlace? { get set }

    /// The waiter has a slot of the origin now, and gives it back with
    /// `release`. It is called outside every lock, for one waiter of an origin
    /// after the other.
    func slotGranted(of origin: Origin)
}

/// The place of a waiter in a lane, also after it got a slot.
struct SlotPlace {
    var ticket: Int
    var isWaiting: Bool
}

/// Limits how many exchanges with one origin are on the wire.
///
/// Requests wait here instead of inside URLSession. So they stay in order, are
/// signed when they start, and their idle time doesn't run while they wait. The
/// request that has waited longest gets the next slot. A new request joins the
/// end while others wait.
final class OriginSlots: Sendable {
    fileprivate struct Lane {
        let origin: Origin
        var taken = 0
        var waiting = TicketQueue<any SlotWaiter>()
        /// Whether a thread is granting slots.
        ///
        /// Other threads leave that to it, else two waiters could start in the
        /// wrong order.
        var isDraining = false

        var isIdle: Bool { taken == 0 && waiting.isEmpty && !isDraining }

        func canGrant(_ limit: Int) -> Bool {
            taken < limit && waiting.isEmpty && !isDraining
        }
    }

    fileprivate struct Lanes {
        /// The lanes in use, without the recent one.
        var others: [Origin: Lane] = [:]
        /// The lane that was used last; at first one that no request uses.
        ///
        /// Most requests go to one origin, and a comparison costs less than a
        /// lookup.
        var recent = Lane(origin: Origin(scheme: .https, host: "", port: 0))
        /// One counter for all lanes, because lanes come and go.
        var nextTicket = 0
    }

    private let lanes = Guarded(Lanes())
    private let limit: Int?

    /// - Parameter limit: The number of slots of an origin; `nil` for no limit.
    init(limit: Int?) {
        self.limit = limit.map { max($0, 1) }
    }

    /// Takes a slot, or joins the lane.
    ///
    /// A free slot is granted before this returns.
    ///
    /// - Parameter isBack: Whether the waiter got a slot before and could not use
    ///   it. Then it keeps its place in the lane.
    /// - Returns: Whether the waiter has to wait.
    @discardableResult
    func enter(_ waiter: any SlotWaiter, origin: Origin, isBack: Bool = false) -> Bool {
        guard let limit else {
            waiter.slotGranted(of: origin)
            return false
        }
        let isGranted = lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            let isGranted = lanes.recent.canGrant(limit)
            var ticket = lanes.nextTicket
            if isBack, let place = waiter.slotPlace { ticket = place.ticket } else { lanes.nextTicket += 1 }
            waiter.slotPlace = SlotPlace(ticket: ticket, isWaiting: !isGranted)
            if isGranted {
                lanes.recent.taken += 1
            } else {
                lanes.recent.waiting.enqueue(waiter, ticket: ticket)
            }
            return isGranted
        }
        if isGranted { waiter.slotGranted(of: origin) }
        return !isGranted
    }

    /// Leaves the lane, if the waiter is in it.
    func leave(_ waiter: any SlotWaiter, origin: Origin) {
        withLane(of: origin) { lane in
            guard let place = waiter.slotPlace, place.isWaiting else { return }
            waiter.slotPlace = nil
            _ = lane.waiting.remove(place.ticket)
        }
    }

    /// Gives a slot back, and grants it to the next waiter.
    func release(origin: Origin) {
        guard let limit else { return }
        let drains = withLane(of: origin) { lane in
            lane.taken = max(lane.taken - 1, 0)
            guard !lane.isDraining, !lane.waiting.isEmpty else { return false }
            lane.isDraining = true
            return true
        }
        if drains { drain(origin, limit) }
    }

    private func drain(_ origin: Origin, _ limit: Int) {
        while let waiter = nextWaiter(origin, limit) {
            waiter.slotGranted(of: origin)
        }
    }

    private func nextWaiter(_ origin: Origin, _ limit: Int) -> (any SlotWaiter)? {
        withLane(of: origin) { lane in
            let waiter = lane.taken < limit ? lane.waiting.dequeue() : nil
            if let waiter {
                waiter.slotPlace?.isWaiting = false
                lane.taken += 1
            } else {
                lane.isDraining = false
            }
            return waiter
        }
    }

    /// Runs the body under the lock, with the lane of an origin.
    ///
    /// That lane is the recent one afterwards.
    @inline(__always)
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
        recent = others.removeValue(forKey: origin) ?? OriginSlots.Lane(origin: origin)
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
