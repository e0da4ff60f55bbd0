/// An object with a deadline.
protocol DeadlineBearer: AnyObject, Sendable {
    /// The object's position in the queue's heap; `nil` if it isn't in the
    /// queue. Only the queue reads and writes it, under its lock.
    var deadlinePosition: Int? { get set }

    /// The number of the last change, or 0. Only the queue reads and writes it,
    /// under its lock.
    var deadlineNumber: Int { get set }

    /// Called once for each deadline, on the queue's thread and outside its
    /// lock; the object is no longer in the queue then.
    func deadlinePassed(at now: MonotonicInstant)
}

/// All deadlines of a client in one ordered structure with one alarm.
///
/// It is a binary heap whose members know their positions. Adding a deadline
/// that is later than the others, moving and removing allocate nothing and take
/// a few comparisons. The alarm is set only if the earliest deadline is before
/// it.
final class DeadlineQueue: Sendable {
    private let deadlines: Deadlines

    init(time: any TimeSource) {
        deadlines = Deadlines(time: time)
    }

    deinit {
        deadlines.end()
    }

    /// Sets or moves the bearer's deadline.
    ///
    /// - Parameter number: Above 0, and higher for a later decision: a change
    ///   that comes after one with a higher number is dropped.
    func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer, number: Int) {
        deadlines.set(instant, for: bearer, number: number)
    }

    /// Takes the bearer's deadline away, if it has one.
    ///
    /// - Parameters:
    ///   - number: As with `set`.
    ///   - disarms: Whether the alarm must not go off for nothing. To set it anew
    ///     costs more than that for nearly every deadline.
    func remove(_ bearer: any DeadlineBearer, number: Int, disarms: Bool = false) {
        deadlines.remove(bearer, number: number)
        if disarms { deadlines.disarmIfUnneeded() }
    }

    /// How many deadlines are set.
    var count: Int { deadlines.count }
}

/// The deadlines and their alarm.
///
/// The alarm holds them until the queue's end. With a weak reference instead,
/// every request would pay for it: an object that was ever referred to weakly
/// is slower to retain.
private final class Deadlines: Sendable {
    private struct State {
        var heap = DeadlineHeap()
        /// The time for which the alarm is set.
        var alarmedAt: MonotonicInstant?
        var alarm: (any Alarm)?
        var isOver = false
    }

    private let state = Guarded(State())
    private let time: any TimeSource

    init(time: any TimeSource) {
        self.time = time
    }

    func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer, number: Int) {
        state.withLock { state in
            guard number > bearer.deadlineNumber else { return }
            bearer.deadlineNumber = number
            state.heap.set(instant, for: bearer)
            armIfNeeded(&state)
        }
    }

    func remove(_ bearer: any DeadlineBearer, number: Int) {
        state.withLock { state in
            guard number > bearer.deadlineNumber else { return }
            bearer.deadlineNumber = number
            state.heap.remove(bearer)
        }
    }

    /// Keeps the alarm from going off for nothing.
    func disarmIfUnneeded() {
        let unneeded = state.withLock { state -> (any Alarm)? in
            guard let alarmedAt = state.alarmedAt else { return nil }
            if let earliest = state.heap.earliest, earliest <= alarmedAt { return nil }
            state.alarmedAt = nil
            armIfNeeded(&state)
            return state.alarmedAt == nil ? state.alarm.take() : nil
        }
        unneeded?.invalidate()
    }

    var count: Int { state.withLock { $0.heap.count } }

    /// Nobody sets a deadline any more.
    func end() {
        let alarm = state.withLock { state in
            state.isOver = true
            return state.alarm.take()
        }
        alarm?.invalidate()
    }

    private func ring() {
        let now = time.now
        let due = state.withLock { state in
            state.alarmedAt = nil
            let due = state.heap.removeAll(until: now)
            armIfNeeded(&state)
            return due
        }
        for bearer in due {
            bearer.deadlinePassed(at: now)
        }
    }

    private func armIfNeeded(_ state: inout State) {
        guard !state.isOver, let earliest = state.heap.earliest, state.alarmedAt.map({ earliest < $0 }) ?? true
        else { return }
        let alarm = state.alarm ?? time.makeAlarm { self.ring() }
        state.alarm = alarm
        state.alarmedAt = earliest
        alarm.set(earliest)
    }
}

/// The deadlines, in heap order.
private struct DeadlineHeap {
    private struct Entry {
        var instant: MonotonicInstant
        var bearer: any DeadlineBearer
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }
    var earliest: MonotonicInstant? { heap.first?.instant }

    mutating func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer) {
        let entry = Entry(instant: instant, bearer: bearer)
        if let position = bearer.deadlinePosition {
            place(entry, near: position)
        } else {
            heap.append(entry)
            place(entry, near: heap.count - 1)
        }
    }

    mutating func remove(_ bearer: any DeadlineBearer) {
        guard let position = bearer.deadlinePosition else { return }
        removeEntry(at: position)
    }

    mutating func removeAll(until instant: MonotonicInstant) -> [any DeadlineBearer] {
        var removed: [any DeadlineBearer] = []
        while let first = heap.first, first.instant <= instant {
            removed.append(first.bearer)
            removeEntry(at: 0)
        }
        return removed
    }

    private mutating func removeEntry(at position: Int) {
        heap[position].bearer.deadlinePosition = nil
        let last = heap.removeLast()
        if position < heap.count { place(last, near: position) }
    }

    /// Moves an entry to its place, at, above or below the position.
    ///
    /// It overwrites the entry at the position.
    private mutating func place(_ entry: Entry, near position: Int) {
        var hole = position
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.instant < heap[parent].instant else { break }
            move(from: parent, to: hole)
            hole = parent
        }
        while true {
            var child = 2 * hole + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].instant < heap[child].instant { child += 1 }
            guard heap[child].instant < entry.instant else { break }
            move(from: child, to: hole)
            hole = child
        }
        heap[hole] = entry
        entry.bearer.deadlinePosition = hole
    }

    private mutating func move(from old: Int, to new: Int) {
        let entry = heap[old]
        heap[new] = entry
        entry.bearer.deadlinePosition = new
    }
}
