/// The seats of a flight, row by row, in the API.
struct SeatMap: Encodable, Sendable {
    let flight: String
    let rows: [Row]

    struct Row: Encodable, Sendable {
        let number: Int
        let seats: [Seat]
    }

    struct Seat: Encodable, Sendable {
        let id: String
        let cabin: String
        let isAvailable: Bool
    }
}

/// The layout of every aircraft of this airline: 24 rows of 6 seats; the first
/// four rows are first class with 4 seats.
enum Cabin {
    static let rows = 1...24

    static func letters(inRow row: Int) -> [String] {
        row <= 4 ? ["A", "C", "D", "F"] : ["A", "B", "C", "D", "E", "F"]
    }

    static func name(ofRow row: Int) -> String {
        row <= 4 ? "first" : "main"
    }

    static let seats = Set(rows.flatMap { row in letters(inRow: row).map { "\(row)\($0)" } })

    /// The seats that are sold before the server starts; seat 1A is always
    /// sold.
    static func soldInAdvance(flightAt index: Int) -> Set<String> {
        var sold: Set<String> = ["1A"]
        for row in rows {
            for (column, letter) in letters(inRow: row).enumerated() where (row * 5 + column * 3 + index) % 4 == 0 {
                sold.insert("\(row)\(letter)")
            }
        }
        return sold
    }
}
