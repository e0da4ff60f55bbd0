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
/// to before the alarm.
final class DeadlineQueue: @unchecked Sendable {
    // `heap` and `alarmedAt` are touched under `lock` only; the rest is constant after `init`.
    private let lock = NSLock()
    private let time: any TimeSource
    private var heap: [(instant: MonotonicInstant, bearer: any DeadlineBearer)] = []
    private var alarmedAt: MonotonicInstant?
    private var alarm: (any Alarm)?

    init(time: any TimeSource) {
        self.time = time
    }

    deinit {
        alarm?.invalidate()
    }

    /// Sets or moves the bearer's deadline.
    func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer) {
        lock.withLock {
            if let position = bearer.deadlinePosition {
                heap[position].instant = instant
                siftDown(from: siftUp(from: position))
            } else {
                heap.append((instant, bearer))
                bearer.deadlinePosition = heap.count - 1
                siftUp(from: heap.count - 1)
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
            while let first = heap.first, first.instant <= now {
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
        guard let earliest = heap.first?.instant, alarmedAt.map({ earliest < $0 }) ?? true else { return }
        let alarm =
            self.alarm
            ?? {
                let alarm = time.makeAlarm { [weak self] in self?.ring() }
                self.alarm = alarm
                return alarm
            }()
        alarmedAt = earliest
        alarm.set(earliest)
    }

    private func removeEntry(at position: Int) {
        let last = heap.count - 1
        heap[position].bearer.deadlinePosition = nil
        if position != last {
            heap[position] = heap[last]
            heap[position].bearer.deadlinePosition = position
        }
        heap.removeLast()
        if position < heap.count {
            siftDown(from: siftUp(from: position))
        }
    }

    @discardableResult
    private func siftUp(from start: Int) -> Int {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard heap[position].instant < heap[parent].instant else { break }
            swap(position, parent)
            position = parent
        }
        return position
    }

    private func siftDown(from start: Int) {
        var position = start
        while true {
            var earliest = position
            for child in [2 * position + 1, 2 * position + 2]
            where child < heap.count && heap[child].instant < heap[earliest].instant {
                earliest = child
            }
            guard earliest != position else { return }
            swap(position, earliest)
            position = earliest
        }
    }

    private func swap(_ first: Int, _ second: Int) {
        heap.swapAt(first, second)
        heap[first].bearer.deadlinePosition = first
        heap[second].bearer.deadlinePosition = second
    }
}
