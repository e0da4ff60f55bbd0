import AtomNetworking
import Foundation

/// A flight of the timetable.
struct Flight: Model {
    let number: String
    let origin: String
    let destination: String
    let departure: Date
    let arrival: Date
    let fareInCents: Int
}

/// The seats of a flight, row by row.
struct SeatMap: Model {
    struct Row: Model {
        let seats: [Seat]
    }

    struct Seat: Model {
        let id: String
        let cabin: String
        let isAvailable: Bool
    }

    let rows: [Row]

    var seats: [Seat] { rows.flatMap(\.seats) }
}

/// The order of a passenger.
struct BookingOrder: Model {
    var flight: String
    var seat: String
    var passenger: String
}

/// The booking that a passenger gets.
struct Booking: Model {
    let reference: String
    let flight: String
    let seat: String
    let passenger: String
}

/// The server's error response.
struct Problem: Model {
    let code: String
    let message: String
    let fields: [String: String]?
}

/// A user with an account.
struct Member: Model, CustomStringConvertible {
    let name: String
    let tier: String
    let miles: Int

    var description: String { "\(name) (\(tier), \(miles) miles)" }
}

/// A part of a member's mileage account.
struct MileagePage: Model {
    struct Activity: Model {
        let number: Int
        let title: String
        let miles: Int
    }

    let activities: [Activity]
    /// How many there are on all pages.
    let total: Int
    /// The link to the next page.
    let next: String?
}

/// The response for a member's miles, with the number of the request.
struct Miles: Model {
    let number: String?
}

/// A seat in first class that was bought with miles.
struct Upgrade: Model, CustomStringConvertible {
    let flight: String
    let member: String
    let cabin: String
    let miles: Int

    var description: String { "\(member) flies \(cabin) class on \(flight), for \(miles) miles." }
}

/// What the server received.
struct Receipt: Model {
    let bytes: Int
}

/// An announcement at a gate.
struct GateAnnouncement: Model {
    let number: Int
    let flight: String
    let status: String
}
