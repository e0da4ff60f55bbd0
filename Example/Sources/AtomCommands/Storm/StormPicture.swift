import Foundation

/// Draws a timeline as an SVG: a row for each request, or for a sample of them, and the refreshes through all rows.
///
/// The text depends on nothing but the timeline and the colours. It needs no
/// other file and no style sheet, which some viewers ignore.
struct StormPicture {
    /// Colours that can be told apart with any kind of colour vision.
    struct Palette: Sendable {
        let paper: String
        let ink: String
        let dim: String
        let grid: String
        let wire: String
        let again: String
        let waiting: String
        let refresh: String
        let refused: String

        static let light = Palette(
            paper: "#ffffff", ink: "#1f2328", dim: "#59636e", grid: "#dfe4ea", wire: "#0072b2", again: "#e08e00",
            waiting: "#a3b1bf", refresh: "#a6498c", refused: "#c4310a")

        static let dark = Palette(
            paper: "#0d1117", ink: "#e6edf3", dim: "#9198a1", grid: "#2b323b", wire: "#56b4e9", again: "#f0a830",
            waiting: "#5d6b7a", refresh: "#e08bc6", refused: "#ff7b54")
    }

    /// The largest number of rows.
    static let mostRows = 80

    private static let left = 84.0
    private static let right = 976.0
    private static let top = 128.0
    private static let pitch = 10.0

    private let timeline: Timeline
    private let palette: Palette
    private let rows: [Timeline.Request]
    /// Of this many requests one is drawn.
    private let stride: Int
    /// Where the axis begins, in seconds of the timeline: at the first request.
    private let origin: Double
    /// The length of the axis in seconds.
    private let length: Double

    init(_ timeline: Timeline, _ palette: Palette) {
        self.timeline = timeline
        self.palette = palette
        let stride = max((timeline.requests.count + Self.mostRows - 1) / Self.mostRows, 1)
        self.stride = stride
        rows = timeline.requests.filter { ($0.number - 1) % stride == 0 }
        let spans = timeline.requests.flatMap(\.spans) + timeline.refreshes
        origin = spans.map(\.start).min() ?? 0
        length = max((spans.map(\.end).max() ?? 0) - origin, 0.001)
    }

    private var bottom: Double { Self.top + Double(rows.count) * Self.pitch }

    private func x(_ seconds: Double) -> Double {
        Self.left + min(max((seconds - origin) / length, 0), 1) * (Self.right - Self.left)
    }

    /// The text of the file.
    func svg() -> String {
        let requests = timeline.requests
        let title = "Storm of \(requests.count) requests"
        let refreshes = timeline.refreshes.count
        let subtitle = """
            \(requests.count { !$0.isFailed }) answered, \(requests.count(where: \.isFailed)) failed, \
            \(requests.reduce(0) { $0 + $1.refusals.count }) × 401, \(refreshes) refresh\(refreshes == 1 ? "" : "es"); \
            \(stride == 1 ? "each request" : "every \(stride)th request"), in the order of their start
            """
        let head = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 \(Int(bottom) + 56)" width="1000" \
            height="\(Int(bottom) + 56)" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" role="img" \
            aria-label="\(title): \(subtitle)">
            """,
            bar(palette.paper, from: 0, to: 1000, y: 0, height: bottom + 56),
            text(title, x: Self.left, y: 36, size: 18, palette.ink),
            text(subtitle, x: Self.left, y: 58, size: 13, palette.dim),
        ]
        let shapes = timeline.refreshes.flatMap(drawn) + rows.enumerated().flatMap(drawn)
        return (head + legend() + axis() + shapes + ["</svg>", ""]).joined(separator: "\n")
    }

    // MARK: Parts

    private func legend() -> [String] {
        let entries = [
            (palette.wire, "on the wire"), (palette.again, "on the wire again, after a 401"),
            (palette.waiting, "waiting for a connection or a refresh"), (palette.refresh, "refresh"),
            (palette.refused, "401"),
        ]
        var place = Self.left
        return entries.flatMap { fill, words in
            defer { place += 38 + Double(words.count) * 5.6 }
            return [bar(fill, from: place, to: place + 12, y: 75, height: 10), small(words, x: place + 18, y: 84)]
        }
    }

    private func axis() -> [String] {
        let power = pow(10, floor(log10(length / 8)))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= length / 8 } ?? length
        let marks = Swift.stride(from: 0, through: length, by: step).flatMap { moment in
            let place = x(origin + moment)
            return [
                bar(palette.grid, from: place, to: place + 1, y: Self.top - 22, height: bottom + 30 - Self.top),
                small(String(format: "%.10g", moment * 1000), x: place, y: bottom + 24, .middle),
            ]
        }
        return marks + [small("milliseconds", x: Self.right, y: bottom + 42, .end)]
    }

    private func drawn(_ refresh: Timeline.Span) -> [String] {
        let (start, end) = (x(refresh.start), x(refresh.end))
        let height = bottom + 30 - Self.top
        return [
            bar(palette.refresh, from: start, to: end, y: Self.top - 22, height: height, opacity: 0.18),
            bar(palette.refresh, from: start, to: end, y: Self.top - 22, height: 10),
        ]
    }

    private func drawn(_ index: Int, _ request: Timeline.Request) -> [String] {
        let y = Self.top + Double(index) * Self.pitch
        let spans = request.spans.map { drawn($0, in: y) }
        let refusals = request.refusals.map { bar(palette.refused, from: x($0), to: x($0) + 2, y: y, height: 9) }
        let label = index % 5 == 0 ? [small("\(request.number)", x: Self.left - 8, y: y + 8, .end)] : []
        let failure = request.isFailed ? [small("failed", x: x(request.spans.last?.end ?? 0), y: y + 8)] : []
        return label + spans + refusals + failure
    }

    private func drawn(_ span: Timeline.Span, in row: Double) -> String {
        let (start, end) = (x(span.start), x(span.end))
        return switch span.phase {
        // Waiting is a thinner bar, so that it can be told without colours.
        case .waiting: bar(palette.waiting, from: start, to: end, y: row + 3, height: 3)
        case .wire: bar(palette.wire, from: start, to: end, y: row + 1, height: 7)
        case .again: bar(palette.again, from: start, to: end, y: row + 1, height: 7)
        }
    }

    // MARK: Elements

    private enum Anchor { case start, middle, end }

    private func small(_ words: String, x: Double, y: Double, _ anchor: Anchor = .start) -> String {
        text(words, x: x, y: y, size: 11, palette.dim, anchor)
    }

    private func text(
        _ words: String, x: Double, y: Double, size: Int, _ fill: String, _ anchor: Anchor = .start
    ) -> String {
        """
        <text x="\(number(x))" y="\(number(y))" font-size="\(size)" text-anchor="\(anchor)" \
        fill="\(fill)">\(words)</text>
        """
    }

    /// A bar that is seen however short it is.
    private func bar(
        _ fill: String, from x: Double, to end: Double, y: Double, height: Double, opacity: Double = 1
    ) -> String {
        let transparency = opacity < 1 ? #" fill-opacity="\#(opacity)""# : ""
        return """
            <rect x="\(number(x))" y="\(number(y))" width="\(number(max(end - x, 0.8)))" height="\(number(height))" \
            fill="\(fill)"\(transparency)/>
            """
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
