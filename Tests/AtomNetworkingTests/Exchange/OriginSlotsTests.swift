import Foundation
import Testing

@testable import AtomNetworking

/// Notes its grant, and does what the test wants then.
private final class RecordingWaiter: SlotWaiter, @unchecked Sendable {
    let number: Int
    /// Its place in the lane; each waiter is used by one thread at a time until it is granted.
    var place: Int?
    private(set) var origins: [Origin] = []
    private let onGrant: @Sendable (Int) -> Void

    init(_ number: Int, onGrant: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.number = number
        self.onGrant = onGrant
    }

    func slotGranted(of origin: Origin, place: Int) {
        origins.append(origin)
        onGrant(number)
    }
}

extension OriginSlots {
    /// Takes a slot, of which the waiter is told as an exchange tells itself, or joins the lane.
    ///
    /// - Returns: Whether the waiter has to wait.
    @discardableResult
    fileprivate func join(_ waiter: RecordingWaiter, origin: Origin, isBack: Bool = false) -> Bool {
        let (place, isGranted) = enter(waiter, origin: origin, place: isBack ? waiter.place : nil)
        waiter.place = place
        if isGranted { waiter.slotGranted(of: origin, place: place) }
        return !isGranted
    }

    fileprivate func leave(_ waiter: RecordingWaiter, origin: Origin) {
        if let place = waiter.place { leave(place: place, origin: origin) }
    }
}

/// What happened, in order, noted from any thread.
private final class Journal: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Int] = []
    var all: [Int] { lock.withLock { entries } }
    func note(_ entry: Int) { lock.withLock { entries.append(entry) } }
}

@Suite("Slots of an origin", .limited)
struct OriginSlotsTests {
    private static let home = Origin(scheme: .https, host: "a.example", port: 443)
    private static let other = Origin(scheme: .https, host: "b.example", port: 443)
    private let journal = Journal()

    private func waiter(_ number: Int) -> RecordingWaiter {
        RecordingWaiter(number) { [journal] in journal.note($0) }
    }

    private func lanes(of slots: OriginSlots) -> Int {
        slots.laneCount
    }

    @Test("A free slot is granted before enter returns, the others wait")
    func granting() {
        let slots = OriginSlots(limit: 2)
        #expect((0..<5).map { slots.join(waiter($0), origin: Self.home) } == [false, false, true, true, true])
        #expect(journal.all == [0, 1])
        #expect(slots.counts == (2, 3))
    }

    @Test("A slot that comes back goes to whoever has waited longest")
    func firstInFirstOut() {
        let slots = OriginSlots(limit: 2)
        for number in 0..<50 { slots.join(waiter(number), origin: Self.home) }
        for step in 0..<48 {
            slots.release(origin: Self.home)
            #expect(journal.all.count == step + 3)
        }
        #expect(journal.all == Array(0..<50))
        slots.release(origin: Self.home)
        slots.release(origin: Self.home)
        #expect(slots.counts == (0, 0))
        #expect(lanes(of: slots) == 0)
    }

    @Test("Who is granted a slot is told of which origin, and gives that one back wherever it goes next")
    func grantedOrigin() {
        let slots = OriginSlots(limit: 1)
        let first = waiter(0)
        let second = waiter(1)
        slots.join(first, origin: Self.home)
        slots.join(second, origin: Self.home)
        slots.join(waiter(2), origin: Self.other)
        slots.release(origin: Self.home)
        #expect(first.origins == [Self.home])
        #expect(second.origins == [Self.home], "whichever lane was the recent one")
    }

    @Test("Who gives up a slot that it can't use yet keeps its place before those who came later")
    func backInItsPlace() {
        let slots = OriginSlots(limit: 1)
        let first = waiter(1)
        slots.join(waiter(0), origin: Self.home)
        slots.join(first, origin: Self.home)
        slots.join(waiter(2), origin: Self.home)
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1])
        #expect(slots.join(first, origin: Self.home, isBack: true))
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 1])
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 1, 2])
        #expect(slots.join(first, origin: Self.home), "sent meanwhile, it is a newcomer")
        slots.join(waiter(3), origin: Self.home)
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 1, 2, 1])
    }

    @Test("A newcomer never takes the slot of one who waits")
    func noOvertaking() {
        let slots = OriginSlots(limit: 1)
        slots.join(waiter(0), origin: Self.home)
        slots.join(waiter(1), origin: Self.home)
        slots.release(origin: Self.home)
        #expect(slots.join(waiter(2), origin: Self.home))
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2])
    }

    @Test("Origins don't wait for each other")
    func origins() {
        let slots = OriginSlots(limit: 1)
        #expect(!slots.join(waiter(0), origin: Self.home))
        #expect(!slots.join(waiter(1), origin: Self.other))
        #expect(slots.join(waiter(2), origin: Self.home))
        slots.release(origin: Self.other)
        #expect(journal.all == [0, 1])
        #expect(slots.counts == (1, 1))
        #expect(lanes(of: slots) == 1)
    }

    @Test("Who left the queue is passed over, and leaving takes no slot from anybody")
    func leaving() {
        let slots = OriginSlots(limit: 1)
        let waiters = (0..<5).map(waiter)
        for waiter in waiters { slots.join(waiter, origin: Self.home) }
        slots.leave(waiters[1], origin: Self.home)
        slots.leave(waiters[1], origin: Self.home)
        slots.leave(waiters[3], origin: Self.home)
        slots.leave(waiters[0], origin: Self.home)
        #expect(slots.counts == (1, 2))
        for _ in 0..<3 { slots.release(origin: Self.home) }
        #expect(journal.all == [0, 2, 4])
        #expect(slots.counts == (0, 0))
        slots.leave(waiters[4], origin: Self.home)
        #expect(lanes(of: slots) == 0)
    }

    @Test("A waiter that wants its slot no more hands it on, in order and without recursion")
    func releasedInsideGrant() {
        let slots = OriginSlots(limit: 1)
        let journal = journal
        slots.join(waiter(0), origin: Self.home)
        for number in 1...50_000 {
            slots.join(
                RecordingWaiter(number) { number in
                    journal.note(number)
                    slots.release(origin: Self.home)
                }, origin: Self.home)
        }
        slots.release(origin: Self.home)
        #expect(journal.all == Array(0...50_000))
        #expect(slots.counts == (0, 0))
        #expect(lanes(of: slots) == 0)
    }

    @Test("Who enters while slots are handed out joins the end, and still gets one")
    func enteringInsideGrant() {
        let slots = OriginSlots(limit: 2)
        let journal = journal
        slots.join(waiter(0), origin: Self.home)
        slots.join(waiter(1), origin: Self.home)
        slots.join(
            RecordingWaiter(2) { number in
                journal.note(number)
                slots.release(origin: Self.home)
                slots.release(origin: Self.home)
                let newcomer = RecordingWaiter(4) { journal.note($0) }
                #expect(slots.join(newcomer, origin: Self.home))
            }, origin: Self.home)
        slots.join(waiter(3), origin: Self.home)
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2, 3, 4])
        #expect(slots.counts == (2, 0))
    }

    @Test("Who enters before the last waiter has started doesn't start before it, though a slot is free")
    func enteringBeforeTheLastStarts() {
        let slots = OriginSlots(limit: 2)
        let journal = journal
        for number in 0...1 { slots.join(waiter(number), origin: Self.home) }
        slots.join(
            RecordingWaiter(2) { number in
                slots.release(origin: Self.home)
                #expect(slots.join(RecordingWaiter(3) { journal.note($0) }, origin: Self.home))
                journal.note(number)
            }, origin: Self.home)
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2, 3])
        #expect(slots.counts == (2, 0))
    }

    @Test("Two slots given back at once go to two waiters, while one hands out the other waits for nothing")
    func releasedWhileDraining() {
        let slots = OriginSlots(limit: 2)
        let journal = journal
        for number in 0...1 { slots.join(waiter(number), origin: Self.home) }
        slots.join(
            RecordingWaiter(2) { number in
                slots.release(origin: Self.home)
                // The slot is free now; whoever comes next must not start before this one has.
                journal.note(number)
            }, origin: Self.home)
        for number in 3...4 { slots.join(waiter(number), origin: Self.home) }
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2, 3])
        #expect(slots.counts == (2, 1))
    }

    @Test("Without a limit nobody waits, and a release changes nothing")
    func unlimited() {
        let slots = OriginSlots(limit: nil)
        for number in 0..<1_000 { #expect(!slots.join(waiter(number), origin: Self.home)) }
        slots.release(origin: Self.home)
        slots.leave(waiter(0), origin: Self.home)
        #expect(journal.all == Array(0..<1_000))
        #expect(slots.counts == (0, 0))
    }

    @Test("A limit below one is one", arguments: [0, -1, .min])
    func smallLimit(_ limit: Int) {
        let slots = OriginSlots(limit: limit)
        #expect(!slots.join(waiter(0), origin: Self.home))
        #expect(slots.join(waiter(1), origin: Self.home))
    }

    // MARK: - What a transport learns

    @Test("A higher limit grants slots at once, in order")
    func learnedMore() {
        let slots = OriginSlots(limit: 1)
        for number in 0..<6 { slots.join(waiter(number), origin: Self.home) }
        slots.learn(4, of: Self.home)
        #expect(journal.all == [0, 1, 2, 3])
        #expect(slots.counts == (4, 2))
        slots.learn(100, of: Self.home)
        #expect(journal.all == Array(0..<6))
        #expect(!slots.join(waiter(6), origin: Self.home))
    }

    @Test("A lower limit takes no slot from anybody, and holds for the next")
    func learnedLess() {
        let slots = OriginSlots(limit: 3)
        for number in 0..<5 { slots.join(waiter(number), origin: Self.home) }
        slots.learn(1, of: Self.home)
        #expect(slots.counts == (3, 2))
        for _ in 0..<2 { slots.release(origin: Self.home) }
        #expect(journal.all == [0, 1, 2])
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2, 3])
        #expect(slots.counts == (1, 1))
        slots.learn(-5, of: Self.home)
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2, 3, 4], "a limit below one is one")
    }

    @Test("The limit of one origin is not another's")
    func learnedOfOne() {
        let slots = OriginSlots(limit: 1)
        slots.learn(2, of: Self.home)
        #expect((0..<3).map { slots.join(waiter($0), origin: Self.home) } == [false, false, true])
        #expect((3..<5).map { slots.join(waiter($0), origin: Self.other) } == [false, true])
    }

    @Test("A fixed limit learns nothing, nor does none")
    func learnedForNothing() {
        let fixed = OriginSlots(limit: 1, isFixed: true)
        fixed.learn(100, of: Self.home)
        #expect((0..<2).map { fixed.join(waiter($0), origin: Self.home) } == [false, true])
        let unlimited = OriginSlots(limit: nil)
        unlimited.learn(1, of: Self.home)
        #expect((2..<4).map { unlimited.join(waiter($0), origin: Self.home) } == [false, false])
    }

    @Test("What was learned is remembered while nobody uses the origin, until something else is learned")
    func remembered() {
        let slots = OriginSlots(limit: 1)
        slots.learn(2, of: Self.home)
        for round in 0..<3 {
            slots.join(waiter(0), origin: Self.other)
            slots.release(origin: Self.other)
            #expect(lanes(of: slots) == 0, "round \(round)")
            #expect((0..<3).map { slots.join(waiter($0), origin: Self.home) } == [false, false, true])
            for _ in 0..<3 { slots.release(origin: Self.home) }
        }
        slots.learn(1, of: Self.home)
        slots.join(waiter(0), origin: Self.other)
        #expect((0..<2).map { slots.join(waiter($0), origin: Self.home) } == [false, true])
    }

    @Test("A waiter that learns more inside its grant lets the others in, in order")
    func learnedInsideGrant() {
        let slots = OriginSlots(limit: 1)
        let journal = journal
        slots.join(waiter(0), origin: Self.home)
        slots.join(
            RecordingWaiter(1) { number in
                slots.learn(3, of: Self.home)
                journal.note(number)
            }, origin: Self.home)
        for number in 2..<5 { slots.join(waiter(number), origin: Self.home) }
        slots.release(origin: Self.home)
        #expect(journal.all == [0, 1, 2, 3])
        #expect(slots.counts == (3, 1))
    }

    @Test("However many origins there are, the memory is bounded")
    func boundedMemory() {
        let slots = OriginSlots(limit: 1)
        let origins = (0..<5_000).map { Origin(scheme: .https, host: "\($0).example", port: 443) }
        for origin in origins { slots.learn(2, of: origin) }
        #expect(lanes(of: slots) == 0)
        let remembered = origins.map { origin in
            defer { for _ in 0..<2 { slots.release(origin: origin) } }
            return (0..<2).map { slots.join(waiter($0), origin: origin) } == [false, false]
        }
        #expect(remembered.last == true)
        #expect(remembered.count { $0 } <= 1_001)
    }

    @Test("Ten thousand random steps agree with a plain list", arguments: [UInt64(21), 22, 23])
    func model(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...4, using: &generator)
        let slots = OriginSlots(limit: limit)
        var waiting: [RecordingWaiter] = []
        var granted: [Int] = []
        var taken = 0
        var disagreements = 0
        for step in 0..<10_000 {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<4:
                let newcomer = waiter(step)
                let waits = slots.join(newcomer, origin: Self.home)
                if waits != (taken == limit) { disagreements += 1 }
                if taken < limit {
                    taken += 1
                    granted.append(step)
                } else {
                    waiting.append(newcomer)
                }
            case 4:
                guard let index = waiting.indices.randomElement(using: &generator) else { continue }
                slots.leave(waiting.remove(at: index), origin: Self.home)
            default:
                guard taken > 0 else { continue }
                slots.release(origin: Self.home)
                if waiting.isEmpty { taken -= 1 } else { granted.append(waiting.removeFirst().number) }
            }
            if slots.counts != (taken, waiting.count) { disagreements += 1 }
        }
        #expect(disagreements == 0)
        #expect(journal.all == granted)
    }

    @Test("Eight threads never hold more slots than there are, and every waiter gets one")
    func threads() {
        final class Gauge: @unchecked Sendable {
            private let lock = NSLock()
            private var current = 0
            private(set) var highest = 0
            func enter() {
                lock.withLock {
                    current += 1
                    highest = max(highest, current)
                }
            }
            func leave() { lock.withLock { current -= 1 } }
        }
        let slots = OriginSlots(limit: 3)
        let gauge = Gauge()
        let journal = journal
        let everybody = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 {
                everybody.enter()
                let waiter = RecordingWaiter(thread * 500 + number) { number in
                    gauge.enter()
                    journal.note(number)
                    DispatchQueue.global().async {
                        gauge.leave()
                        slots.release(origin: Self.home)
                        everybody.leave()
                    }
                }
                slots.join(waiter, origin: Self.home)
            }
        }
        #expect(everybody.wait(timeout: .now() + 240) == .success)
        #expect(gauge.highest <= 3)
        #expect(journal.all.sorted() == Array(0..<4_000))
        #expect(slots.counts == (0, 0))
        #expect(lanes(of: slots) == 0)
    }
}
