import Foundation

/// A booking in the API.
struct Booking: Encodable, Sendable {
    let reference: String
    let flight: String
    let seat: String
    let passenger: String
}

/// The order of a client; all missing values are reported at once.
struct BookingRequest: Decodable, Sendable {
    let flight: String?
    let seat: String?
    let passenger: String?
}

/// Stores the bookings.
struct BookingDesk {
    let flights = Timetable.flights(after: Date())
    private var sold: [String: Set<String>] = [:]
    private var bookings: [String: Booking] = [:]

    func flight(_ number: String) throws(Problem) -> Flight {
        guard let flight = flights.first(where: { $0.number == number }) else {
            throw Problem(404, "flight_not_found", "There is no flight \(number).")
        }
        return flight
    }

    func seatMap(of flight: String) throws(Problem) -> SeatMap {
        SeatMap(flight: try self.flight(flight).number, sold: sold[flight] ?? [])
    }

    /// Books a seat.
    mutating func book(_ request: BookingRequest) throws(Problem) -> Booking {
        var fields: [String: String] = [:]
        let flight = request.flight ?? ""
        let seat = (request.seat ?? "").uppercased()
        let passenger = (request.passenger ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        if !flights.contains(where: { $0.number == flight }) {
            fields["flight"] = flight.isEmpty ? "is missing" : "is unknown"
        }
        let place = SeatMap(flight: flight, sold: sold[flight] ?? []).seat(seat)
        if place == nil {
            fields["seat"] = seat.isEmpty ? "is missing" : "doesn't exist"
        }
        if passenger.isEmpty || passenger.count > 100 {
            fields["passenger"] = passenger.isEmpty ? "is missing" : "is longer than 100 characters"
        }
        guard fields.isEmpty else {
            throw Problem(422, "validation_failed", "The booking is not acceptable.", fields: fields)
        }
        guard place?.isAvailable == true else {
            throw Problem(409, "seat_taken", "Seat \(seat) on \(flight) is taken.", fields: ["seat": "is taken"])
        }
        sold[flight, default: []].insert(seat)
        let booking = Booking(
            reference: String(UUID().uuidString.prefix(8)), flight: flight, seat: seat, passenger: passenger)
        bookings[booking.reference] = booking
        return booking
    }

    func booking(_ reference: String) throws(Problem) -> Booking {
        guard let booking = bookings[reference] else {
            throw Problem(404, "booking_not_found", "There is no booking \(reference).")
        }
        return booking
    }
}
