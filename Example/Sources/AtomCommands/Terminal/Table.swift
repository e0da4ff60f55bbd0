/// Rows under headings, in columns of the necessary width.
struct Table {
    /// A column's heading and alignment, by default to the left.
    struct Column: ExpressibleByStringLiteral {
        let heading: String
        var isRightAligned = false

        init(stringLiteral heading: String) { self.heading = heading }

        /// A right-aligned column, for numbers.
        static func right(_ heading: String) -> Column {
            var column = Column(stringLiteral: heading)
            column.isRightAligned = true
            return column
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: Column...) { self.columns = columns }

    /// Adds a row, with a cell for each column.
    mutating func add(_ cells: String...) { rows.append(cells) }

    /// The table's lines, without trailing spaces.
    func lines(for terminal: Terminal) -> [String] {
        let headings = columns.map(\.heading)
        let widths = columns.indices.map { column in ([headings] + rows).map { Self.width($0[column]) }.max() ?? 0 }
        let rule = widths.map { String(repeating: terminal.usesSymbols ? "─" : "-", count: $0) }
        let head =
            headings.allSatisfy(\.isEmpty)
            ? [] : [terminal.styled(line(headings, widths), .bold), terminal.styled(line(rule, widths), .dim)]
        return head + rows.map { line($0, widths) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = zip(columns, zip(cells, widths)).map { column, cell in
            let padding = String(repeating: " ", count: cell.1 - Self.width(cell.0))
            return column.isRightAligned ? padding + cell.0 : cell.0 + padding
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    /// The number of visible characters, without styles.
    private static func width(_ text: String) -> Int { text.replacing(/\u{1B}[^A-Za-z]*[A-Za-z]/, with: "").count }
}

extension Terminal {
    /// Writes a table with an indent.
    func print(_ table: Table, indent: Int = 0) {
        for line in table.lines(for: self) { print(String(repeating: " ", count: indent) + line) }
    }
}
