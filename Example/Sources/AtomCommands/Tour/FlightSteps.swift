import AtomNetworking
import Foundation

extension Tour {
    /// Lists flights and books a seat, with valid and invalid orders.
    mutating func bookSeat() async throws {
        let atom = atom()
        let flights = try await atom.enqueue(FlightEndpoint.list(airline)).resume(expecting: [Flight].self)
        show(flights)
        checklist.check(flights.count == 6, "GET /flights lists 6 flights")
        guard let flight = flights.first else { return }

        let map = try await atom.enqueue(FlightEndpoint.seats(airline, flight: flight.number))
            .resume(expecting: SeatMap.self)
        let free = map.seats.filter(\.isAvailable)
        checklist.check(
            map.seats.count == 136 && !free.isEmpty, "GET /flights/\(flight.number)/seats shows the seats",
            detail: "\(free.count) of 136 seats are free")
        guard let seat = free.first(where: { $0.cabin == "main" }) else { return }

        let order = BookingOrder(flight: flight.number, seat: seat.id, passenger: "Ada Lovelace")
        let booking = try await atom.enqueue(FlightEndpoint.book(airline, order)).resume(expecting: Booking.self)
        let kept = try await atom.enqueue(FlightEndpoint.booking(airline, reference: booking.reference))
            .resume(expecting: Booking.self)
        checklist.check(
            kept.seat == order.seat && kept.passenger == order.passenger,
            "POST /bookings books seat \(order.seat) for \(order.passenger)", detail: "reference \(booking.reference)")

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
        let error = await atom.outcome(of: FlightEndpoint.book(airline, order)).error
        return (error?.response?.statusCode, try? error?.decodeIfPresent(as: Problem.self))
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
        terminal.print(table, indent: 4)
    }
}
