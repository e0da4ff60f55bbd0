/// A first-in-first-out queue whose members can leave from the middle.
///
/// Tickets are given out in rising order, so a member is found by halving.
/// One that left early leaves a hole; holes are closed before they outnumber
/// the members, so joining and leaving take amortised logarithmic time at most
/// and memory goes with the members.
struct TicketQueue<Element> {
    private var places: [(ticket: Int, element: Element?)] = []
    /// The first place that may be taken.
    private var head = 0
    private var nextTicket = 0

    /// How many members wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The member that has waited longest.
    var first: Element? {
        for place in places[head...] {
            if let element = place.element { return element }
        }
        return nil
    }

    /// The ticket of the member that has waited longest.
    var firstTicket: Int? {
        for place in places[head...] where place.element != nil { return place.ticket }
        return nil
    }

    /// All members in order.
    var members: [Element] { places[head...].compactMap { $0.element } }

    /// Gives out a ticket: whoever has an earlier one comes first.
    mutating func issueTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }

    /// Joins where a ticket that was issued before belongs, which is the end
    /// for the latest.
    mutating func enqueue(_ element: Element, ticket: Int) {
        let place = firstPlace(notBefore: ticket)
        places.insert((ticket, element), at: place)
        count += 1
    }

    /// Takes the member that has waited longest.
    mutating func dequeue() -> Element? {
        while head < places.count {
            let place = head
            head += 1
            guard let element = places[place].element else { continue }
            places[place].element = nil
            memberLeft()
            return element
        }
        return nil
    }

    /// Takes the member with this ticket, if it still waits.
    mutating func remove(_ ticket: Int) -> Element? {
        let place = firstPlace(notBefore: ticket)
        guard place < places.count, places[place].ticket == ticket, let element = places[place].element else {
            return nil
        }
        places[place].element = nil
        memberLeft()
        return element
    }

    private func firstPlace(notBefore ticket: Int) -> Int {
        guard let last = places.last, last.ticket >= ticket else { return places.count }
        var low = head
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Takes those that a predicate holds for, in order.
    mutating func removeAll(where isWanted: (Element) -> Bool) -> [(ticket: Int, element: Element)] {
        let taken = places[head...].compactMap { place in
            place.element.flatMap { isWanted($0) ? (place.ticket, $0) : nil }
        }
        for (ticket, _) in taken { _ = remove(ticket) }
        return taken
    }

    /// Lets everybody go.
    mutating func removeAll() {
        places.removeAll()
        head = 0
        count = 0
    }

    /// Closes the holes when there are more of them than members.
    private mutating func memberLeft() {
        count -= 1
        if count == 0 {
            places.removeAll(keepingCapacity: places.capacity <= 64)
            head = 0
        } else if places.count >= 64, places.count > 2 * count {
            places.removeAll { $0.element == nil }
            head = 0
        }
    }
}

extension TicketQueue: Sendable where Element: Sendable {}
