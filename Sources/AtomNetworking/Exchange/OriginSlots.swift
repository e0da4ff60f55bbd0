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
        var limit: Int
        var taken = 0
        var waiting = TicketQueue<any SlotWaiter>()
        /// Whether a thread is granting slots.
        ///
        /// Other threads leave that to it, else two waiters could start in the
        /// wrong order.
        var isDraining = false

        var isIdle: Bool { taken == 0 && waiting.isEmpty && !isDraining }

        var canGrant: Bool {
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
        var recent: Lane
        /// The limits of origins that differ from the others.
        var learned: [Origin: Int] = [:]
        let limit: Int
        /// One counter for all lanes, because lanes come and go.
        var nextTicket = 0
        /// Whether any request has been sent again.
        var hasRetries = false
    }

    private let lanes: Guarded<Lanes>
    private let isUnlimited: Bool
    private let isFixed: Bool

    /// So many origins with a limit of their own are remembered.
    private static let maximumLearned = 1_000

    /// - Parameters:
    ///   - limit: The number of slots of an origin; `nil` for no limit.
    ///   - isFixed: Whether the limit holds for every origin, whatever the
    ///     transport learns.
    init(limit: Int?, isFixed: Bool = false) {
        isUnlimited = limit == nil
        self.isFixed = isFixed
        let limit = limit.map { max($0, 1) } ?? .max
        lanes = Guarded(
            Lanes(
                recent: Lane(origin: Origin(scheme: .https, host: "", port: 0), limit: limit), limit: limit))
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
        guard !isUnlimited else {
            waiter.slotGranted(of: origin)
            return false
        }
        let isGranted = lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            let isGranted = lanes.recent.canGrant
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
    ///
    /// - Returns: Whether the quotas for retries may be touched. So a success
    ///   need not take their lock to find out.
    @discardableResult
    func release(origin: Origin) -> Bool {
        guard !isUnlimited else { return true }
        let (drains, hasRetries) = lanes.withLock { lanes in
            if lanes.recent.origin != origin { lanes.turn(to: origin) }
            lanes.recent.taken = max(lanes.recent.taken - 1, 0)
            return (lanes.recent.startsDraining(), lanes.hasRetries)
        }
        if drains { drain(origin) }
        return hasRetries
    }

    /// A retry is being paid for.
    func noteRetry() { lanes.withLock { $0.hasRetries = true } }

    /// The transport knows how many exchanges with an origin make sense.
    func learn(_ limit: Int, of origin: Origin) {
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
        if drains { drain(origin) }
    }

    private func drain(_ origin: Origin) {
        while let waiter = nextWaiter(origin) {
            waiter.slotGranted(of: origin)
        }
    }

    private func nextWaiter(_ origin: Origin) -> (any SlotWaiter)? {
        withLane(of: origin) { lane in
            let waiter = lane.taken < lane.limit ? lane.waiting.dequeue() : nil
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
