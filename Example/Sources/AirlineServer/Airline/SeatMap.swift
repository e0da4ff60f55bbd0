/// The seats of a flight, row by row, in the API.
struct SeatMap: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let number: Int
        let seats: [Seat]
    }

    struct Seat: Encodable, Sendable {
        let id: String
        let cabin: String
        let isAvailable: Bool
    }

    let flight: String
    let rows: [Row]

    /// Every aircraft has 24 rows of 6 seats, of which the first four are first class with 4 seats.
    ///
    /// A third of the seats, and always 1A, is sold in advance.
    init(flight: String, sold: Set<String>) {
        self.flight = flight
        rows = (1...24).map { row in
            let letters = row <= 4 ? ["A", "C", "D", "F"] : ["A", "B", "C", "D", "E", "F"]
            let seats = letters.enumerated().map { column, letter in
                let id = "\(row)\(letter)"
                return Seat(
                    id: id, cabin: row <= 4 ? "first" : "main",
                    isAvailable: !sold.contains(id) && id != "1A" && (row * 5 + column) % 3 != 0)
            }
            return Row(number: row, seats: seats)
        }
    }

    func seat(_ id: String) -> Seat? {
        rows.lazy.flatMap(\.seats).first { $0.id == id }
    }
}
