/// Counts as bars, one line each.
///
/// ```swift
/// var histogram = Histogram()
/// histogram.add("0–1 ms", count: 900)
/// histogram.add("1–2 ms", count: 100)
/// terminal.print(histogram)
/// ```
public struct Histogram: Sendable {
    private struct Row {
        let label: String
        let count: Int
    }

    /// No bar is longer, however wide the terminal is.
    private static let longestBar = 50

    private var rows: [Row] = []

    /// Creates an empty histogram.
    public init() {}

    /// Adds a line; a negative count is zero.
    public mutating func add(_ label: String, count: Int) {
        rows.append(Row(label: label, count: max(count, 0)))
    }

    /// The lines, without trailing spaces: label, bar and count.
    ///
    /// The largest count has the longest bar. A count that isn't zero has a
    /// bar, however small it is.
    ///
    /// - Parameters:
    ///   - terminal: The terminal, which decides the width and the signs.
    ///   - indent: The number of spaces before each line.
    public func lines(for terminal: Terminal, indent: Int = 0) -> [String] {
        let labelWidth = rows.map { TextWidth.of($0.label) }.max() ?? 0
        let countWidth = rows.map { String($0.count).count }.max() ?? 0
        let room = terminal.width - indent - labelWidth - countWidth - 4
        let barWidth = min(max(room, 5), Self.longestBar)
        let largest = rows.map(\.count).max() ?? 0
        return rows.map { row in
            let bar = Self.bar(row.count, of: largest, width: barWidth, usesSymbols: terminal.usesSymbols)
            let label = String(repeating: " ", count: indent + labelWidth - TextWidth.of(row.label)) + row.label
            let count = String(row.count)
            // Spaces behind the bar, so that the counts are in a column.
            let gap = String(repeating: " ", count: barWidth - bar.count + 2 + countWidth - count.count)
            return "\(label)  \(terminal.styled(bar, .green))\(gap)\(count)"
        }
    }

    /// A bar in eighths of a character, or in whole ones.
    private static func bar(_ count: Int, of largest: Int, width: Int, usesSymbols: Bool) -> String {
        guard count > 0 else { return "" }
        let length = Double(count) / Double(largest) * Double(width)
        guard usesSymbols else { return String(repeating: "#", count: max(Int(length.rounded()), 1)) }
        let eighths = max(Int((length * 8).rounded()), 1)
        let rest = eighths % 8
        let end = rest == 0 ? "" : String(["▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest - 1])
        return String(repeating: "█", count: eighths / 8) + end
    }
}

extension Terminal {
    /// Writes a histogram with an indent.
    public func print(_ histogram: Histogram, indent: Int = 0) {
        for line in histogram.lines(for: self, indent: indent) { print(line) }
    }
}
