/// A first-in-first-out queue whose members can leave from the middle.
///
/// Tickets are issued in rising order, so a member is found by binary search. A member that leaves early leaves a hole.
/// Holes are removed before there are more of them than members: joining and leaving take amortised logarithmic time at
/// most, and memory is proportional to the members.
struct TicketQueue<Element> {
    private var places: [(ticket: Int, element: Element?)] = []
    /// The index of the first place that may hold a member.
    private var head = 0
    private var nextTicket = 0

    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The member that has waited longest.
    var first: Element? { places[head...].first { $0.element != nil }?.element }

    /// The ticket of the member that has waited longest.
    var firstTicket: Int? { places[head...].first { $0.element != nil }?.ticket }

    /// All members in order.
    var members: [Element] { places[head...].compactMap { $0.element } }

    /// Issues a ticket: members leave in the order of their tickets.
    mutating func issueTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }

    /// Adds a member at the place of its ticket.
    mutating func enqueue(_ element: Element, ticket: Int) {
        places.insert((ticket, element), at: firstPlace(notBefore: ticket))
        count += 1
    }

    /// Removes the member that has waited longest.
    mutating func dequeue() -> Element? {
        while head < places.count {
            head += 1
            if let element = take(head - 1) { return element }
        }
        return nil
    }

    /// Removes the member with this ticket, if it still waits.
    mutating func remove(_ ticket: Int) -> Element? {
        let place = firstPlace(notBefore: ticket)
        return place < places.count && places[place].ticket == ticket ? take(place) : nil
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

    mutating func removeAll() {
        places.removeAll()
        head = 0
        count = 0
    }

    /// Makes a hole, and removes all of them when there are more than members.
    private mutating func take(_ place: Int) -> Element? {
        guard let element = places[place].element.take() else { return nil }
        count -= 1
        if count == 0 {
            places.removeAll(keepingCapacity: places.capacity <= 64)
            head = 0
        } else if places.count >= 64, places.count > 2 * count {
            places.removeAll { $0.element == nil }
            head = 0
        }
        return element
    }
}

extension TicketQueue: Sendable where Element: Sendable {}
