/// Rows under headings, in columns of the necessary width.
///
/// ```swift
/// var table = Table("Flight", .right("Fare"))
/// table.add("AS100", "$129.00")
/// terminal.print(table)
/// ```
public struct Table: Sendable {
    /// A column's heading and alignment.
    public struct Column: Sendable, ExpressibleByStringLiteral {
        let heading: String
        var isRightAligned = false

        /// A left-aligned column.
        public init(stringLiteral heading: String) { self.heading = heading }

        /// A right-aligned column, for numbers.
        public static func right(_ heading: String) -> Column {
            var column = Column(stringLiteral: heading)
            column.isRightAligned = true
            return column
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Creates an empty table.
    public init(_ columns: Column...) { self.columns = columns }

    /// Adds a row, with a cell for each column.
    public mutating func add(_ cells: String...) { rows.append(cells) }

    /// The table's lines, without trailing spaces.
    func lines(for terminal: Terminal) -> [String] {
        let headings = columns.map(\.heading)
        let widths = columns.indices.map { column in ([headings] + rows).map { TextWidth.of($0[column]) }.max() ?? 0 }
        let rule = widths.map { String(repeating: terminal.usesSymbols ? "─" : "-", count: $0) }
        let head =
            headings.allSatisfy(\.isEmpty)
            ? [] : [terminal.styled(line(headings, widths), .bold), terminal.styled(line(rule, widths), .dim)]
        return head + rows.map { line($0, widths) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = zip(columns, zip(cells, widths)).map { column, cell in
            let padding = String(repeating: " ", count: cell.1 - TextWidth.of(cell.0))
            return column.isRightAligned ? padding + cell.0 : cell.0 + padding
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}

extension Terminal {
    /// Writes a table with an indent.
    public func print(_ table: Table, indent: Int = 0) {
        for line in table.lines(for: self) { print(String(repeating: " ", count: indent) + line) }
    }
}
