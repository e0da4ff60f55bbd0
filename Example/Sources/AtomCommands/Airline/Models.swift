import AtomNetworking
import Foundation

/// A flight of the timetable.
struct Flight: Model, Equatable {
    let number: String
    let origin: String
    let destination: String
    let departure: Date
    let arrival: Date
    let aircraft: String
    let fareInCents: Int
}

/// The seats of a flight, row by row.
struct SeatMap: Model {
    struct Row: Model {
        let number: Int
        let seats: [Seat]
    }

    struct Seat: Model {
        let id: String
        let cabin: String
        let isAvailable: Bool
    }

    let flight: String
    let rows: [Row]

    var seats: [Seat] { rows.flatMap(\.seats) }
}

/// What a passenger asks for.
struct BookingOrder: Model {
    var flight: String
    var seat: String
    var passenger: String
}

/// What a passenger gets.
struct Booking: Model {
    let reference: String
    let flight: String
    let seat: String
    let passenger: String
}

/// What the server says when it says no.
struct Problem: Model {
    let code: String
    let message: String
    let fields: [String: String]?
}

/// Somebody with an account.
struct Member: Model {
    let name: String
    let tier: String
    let miles: Int
}

/// A member's miles, with the number of the request that asked.
struct Miles: Model {
    let member: String
    let miles: Int
    let number: String?
}

/// What the server understood of a request.
struct Echo: Model {
    let method: String
    let body: String?
}
