/// Endpoints without authentication: flights, seats, bookings.
struct FlightEndpoints {
    let state: Locked<ServerState>

    func install(on router: inout Router) {
        let state = state

        router.on("GET", "/flights") { call in
            let origin = call.query("from")?.uppercased()
            let destination = call.query("to")?.uppercased()
            let flights = state.withLock(\.desk.flights).filter { flight in
                (origin == nil || flight.origin == origin) && (destination == nil || flight.destination == destination)
            }
            return Reply.json(flights).validated(for: call)
        }
        router.on("GET", "/flights/:number") { call in
            let flight = try state.withLock { try $0.desk.flight(call.parameter("number")) }
            return Reply.json(flight).validated(for: call)
        }
        router.on("GET", "/flights/:number/seats") { call in
            let seats = try state.withLock { try $0.desk.seatMap(of: call.parameter("number")) }
            return Reply.json(seats).validated(for: call)
        }
        router.on("POST", "/bookings") { call in
            let request = try call.json(BookingRequest.self)
            let booking = try state.withLock { try $0.desk.book(request) }
            return .created(booking, at: "/bookings/\(booking.reference)")
        }
        router.on("GET", "/bookings/:reference") { call in
            .json(try state.withLock { try $0.desk.booking(call.parameter("reference")) })
        }
        router.on("DELETE", "/bookings/:reference") { call in
            try state.withLock { try $0.desk.cancel(call.parameter("reference")) }
            return Reply(status: 204)
        }
    }
}

extension Reply {
    static func created(_ value: some Encodable, at location: String) -> Reply {
        var reply = Reply.json(value, status: 201)
        reply.headers.append(("Location", location))
        return reply
    }
}
