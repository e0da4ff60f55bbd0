import Foundation

/// Something that wants to hear when its time is up.
protocol DeadlineBearer: AnyObject, Sendable {
    /// Where this stands in the queue's heap; read and written by the queue
    /// only, under its lock. `nil` when it isn't in the queue.
    var deadlinePosition: Int? { get set }

    /// Called on the queue's thread, outside its lock, once per time that is
    /// set; the bearer is no longer in the queue then.
    func deadlinePassed(at now: MonotonicInstant)
}

/// All deadlines of a client in one ordered structure with one alarm.
///
/// A binary heap whose members know their places: adding a deadline that is
/// later than those before it, moving and removing cost no allocation and a
/// few comparisons, and nothing is armed unless the earliest deadline changes
/// to before the alarm. Its keys are nanoseconds, since the clock's own instants
/// are moved and compared by calls into the runtime.
final class DeadlineQueue: @unchecked Sendable {
    // `heap` and `alarmedAt` are touched under `lock` only; the rest is constant after `init`.
    private let lock = NSLock()
    private let time: any TimeSource
    /// What the keys are counted from.
    private let start: MonotonicInstant
    private var heap: [Entry] = []
    /// The key that the alarm is set for.
    private var alarmedAt: Int64?
    private var alarm: (any Alarm)?

    private struct Entry {
        /// Nanoseconds since `start`, rounded up: nobody is told too early.
        var key: Int64
        var bearer: any DeadlineBearer
    }

    init(time: any TimeSource) {
        self.time = time
        start = time.now
    }

    deinit {
        alarm?.invalidate()
    }

    /// Sets or moves the bearer's deadline.
    func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer) {
        let entry = Entry(key: nanoseconds(until: instant, roundedUp: true), bearer: bearer)
        lock.withLock {
            if let position = bearer.deadlinePosition {
                place(entry, near: position)
            } else {
                heap.append(entry)
                place(entry, near: heap.count - 1)
            }
            armIfNeeded()
        }
    }

    /// Takes the bearer's deadline away; nothing happens if it has none.
    func remove(_ bearer: any DeadlineBearer) {
        lock.withLock {
            guard let position = bearer.deadlinePosition else { return }
            removeEntry(at: position)
        }
    }

    /// How many deadlines are set.
    var count: Int { lock.withLock { heap.count } }

    private func ring() {
        let now = time.now
        let due: [any DeadlineBearer] = lock.withLock {
            var due: [any DeadlineBearer] = []
            alarmedAt = nil
            let key = nanoseconds(until: now, roundedUp: false)
            while let first = heap.first, first.key <= key {
                due.append(first.bearer)
                removeEntry(at: 0)
            }
            armIfNeeded()
            return due
        }
        for bearer in due {
            bearer.deadlinePassed(at: now)
        }
    }

    private func armIfNeeded() {
        guard let earliest = heap.first?.key, alarmedAt.map({ earliest < $0 }) ?? true else { return }
        let alarm =
            self.alarm
            ?? {
                let alarm = time.makeAlarm { [weak self] in self?.ring() }
                self.alarm = alarm
                return alarm
            }()
        alarmedAt = earliest
        alarm.set(start.advanced(by: .nanoseconds(earliest)))
    }

    private func removeEntry(at position: Int) {
        heap[position].bearer.deadlinePosition = nil
        let last = heap.removeLast()
        if position < heap.count { place(last, near: position) }
    }

    /// Puts an entry where it belongs: at the position, above or below it.
    ///
    /// What is there is overwritten.
    private func place(_ entry: Entry, near position: Int) {
        var hole = position
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.key < heap[parent].key else { break }
            move(from: parent, to: hole)
            hole = parent
        }
        while true {
            var child = 2 * hole + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].key < heap[child].key { child += 1 }
            guard heap[child].key < entry.key else { break }
            move(from: child, to: hole)
            hole = child
        }
        heap[hole] = entry
        entry.bearer.deadlinePosition = hole
    }

    private func move(from old: Int, to new: Int) {
        let entry = heap[old]
        heap[new] = entry
        entry.bearer.deadlinePosition = new
    }

    /// What doesn't fit, which is centuries away, is the last or first there is.
    private func nanoseconds(until instant: MonotonicInstant, roundedUp: Bool) -> Int64 {
        let (seconds, attoseconds) = start.duration(to: instant).components
        guard (-9_000_000_000...9_000_000_000).contains(seconds) else { return seconds < 0 ? .min : .max }
        // The division cuts towards zero.
        let remainder = attoseconds % 1_000_000_000
        let correction: Int64 = roundedUp ? (remainder > 0 ? 1 : 0) : (remainder < 0 ? -1 : 0)
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + correction
    }
}
