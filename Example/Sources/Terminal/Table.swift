/// Rows under headings, in columns of the necessary width.
///
/// ```swift
/// var table = Table("Flight", .right("Fare"))
/// table.add("AS100", "$129.00")
/// terminal.print(table.lines(for: terminal).joined(separator: "\n"))
/// ```
public struct Table: Sendable {
    /// A column's heading and alignment.
    public struct Column: Sendable, ExpressibleByStringLiteral {
        let heading: String
        let isRightAligned: Bool

        /// A left-aligned column.
        public init(stringLiteral heading: String) {
            self.init(heading: heading, isRightAligned: false)
        }

        private init(heading: String, isRightAligned: Bool) {
            self.heading = heading
            self.isRightAligned = isRightAligned
        }

        /// A left-aligned column.
        public static func left(_ heading: String) -> Column {
            Column(heading: heading, isRightAligned: false)
        }

        /// A right-aligned column, for numbers.
        public static func right(_ heading: String) -> Column {
            Column(heading: heading, isRightAligned: true)
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Creates an empty table.
    public init(_ columns: Column...) {
        self.columns = columns
    }

    /// Adds a row; missing cells stay empty, and extra cells are dropped.
    public mutating func add(_ cells: String...) {
        rows.append(columns.indices.map { $0 < cells.count ? cells[$0] : "" })
    }

    /// The table's lines, without trailing spaces.
    public func lines(for terminal: Terminal) -> [String] {
        let headings = columns.map(\.heading)
        let widths = columns.indices.map { column in
            ([headings] + rows).map { TextWidth.of($0[column]) }.max() ?? 0
        }
        var lines: [String] = []
        if headings.contains(where: { !$0.isEmpty }) {
            lines.append(terminal.styled(line(headings, widths: widths), .bold))
            let rule = terminal.usesSymbols ? "─" : "-"
            lines.append(
                terminal.styled(widths.map { String(repeating: rule, count: $0) }.joined(separator: "  "), .dim)
            )
        }
        return lines + rows.map { line($0, widths: widths) }
    }

    private func line(_ cells: [String], widths: [Int]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: widths[index] - TextWidth.of(cell))
            line += index > 0 ? "  " : ""
            line += columns[index].isRightAligned ? padding + cell : cell + padding
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

extension Terminal {
    /// Writes a table with an indent.
    public func print(_ table: Table, indent: Int = 0) {
        for line in table.lines(for: self) {
            print(String(repeating: " ", count: indent) + line)
        }
    }
}
