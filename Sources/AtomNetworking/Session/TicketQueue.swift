/// A first-in-first-out queue whose members can leave from the middle.
///
/// Tickets are issued in rising order, so a member is found by binary search.
/// A member that leaves early leaves a hole. Holes are removed before there are
/// more of them than members: joining and leaving take amortised logarithmic
/// time at most, and memory is proportional to the members.
struct TicketQueue<Element> {
    private var places: [(ticket: Int, element: Element?)] = []
    /// The index of the first place that may hold a member.
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

    /// Issues a ticket: members leave in the order of their tickets.
    mutating func issueTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }

    /// Adds a member at the place of its ticket, which is the end for the
    /// latest ticket.
    mutating func enqueue(_ element: Element, ticket: Int) {
        let place = firstPlace(notBefore: ticket)
        places.insert((ticket, element), at: place)
        count += 1
    }

    /// Removes the member that has waited longest.
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

    /// Removes the member with this ticket, if it still waits.
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

    /// Removes the members that satisfy a predicate, in order.
    mutating func removeAll(where isWanted: (Element) -> Bool) -> [(ticket: Int, element: Element)] {
        let taken = places[head...].compactMap { place in
            place.element.flatMap { isWanted($0) ? (place.ticket, $0) : nil }
        }
        for (ticket, _) in taken { _ = remove(ticket) }
        return taken
    }

    /// Removes all members.
    mutating func removeAll() {
        places.removeAll()
        head = 0
        count = 0
    }

    /// Removes the holes when there are more of them than members.
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
