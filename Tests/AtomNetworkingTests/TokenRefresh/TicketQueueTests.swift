import Testing

@testable import AtomNetworking

@Suite("A queue whose members can leave from the middle", .limited)
struct TicketQueueTests {
    @Test("The member that came first is removed first")
    func order() {
        var queue = TicketQueue<Int>()
        #expect(queue.isEmpty)
        for number in 0..<1_000 { #expect(queue.enqueue(number) == number) }
        #expect(queue.count == 1_000)
        for number in 0..<1_000 { #expect(queue.dequeue() == number) }
        #expect(queue.dequeue() == nil)
        #expect(queue.isEmpty)
    }

    @Test("A member that has left is skipped, and can't leave twice")
    func removal() {
        var queue = TicketQueue<String>()
        let tickets = ["a", "b", "c", "d"].map { queue.enqueue($0) }
        #expect(queue.remove(tickets[0]) == "a")
        #expect(queue.remove(tickets[2]) == "c")
        #expect(queue.remove(tickets[2]) == nil)
        #expect(queue.count == 2)
        #expect(queue.dequeue() == "b")
        #expect(queue.remove(tickets[1]) == nil)
        #expect(queue.dequeue() == "d")
        #expect(queue.dequeue() == nil)
    }

    @Test("The first ticket is that of whoever stands first")
    func firstTicket() {
        var queue = TicketQueue<String>()
        #expect(queue.firstTicket == nil)
        let tickets = ["a", "b", "c"].map { queue.enqueue($0) }
        #expect(queue.firstTicket == tickets[0])
        _ = queue.remove(tickets[1])
        _ = queue.dequeue()
        #expect(queue.firstTicket == tickets[2])
    }

    @Test("A ticket is never issued twice, even after the queue has been empty")
    func tickets() {
        var queue = TicketQueue<Int>()
        var seen: Set<Int> = []
        for round in 0..<300 {
            let ticket = queue.enqueue(round)
            #expect(seen.insert(ticket).inserted)
            if round % 3 == 0 { _ = queue.dequeue() }
            if round % 7 == 0 { while queue.dequeue() != nil {} }
        }
        #expect(queue.remove(-1) == nil)
        #expect(queue.remove(.max) == nil)
        #expect(queue.remove(0) == nil)
    }

    @Test("Members are released when they are removed")
    func lifetime() {
        final class Member {}
        var queue = TicketQueue<Member>()
        var members = (0..<100).map { _ in Member() }
        let tickets = members.map { queue.enqueue($0) }
        weak let first = members[0]
        weak let middle = members[50]
        members = []
        _ = queue.dequeue()
        _ = queue.remove(tickets[50])
        #expect(first == nil)
        #expect(middle == nil)
        #expect(queue.count == 98)
    }

    @Test("A hundred thousand random steps agree with a plain array", arguments: [UInt64(11), 12, 13])
    func model(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = TicketQueue<Int>()
        var model: [(ticket: Int, element: Int)] = []
        var issued: [Int] = []
        var disagreements = 0
        for step in 0..<33_000 {
            // In waves, so that the queue grows long and becomes empty again.
            let grows = step / 1_500 % 2 == 0
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<(grows ? 6 : 3):
                let ticket = queue.enqueue(step)
                if let last = issued.last, ticket != last + 1 { disagreements += 1 }
                model.append((ticket, step))
                issued.append(ticket)
            case 6...7:
                // Tickets of members that were removed, that have left, and that wait.
                guard let ticket = issued.suffix(400).randomElement(using: &generator) else { continue }
                let index = model.firstIndex { $0.ticket == ticket }
                let expected = index.map { model.remove(at: $0).element }
                if queue.remove(ticket) != expected { disagreements += 1 }
            default:
                let expected = model.isEmpty ? nil : model.removeFirst().element
                if queue.dequeue() != expected { disagreements += 1 }
            }
            if queue.first != model.first?.element { disagreements += 1 }
            if step % 500 == 0, queue.members != model.map(\.element) { disagreements += 1 }
            if step % 9_999 == 9_998 {
                queue.removeAll()
                model = []
            }
            if queue.count != model.count || queue.isEmpty != model.isEmpty { disagreements += 1 }
        }
        #expect(disagreements == 0)
        var rest: [Int] = []
        while let member = queue.dequeue() { rest.append(member) }
        #expect(rest == model.map(\.element))
    }
}

extension TicketQueue {
    /// Joins the end and returns the ticket to leave with.
    fileprivate mutating func enqueue(_ element: Element) -> Int {
        let ticket = issueTicket()
        enqueue(element, ticket: ticket)
        return ticket
    }
}
