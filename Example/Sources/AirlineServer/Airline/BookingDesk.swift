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
    let flights: [Flight]
    private var sold: [String: Set<String>] = [:]
    private var bookings: [String: Booking] = [:]

    init(flights: [Flight]) {
        self.flights = flights
        for (index, flight) in flights.enumerated() {
            sold[flight.number] = Cabin.soldInAdvance(flightAt: index)
        }
    }

    func flight(_ number: String) throws(Problem) -> Flight {
        guard let flight = flights.first(where: { $0.number == number }) else {
            throw Problem(404, "flight_not_found", "There is no flight \(number).")
        }
        return flight
    }

    func seatMap(of flight: String) throws(Problem) -> SeatMap {
        _ = try self.flight(flight)
        let taken = sold[flight] ?? []
        let rows = Cabin.rows.map { row in
            SeatMap.Row(
                number: row,
                seats: Cabin.letters(inRow: row).map { letter in
                    let id = "\(row)\(letter)"
                    return SeatMap.Seat(id: id, cabin: Cabin.name(ofRow: row), isAvailable: !taken.contains(id))
                }
            )
        }
        return SeatMap(flight: flight, rows: rows)
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
        if !Cabin.seats.contains(seat) {
            fields["seat"] = seat.isEmpty ? "is missing" : "doesn't exist"
        }
        if passenger.isEmpty || passenger.count > 100 {
            fields["passenger"] = passenger.isEmpty ? "is missing" : "is longer than 100 characters"
        }
        guard fields.isEmpty else {
            throw Problem(422, "validation_failed", "The booking is not acceptable.", fields: fields)
        }
        guard sold[flight, default: []].insert(seat).inserted else {
            throw Problem(409, "seat_taken", "Seat \(seat) on \(flight) is taken.", fields: ["seat": "is taken"])
        }
        let booking = Booking(reference: newReference(), flight: flight, seat: seat, passenger: passenger)
        bookings[booking.reference] = booking
        return booking
    }

    func booking(_ reference: String) throws(Problem) -> Booking {
        guard let booking = bookings[reference] else {
            throw Problem(404, "booking_not_found", "There is no booking \(reference).")
        }
        return booking
    }

    /// Six letters and digits, without similar ones.
    private func newReference() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        while true {
            let reference = String((0..<6).map { _ in alphabet[Int.random(in: alphabet.indices)] })
            if bookings[reference] == nil { return reference }
        }
    }
}
