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
    fileprivate struct Lane {
        var taken = 0
        var waiting = TicketQueue<any SlotWaiter>()
        /// Whether a thread is handing out slots; everyone else leaves it to
        /// that thread, or two waiters could start in the wrong order.
        var isDraining = false
    }

    // `lanes` is touched under `lock` only; `limit` is constant.
    private let lock = NSLock()
    private var lanes: [Origin: Lane] = [:]
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
            if lanes[origin, default: Lane()].canGrant(limit) {
                lanes[origin, default: Lane()].taken += 1
                return true
            }
            waiter.slotTicket = lanes[origin, default: Lane()].waiting.enqueue(waiter)
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
            _ = lanes[origin]?.waiting.remove(ticket)
        }
    }

    /// Gives a slot back and grants it to whoever is next.
    func release(origin: Origin) {
        guard let limit else { return }
        let drains = lock.withLock { () -> Bool in
            lanes[origin]?.taken -= 1
            guard let lane = lanes[origin], !lane.isDraining else { return false }
            if lane.waiting.isEmpty {
                if lane.taken == 0 { lanes[origin] = nil }
                return false
            }
            lanes[origin]?.isDraining = true
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
            guard var lane = lanes[origin] else { return nil }
            // One owner while it changes, or the queue inside would be copied.
            lanes[origin] = nil
            let waiter = lane.taken < limit ? lane.waiting.dequeue() : nil
            if let waiter {
                waiter.slotTicket = nil
                lane.taken += 1
            } else {
                lane.isDraining = false
            }
            if lane.taken > 0 || !lane.waiting.isEmpty || lane.isDraining { lanes[origin] = lane }
            return waiter
        }
    }
}

extension OriginSlots {
    /// How many exchanges hold a slot, and how many wait for one.
    var counts: (taken: Int, waiting: Int) {
        lock.withLock {
            (lanes.values.reduce(0) { $0 + $1.taken }, lanes.values.reduce(0) { $0 + $1.waiting.count })
        }
    }
}

extension OriginSlots.Lane {
    fileprivate func canGrant(_ limit: Int) -> Bool {
        taken < limit && waiting.isEmpty && !isDraining
    }
}
