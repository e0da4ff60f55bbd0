/// A line of a member's mileage account in the API.
struct MileageActivity: Encodable, Sendable {
    /// Counted from 1, the oldest.
    let number: Int
    let title: String
    let miles: Int
}

/// A part of a member's mileage account, the newest line first.
struct MileagePage: Encodable, Sendable {
    let activities: [MileageActivity]
    /// How many lines there are on all pages.
    let total: Int
    /// The path and query of the next page; `nil` on the last one.
    let next: String?

    /// How many lines each account begins with.
    static let pastFlights = 57

    /// The lines below a number.
    ///
    /// A page names a line and not a position, so a new booking moves nothing
    /// from one page to the next.
    init(of desk: BookingDesk, member: String, before: Int, limit: Int) {
        let bookings = desk.bookings(of: member)
        total = Self.pastFlights + bookings.count
        let first = min(before - 1, total)
        let numbers = stride(from: first, to: max(first - limit, 0), by: -1)
        activities = numbers.map { number in
            guard number > Self.pastFlights else { return Self.pastFlight(number, desk.flights) }
            let booking = bookings[number - Self.pastFlights - 1]
            return MileageActivity(
                number: number, title: "Booking \(booking.reference), \(booking.flight), seat \(booking.seat)",
                miles: 250)
        }
        let last = activities.last?.number ?? 0
        next = last > 1 ? "/account/activity?before=\(last)&limit=\(limit)" : nil
    }

    private static func pastFlight(_ number: Int, _ flights: [Flight]) -> MileageActivity {
        let flight = flights[number % flights.count]
        return MileageActivity(
            number: number, title: "Flight \(flight.number), \(flight.origin) to \(flight.destination)",
            miles: flight.fareInCents / 20)
    }
}
