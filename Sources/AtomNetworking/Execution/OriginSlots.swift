import Foundation

/// Something that waits for a place on the wire.
protocol SlotWaiter: AnyObject, Sendable {
    /// The ticket in the lane's queue; read and written by the slots only,
    /// under their lock.
    var slotTicket: Int? { get set }

    /// A slot is this waiter's now, and is given back with `release`. Called
    /// outside every lock, one waiter of an origin after the other.
    func slotGranted()
}

/// How many exchanges with one origin are on the wire, and who waits.
///
/// Waiting here instead of inside URLSession keeps requests in order, unsigned
/// until they start, and their timeouts from running. A slot goes to whoever
/// has waited longest; while anyone waits, newcomers join the end.
final class OriginSlots: @unchecked Sendable {
    fileprivate final class Lane {
        let origin: Origin
        var taken = 0
        var waiting = TicketQueue<any SlotWaiter>()
        /// Whether a thread is handing out slots; everyone else leaves it to
        /// that thread, or two waiters could start in the wrong order.
        var isDraining = false

        init(_ origin: Origin) {
            self.origin = origin
        }
    }

    // `lanes`, what is in them and `recent` are touched under `lock` only; `limit` is constant.
    private let lock = NSLock()
    /// Those in use, without the recent one.
    private var lanes: [Origin: Lane] = [:]
    /// Where somebody came or went last, in use or not: most requests go to
    /// one origin, and comparing two costs less than looking one up.
    private var recent: Lane?
    private let limit: Int?

    /// - Parameter limit: How many slots an origin has; `nil` for no limit.
    init(limit: Int?) {
        self.limit = limit.map { max($0, 1) }
    }

    /// Takes a slot or joins the queue for one; a free slot is granted before
    /// this returns.
    ///
    /// - Returns: Whether the waiter has to wait.
    @discardableResult
    func enter(_ waiter: any SlotWaiter, origin: Origin) -> Bool {
        guard let limit else {
            waiter.slotGranted()
            return false
        }
        let isGranted = lock.withLock { () -> Bool in
            let lane = lane(of: origin)
            if lane.canGrant(limit) {
                lane.taken += 1
                return true
            }
            waiter.slotTicket = lane.waiting.enqueue(waiter)
            return false
        }
        if isGranted { waiter.slotGranted() }
        return !isGranted
    }

    /// Leaves the queue; nothing happens to a waiter that isn't in it.
    func leave(_ waiter: any SlotWaiter, origin: Origin) {
        lock.withLock {
            guard let ticket = waiter.slotTicket else { return }
            waiter.slotTicket = nil
            _ = lane(of: origin).waiting.remove(ticket)
        }
    }

    /// Gives a slot back and grants it to whoever is next.
    func release(origin: Origin) {
        guard let limit else { return }
        let drains = lock.withLock { () -> Bool in
            let lane = lane(of: origin)
            lane.taken = max(lane.taken - 1, 0)
            guard !lane.isDraining, !lane.waiting.isEmpty else { return false }
            lane.isDraining = true
            return true
        }
        if drains { drain(origin, limit) }
    }

    private func drain(_ origin: Origin, _ limit: Int) {
        while let waiter = nextWaiter(origin, limit) {
            waiter.slotGranted()
        }
    }

    private func nextWaiter(_ origin: Origin, _ limit: Int) -> (any SlotWaiter)? {
        lock.withLock {
            let lane = lane(of: origin)
            let waiter = lane.taken < limit ? lane.waiting.dequeue() : nil
            if let waiter {
                waiter.slotTicket = nil
                lane.taken += 1
            } else {
                lane.isDraining = false
            }
            return waiter
        }
    }

    /// The lane of an origin, which is the recent one from now on; called
    /// under the lock.
    private func lane(of origin: Origin) -> Lane {
        if let recent {
            if recent.origin == origin { return recent }
            if !recent.isIdle { lanes[recent.origin] = recent }
        }
        let lane = lanes.removeValue(forKey: origin) ?? Lane(origin)
        recent = lane
        return lane
    }
}

extension OriginSlots {
    /// How many exchanges hold a slot, and how many wait for one.
    var counts: (taken: Int, waiting: Int) {
        lock.withLock {
            let all = Array(lanes.values) + (recent.map { [$0] } ?? [])
            return (all.reduce(0) { $0 + $1.taken }, all.reduce(0) { $0 + $1.waiting.count })
        }
    }
}

extension OriginSlots.Lane {
    fileprivate var isIdle: Bool { taken == 0 && waiting.isEmpty && !isDraining }

    fileprivate func canGrant(_ limit: Int) -> Bool {
        taken < limit && waiting.isEmpty && !isDraining
    }
}
