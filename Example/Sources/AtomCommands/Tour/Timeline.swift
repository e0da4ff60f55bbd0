import Terminal

/// Lanes along one axis of time, drawn as text.
///
/// ```swift
/// var timeline = Timeline(from: 0, to: 1)
/// timeline.add(.init("refresh", [.init(.refresh, from: 0.2, to: 0.6)]))
/// for line in timeline.lines(for: terminal) { terminal.print(line) }
/// ```
struct Timeline {
    /// How a period of time is drawn.
    enum Fill: Int, CaseIterable {
        case token
        case leeway
        case waiting
        case onWire
        case refresh
        case refused
        case dead

        fileprivate var glyph: (symbol: String, plain: String, style: TextStyle) {
            switch self {
            case .token: ("─", "-", .cyan)
            case .leeway: ("╌", "~", .yellow)
            case .waiting: ("·", ".", .blue)
            case .onWire: ("━", "=", .green)
            case .refresh: ("▓", "#", .magenta)
            case .refused: ("✗", "x", .red)
            case .dead: ("╳", "X", .red)
            }
        }
    }

    struct Segment: Equatable {
        var fill: Fill
        var start: Double
        var end: Double

        /// A period of time; at least one column, however short it is.
        init(_ fill: Fill, from start: Double, to end: Double) {
            self.fill = fill
            self.start = start
            self.end = end
        }

        /// A single moment.
        init(_ fill: Fill, at moment: Double) {
            self.init(fill, from: moment, to: moment)
        }
    }

    /// A line of the picture; if segments overlap, the later case of ``Fill``
    /// is drawn.
    struct Lane: Equatable {
        var label: String
        var segments: [Segment]
        /// A text after the last segment.
        var note: String?

        init(_ label: String, _ segments: [Segment], note: String? = nil) {
            self.label = label
            self.segments = segments
            self.note = note
        }
    }

    private let start: Double
    private let end: Double
    private var lanes: [Lane] = []

    init(from start: Double, to end: Double) {
        self.start = start
        self.end = max(end, start + 0.001)
    }

    mutating func add(_ lane: Lane) {
        lanes.append(lane)
    }

    /// The axis, then the lanes.
    func lines(for terminal: Terminal) -> [String] {
        let margin = (lanes.map(\.label.count).max() ?? 0) + 2
        // Space for an indent, and for the unit after the last number of the
        // axis.
        let columns = min(max(terminal.width - margin - 8, 20), 100)
        var lines = [terminal.styled(String(repeating: " ", count: margin) + axis(columns: columns), .dim)]
        for lane in lanes {
            let padding = String(repeating: " ", count: margin - lane.label.count)
            lines.append(lane.label + padding + drawn(lane, columns: columns, for: terminal))
        }
        return lines
    }

    private func drawn(_ lane: Lane, columns: Int, for terminal: Terminal) -> String {
        var cells = [Fill?](repeating: nil, count: columns)
        for segment in lane.segments where segment.end >= start && segment.start <= end {
            let first = column(of: segment.start, columns)
            // A period ends before the column in which the next one begins.
            let last = segment.end > segment.start ? max(column(of: segment.end, columns) - 1, first) : first
            for index in first...last where (cells[index]?.rawValue ?? -1) < segment.fill.rawValue {
                cells[index] = segment.fill
            }
        }
        while cells.last == .some(nil) { cells.removeLast() }
        var line = ""
        var index = 0
        // One style for a run of equal cells.
        while index < cells.count {
            let fill = cells[index]
            let run = cells[index...].prefix { $0 == fill }.count
            line += text(fill, run, terminal)
            index += run
        }
        if let note = lane.note { line += " " + terminal.styled(note, .dim) }
        return line
    }

    private func text(_ fill: Fill?, _ count: Int, _ terminal: Terminal) -> String {
        guard let glyph = fill?.glyph else { return String(repeating: " ", count: count) }
        let character = terminal.usesSymbols ? glyph.symbol : glyph.plain
        return terminal.styled(String(repeating: character, count: count), glyph.style)
    }

    private func column(of moment: Double, _ columns: Int) -> Int {
        let share = (moment - start) / (end - start)
        return min(max(Int(share * Double(columns)), 0), columns - 1)
    }

    /// Milliseconds at round distances, each at its position.
    private func axis(columns: Int) -> String {
        let length = (end - start) * 1000
        let steps = [50.0, 100, 200, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000]
        let step = steps.first { $0 / length * Double(columns) >= 9 } ?? length
        var line = ""
        var moment = 0.0
        while moment < length {
            let place = Int(moment / length * Double(columns))
            let number = String(Int(moment))
            if place + number.count > columns { break }
            line += String(repeating: " ", count: max(place - line.count, 0)) + number
            moment += step
        }
        return line + " ms"
    }

    /// The meaning of the signs that occur.
    func legend(for terminal: Terminal) -> String {
        let used = Set(lanes.flatMap { $0.segments.map(\.fill) })
        let names: [(Fill, String)] = [
            (.onWire, "on the wire"), (.waiting, "waiting"), (.refused, "401"), (.refresh, "refresh"),
            (.token, "token"), (.leeway, "about to expire"), (.dead, "expired"),
        ]
        return names.filter { used.contains($0.0) }
            .map { "\(text($0.0, 1, terminal)) \($0.1)" }.joined(separator: "   ")
    }
}
