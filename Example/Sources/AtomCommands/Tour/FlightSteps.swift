import AtomNetworking
import Foundation
import Terminal

/// Lists flights and books a seat, with valid and invalid orders.
struct FlightSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        let atom = tour.atom()
        checklist.section("Book a seat")

        let flights = await outcome { () async throws(AtomError) in
            try await atom.enqueue(FlightEndpoint.list(tour.airline)).resume(expecting: [Flight].self)
        }
        if let flights = flights.value { show(flights) }
        checklist.check(flights.value?.count == 6, "GET /flights lists 6 flights", detail: flights.error?.description)
        guard let flight = flights.value?.first else { return }

        let map = await outcome { () async throws(AtomError) in
            try await atom.enqueue(FlightEndpoint.seats(tour.airline, flight: flight.number))
                .resume(expecting: SeatMap.self)
        }
        let free = map.value?.seats.filter(\.isAvailable) ?? []
        checklist.check(
            map.value?.seats.count == 136 && !free.isEmpty, "GET /flights/\(flight.number)/seats shows the seats",
            detail: map.error?.description ?? "\(free.count) of 136 seats are free")
        guard let seat = free.first(where: { $0.cabin == "main" }) else { return }

        let order = BookingOrder(flight: flight.number, seat: seat.id, passenger: "Ada Lovelace")
        await book(order, with: atom, &checklist)
        await bookBadly(order, with: atom, &checklist)
    }

    private func book(_ order: BookingOrder, with atom: Atom, _ checklist: inout Checklist) async {
        let booking = await outcome { () async throws(AtomError) in
            try await atom.enqueue(FlightEndpoint.book(tour.airline, order)).resume(expecting: Booking.self)
        }
        let kept = await outcome { () async throws(AtomError) in
            try await atom.enqueue(
                FlightEndpoint.booking(tour.airline, reference: booking.value?.reference ?? "none")
            ).resume(expecting: Booking.self)
        }
        checklist.check(
            kept.value?.seat == order.seat && kept.value?.passenger == order.passenger,
            "POST /bookings books seat \(order.seat) for \(order.passenger)",
            detail: booking.error?.description ?? "reference \(booking.value?.reference ?? "")")
    }

    private func bookBadly(_ order: BookingOrder, with atom: Atom, _ checklist: inout Checklist) async {
        let taken = await problem(with: order, atom)
        checklist.check(
            taken.status == 409 && taken.problem?.code == "seat_taken", "the same seat is rejected with 409",
            detail: taken.problem?.message)

        let nonsense = await problem(with: BookingOrder(flight: "AS999", seat: "99Z", passenger: ""), atom)
        let fields = nonsense.problem?.fields ?? [:]
        checklist.check(
            nonsense.status == 422 && fields.count == 3, "invalid values are rejected with 422, field by field",
            detail: fields.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }

    /// The server's error response to an order.
    private func problem(with order: BookingOrder, _ atom: Atom) async -> (status: Int?, problem: Problem?) {
        do throws(AtomError) {
            try await atom.enqueue(FlightEndpoint.book(tour.airline, order)).resume()
            return (nil, nil)
        } catch {
            guard case .response(let response) = error else { return (nil, nil) }
            return (response.statusCode, try? error.decodeIfPresent(as: Problem.self))
        }
    }

    private func show(_ flights: [Flight]) {
        var table = Table("Flight", "From", "To", "Departs (UTC)", .right("Flies"), .right("Fare"))
        for flight in flights {
            let minutes = Int(flight.arrival.timeIntervalSince(flight.departure) / 60)
            let departure = flight.departure.formatted(.iso8601).dropLast(4).replacing("T", with: " ")
            table.add(
                flight.number, flight.origin, flight.destination, String(departure),
                "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)", "$\(flight.fareInCents / 100)")
        }
        tour.terminal.print(table, indent: 4)
    }
}
