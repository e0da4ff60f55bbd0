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
    let total = 57
    /// The path and query of the next page; `nil` on the last one.
    let next: String?

    /// The lines below a number.
    init(of desk: BookingDesk, before: Int, limit: Int) {
        let first = min(before - 1, total)
        activities = stride(from: first, to: max(first - limit, 0), by: -1).map { number in
            let flight = desk.flights[number % desk.flights.count]
            return MileageActivity(
                number: number, title: "Flight \(flight.number), \(flight.origin) to \(flight.destination)",
                miles: flight.fareInCents / 20)
        }
        let last = activities.last?.number ?? 0
        next = last > 1 ? "/account/activity?before=\(last)&limit=\(limit)" : nil
    }
}
