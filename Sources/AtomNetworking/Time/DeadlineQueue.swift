protocol DeadlineBearer: AnyObject, Sendable {
    /// Only the queue uses it, under its lock.
    var deadlinePlace: DeadlinePlace { get set }

    /// Called once for each deadline, outside the queue's lock, when the object is no longer in it.
    func deadlinePassed(at now: MonotonicInstant)
}

struct DeadlinePlace {
    /// The position in the queue's heap, if it is in it.
    fileprivate(set) var position: Int?
    /// The number of the last change, or 0.
    fileprivate(set) var number = 0
}

/// All deadlines of a client in one ordered structure with one alarm.
///
/// It is a binary heap whose members know their positions. The alarm is set only if the earliest deadline is before it.
final class DeadlineQueue: Sendable {
    // The alarm refers to the deadlines and not to the queue, which ends the alarm.
    private let deadlines = Guarded(Deadlines())
    private let time: any TimeSource

    init(time: any TimeSource) { self.time = time }

    deinit {
        let (alarm, heap) = deadlines.withLock { deadlines in
            defer { deadlines.heap = [] }
            return (deadlines.alarm.take(), deadlines.heap)
        }
        alarm?.invalidate()
        withExtendedLifetime(heap) {}
    }

    var count: Int { deadlines.withLock { $0.heap.count } }

    /// Sets or moves the bearer's deadline, if the number is higher than the one before.
    func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer, number: Int) {
        deadlines.withLock { deadlines in
            guard number > bearer.deadlinePlace.number else { return }
            bearer.deadlinePlace.number = number
            deadlines.set(instant, for: bearer)
            Self.armIfNeeded(&deadlines, self.deadlines, time)
        }
    }

    /// Takes the bearer's deadline away, if it has one.
    ///
    /// `disarms` if the alarm must not go off for nothing: nearly always it costs more to set it anew.
    func remove(_ bearer: any DeadlineBearer, number: Int, disarms: Bool = false) {
        let unneeded = deadlines.withLock { deadlines -> (any Alarm)? in
            if number > bearer.deadlinePlace.number {
                bearer.deadlinePlace.number = number
                if let position = bearer.deadlinePlace.position { deadlines.remove(at: position) }
            }
            guard disarms, let alarmedAt = deadlines.alarmedAt else { return nil }
            if let earliest = deadlines.heap.first, earliest.instant <= alarmedAt { return nil }
            deadlines.alarmedAt = nil
            Self.armIfNeeded(&deadlines, self.deadlines, time)
            return deadlines.alarmedAt == nil ? deadlines.alarm.take() : nil
        }
        unneeded?.invalidate()
    }

    private static func ring(_ guarded: Guarded<Deadlines>, _ time: any TimeSource) {
        let now = time.now
        let due = guarded.withLock { deadlines in
            deadlines.alarmedAt = nil
            let due = deadlines.removeFirst(until: now)
            // Also if another one is due: observers that wait hold up one request.
            armIfNeeded(&deadlines, guarded, time)
            return due
        }
        due?.deadlinePassed(at: now)
    }

    private static func armIfNeeded(
        _ deadlines: inout Deadlines, _ guarded: Guarded<Deadlines>, _ time: any TimeSource
    ) {
        guard let earliest = deadlines.heap.first?.instant, deadlines.alarmedAt.map({ earliest < $0 }) ?? true
        else { return }
        let alarm = deadlines.alarm ?? time.makeAlarm { ring(guarded, time) }
        deadlines.alarm = alarm
        deadlines.alarmedAt = earliest
        alarm.set(earliest)
    }
}

private struct Deadlines {
    struct Entry {
        var instant: MonotonicInstant
        var bearer: any DeadlineBearer
    }

    var heap: [Entry] = []
    /// The time for which the alarm is set.
    var alarmedAt: MonotonicInstant?
    var alarm: (any Alarm)?

    mutating func set(_ instant: MonotonicInstant, for bearer: any DeadlineBearer) {
        let entry = Entry(instant: instant, bearer: bearer)
        let position = bearer.deadlinePlace.position ?? heap.endIndex
        if position == heap.endIndex { heap.append(entry) }
        place(entry, near: position)
    }

    mutating func removeFirst(until instant: MonotonicInstant) -> (any DeadlineBearer)? {
        guard let first = heap.first, first.instant <= instant else { return nil }
        remove(at: 0)
        return first.bearer
    }

    mutating func remove(at position: Int) {
        heap[position].bearer.deadlinePlace.position = nil
        let last = heap.removeLast()
        if position < heap.count { place(last, near: position) }
    }

    /// Moves an entry to its place, over, above or below what is at the position.
    private mutating func place(_ entry: Entry, near position: Int) {
        var hole = position
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.instant < heap[parent].instant else { break }
            put(heap[parent], at: hole)
            hole = parent
        }
        while true {
            var child = 2 * hole + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].instant < heap[child].instant { child += 1 }
            guard heap[child].instant < entry.instant else { break }
            put(heap[child], at: hole)
            hole = child
        }
        put(entry, at: hole)
    }

    private mutating func put(_ entry: Entry, at position: Int) {
        heap[position] = entry
        entry.bearer.deadlinePlace.position = position
    }
}
