/// A first-in-first-out queue whose members can leave from the middle.
///
/// Tickets are consecutive numbers, so a member is found by subtraction; one
/// that left early leaves a hole that is passed over and goes with its
/// neighbours. Every operation takes amortised constant time.
struct TicketQueue<Element> {
    private var places: [Element?] = []
    /// The first place that may be taken.
    private var head = 0
    /// The ticket of `places[0]`.
    private var firstTicket = 0

    /// How many members wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The member that has waited longest.
    var first: Element? {
        for place in places[head...] {
            if let element = place { return element }
        }
        return nil
    }

    /// All members in order.
    var members: [Element] { places[head...].compactMap { $0 } }

    /// Joins the end and returns the ticket to leave with.
    mutating func enqueue(_ element: Element) -> Int {
        places.append(element)
        count += 1
        return firstTicket + places.count - 1
    }

    /// Takes the member that has waited longest.
    mutating func dequeue() -> Element? {
        while head < places.count {
            let place = head
            head += 1
            guard let element = places[place] else { continue }
            places[place] = nil
            memberLeft()
            return element
        }
        return nil
    }

    /// Takes the member with this ticket, if it still waits.
    mutating func remove(_ ticket: Int) -> Element? {
        let place = ticket - firstTicket
        guard places.indices.contains(place), let element = places[place] else { return nil }
        places[place] = nil
        memberLeft()
        return element
    }

    /// Lets everybody go.
    mutating func removeAll() {
        firstTicket += places.count
        places.removeAll()
        head = 0
        count = 0
    }

    /// Lets go of places that nobody can take any more.
    private mutating func memberLeft() {
        count -= 1
        if count == 0 {
            firstTicket += places.count
            places.removeAll(keepingCapacity: places.capacity <= 64)
            head = 0
        } else if head >= 32, head * 2 >= places.count {
            places.removeFirst(head)
            firstTicket += head
            head = 0
        }
    }
}

extension TicketQueue: Sendable where Element: Sendable {}
