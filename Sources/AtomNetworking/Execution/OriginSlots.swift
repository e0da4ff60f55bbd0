/// Something that waits for a place on the wire.
protocol SlotWaiter: AnyObject, Sendable {
    /// Its place in the lane; read and written by the slots only, under their
    /// lock.
    var slotPlace: SlotPlace? { get set }

    /// A slot of the origin is this waiter's now, and is given back with
    /// `release`. Called outside every lock, one waiter of an origin after the
    /// other.
    func slotGranted(of origin: Origin)
}

/// Where a waiter stands in a lane, or stood when it was granted a slot.
struct SlotPlace {
    var ticket: Int
    var isWaiting: Bool
}

/// How many exchanges with one origin are on the wire, and who waits.
///
/// Waiting here instead of inside URLSession keeps requests in order, unsigned
/// until they start, and their timeouts from running. A slot goes to whoever
/// has waited longest; while anyone waits, newcomers join the end.
final class OriginSlots: Sendable {
    fileprivate struct Lane {
        let origin: Origin
        var taken = 0
        var waiting = TicketQueue<any SlotWaiter>()
        /// Whether a thread is handing out slots; everyone else leaves it to
        /// that thread, or two waiters could start in the wrong order.
        var isDraining = false

        var isIdle: Bool { taken == 0 && waiting.isEmpty && !isDraining }

        func canGrant(_ limit: Int) -> Bool {
            taken < limit && waiting.isEmpty && !isDraining
        }
    }

    fileprivate struct Lanes {
        /// Those in use, without the recent one.
        var others: [Origin: Lane] = [:]
        /// Where somebody came or went last, in use or not; at first nowhere.
        ///
        /// Most requests go to one origin, and comparing two costs less than
        /// looking one up.
        var recent = Lane(origin: Origin(scheme: .https, host: "", port: 0))
        /// One count for all lanes, which come and go.
        var nextTicket = 0
    }

    private let lanes = Guarded(Lanes())
    private let limit: Int?

    /// - Parameter limit: How many slots an origin has; `nil` for no limit.
    init(limit: Int?) {
        self.limit = limit.map { max($0, 1) }
    }

    /// Takes a slot or joins the queue for one; a free slot is granted before
    /// this returns.
    ///
    /// - Parameter isBack: Whether the waiter gives up a slot that it was
    ///   granted and could not use: it keeps its place before those who came
    ///   after it.
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

    /// Leaves the queue; nothing happens to a waiter that isn't in it.
    func leave(_ waiter: any SlotWaiter, origin: Origin) {
        withLane(of: origin) { lane in
            guard let place = waiter.slotPlace, place.isWaiting else { return }
            waiter.slotPlace = nil
            _ = lane.waiting.remove(place.ticket)
        }
    }

    /// Gives a slot back and grants it to whoever is next.
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

    /// Runs the body under the lock with the lane of an origin, which is the
    /// recent one from now on.
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
    /// How many exchanges hold a slot, and how many wait for one.
    var counts: (taken: Int, waiting: Int) {
        lanes.withLock { lanes in
            let all = lanes.others.values + [lanes.recent]
            return (all.reduce(0) { $0 + $1.taken }, all.reduce(0) { $0 + $1.waiting.count })
        }
    }

    /// How many lanes are kept beside the recent one.
    var laneCount: Int { lanes.withLock { $0.others.count } }
}
