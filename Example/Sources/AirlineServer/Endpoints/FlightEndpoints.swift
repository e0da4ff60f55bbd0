import AtomNetworkingTesting

/// Endpoints without authentication: flights, seats, bookings.
struct FlightEndpoints {
    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "GET /flights": { request in
                let (origin, destination) = (request.query("from"), request.query("to"))
                let flights = state.withLock(\.desk.flights).filter { flight in
                    (origin ?? flight.origin).uppercased() == flight.origin
                        && (destination ?? flight.destination).uppercased() == flight.destination
                }
                return .encoding(flights, freshFor: 60, askedBy: request)
            },
            "GET /flights/{number}": { request throws(Problem) in
                .encoding(try state.withLock(\.desk).flight(request.parameters["number"] ?? ""))
            },
            "GET /flights/{number}/seats": { request throws(Problem) in
                .encoding(try state.withLock(\.desk).seatMap(of: request.parameters["number"] ?? ""))
            },
            "POST /bookings": { request throws(Problem) in
                let order = try request.decoded(BookingRequest.self)
                let booking = try state.withLock { (state) throws(Problem) in try state.desk.book(order) }
                let location = "/bookings/\(booking.reference)"
                return .encoding(booking, status: 201, headers: [("Location", location)])
            },
            "GET /bookings/{reference}": { request throws(Problem) in
                .encoding(try state.withLock(\.desk).booking(request.parameters["reference"] ?? ""))
            },
        ]
    }
}
