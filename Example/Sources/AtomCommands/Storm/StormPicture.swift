import Foundation

/// Draws a timeline as an SVG: a row for each request, or for a sample of them,
/// and the refreshes through all rows.
///
/// The text depends on nothing but the timeline. It needs no other file, and
/// its colours follow the reader's choice of light or dark.
struct StormPicture {
    /// The largest number of rows.
    static let mostRows = 80

    private static let left = 84.0
    private static let right = 976.0
    private static let top = 128.0
    private static let pitch = 10.0

    private let timeline: Timeline
    private let rows: [Timeline.Request]
    /// Of this many requests one is drawn.
    private let stride: Int
    /// The length of the axis in seconds.
    private let length: Double

    init(_ timeline: Timeline) {
        self.timeline = timeline
        let stride = max((timeline.requests.count + Self.mostRows - 1) / Self.mostRows, 1)
        self.stride = stride
        rows = timeline.requests.filter { ($0.number - 1) % stride == 0 }
        let ends = timeline.requests.compactMap { $0.spans.last?.end } + timeline.refreshes.map(\.end)
        length = max(ends.max() ?? 0, 0.001)
    }

    private var bottom: Double { Self.top + Double(rows.count) * Self.pitch }

    private func x(_ seconds: Double) -> Double {
        Self.left + min(max(seconds / length, 0), 1) * (Self.right - Self.left)
    }

    /// The text of the file.
    func svg() -> String {
        let requests = timeline.requests
        let title = "Storm of \(requests.count) requests"
        let subtitle = """
            \(requests.count { !$0.isFailed }) answered, \(requests.count(where: \.isFailed)) failed, \
            \(requests.reduce(0) { $0 + $1.refusals.count }) × 401, \(timeline.refreshes.count) refreshes; \
            \(stride == 1 ? "each request" : "every \(stride)th request"), in the order of their start
            """
        let lines =
            [
                """
                <svg xmlns="http://www.w3.org/2000/svg" class="storm" viewBox="0 0 1000 \(Int(bottom) + 56)" \
                width="1000" height="\(Int(bottom) + 56)" role="img" aria-label="\(title): \(subtitle)">
                """,
                "<style>", Self.style, "</style>", #"<rect class="paper" width="100%" height="100%"/>"#,
                text(title, "heading", x: Self.left, y: 36), text(subtitle, "dim", x: Self.left, y: 58),
            ] + legend() + axis() + timeline.refreshes.flatMap(drawn) + rows.enumerated().flatMap(drawn) + ["</svg>"]
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Parts

    private func legend() -> [String] {
        let entries = [
            ("wire", "on the wire"), ("again", "on the wire again, after a 401"),
            ("waiting", "waiting for a connection or a refresh"), ("refresh", "refresh"), ("refused", "401"),
        ]
        var place = Self.left
        return entries.flatMap { name, words in
            defer { place += 40 + Double(words.count) * 6.2 }
            return [
                bar(name, from: place, to: place + 12, y: 75, height: 10),
                text(words, "small", x: place + 18, y: 84),
            ]
        }
    }

    private func axis() -> [String] {
        let power = pow(10, floor(log10(length / 8)))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= length / 8 } ?? length
        let marks = Swift.stride(from: 0, through: length, by: step).flatMap { moment in
            [
                bar("grid", from: x(moment), to: x(moment) + 1, y: Self.top - 22, height: bottom + 30 - Self.top),
                text("\((moment * 1_000_000).rounded() / 1000)", "small middle", x: x(moment), y: bottom + 24),
            ]
        }
        return marks + [text("milliseconds", "small end", x: Self.right, y: bottom + 42)]
    }

    private func drawn(_ refresh: Timeline.Span) -> [String] {
        let (start, end) = (x(refresh.start), x(refresh.end))
        return [
            bar("band", from: start, to: end, y: Self.top - 22, height: bottom + 30 - Self.top),
            bar("refresh", from: start, to: end, y: Self.top - 22, height: 10),
        ]
    }

    private func drawn(_ index: Int, _ request: Timeline.Request) -> [String] {
        let y = Self.top + Double(index) * Self.pitch
        // Waiting is a thinner bar, so that it can be told without colours.
        let spans = request.spans.map { span in
            span.phase == .waiting
                ? bar("waiting", from: x(span.start), to: x(span.end), y: y + 3, height: 3)
                : bar(span.phase.rawValue, from: x(span.start), to: x(span.end), y: y + 1, height: 7)
        }
        let refusals = request.refusals.map { bar("refused", from: x($0), to: x($0) + 2, y: y, height: 9) }
        let label = index % 5 == 0 ? [text("\(request.number)", "small end", x: Self.left - 8, y: y + 8)] : []
        let failure = request.isFailed ? [text("failed", "small", x: x(request.spans.last?.end ?? 0), y: y + 8)] : []
        return label + spans + refusals + failure
    }

    // MARK: Elements

    private func text(_ text: String, _ classes: String, x: Double, y: Double) -> String {
        #"<text class="\#(classes)" x="\#(number(x))" y="\#(number(y))">\#(text)</text>"#
    }

    /// A bar that is seen however short it is.
    private func bar(_ name: String, from x: Double, to end: Double, y: Double, height: Double) -> String {
        """
        <rect class="\(name)" x="\(number(x))" y="\(number(y))" width="\(number(max(end - x, 0.8)))" \
        height="\(number(height))"/>
        """
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }

    /// The colours can be told apart with any kind of colour vision.
    private static let style = """
        .storm { --paper: #ffffff; --ink: #1f2328; --dim: #59636e; --grid: #dfe4ea; --wire: #0072b2; --again: #e08e00; \
        --waiting: #a3b1bf; --refresh: #a6498c; --red: #c4310a; color-scheme: light dark; }
        @media (prefers-color-scheme: dark) { .storm { --paper: #0d1117; --ink: #e6edf3; --dim: #9198a1; \
        --grid: #2b323b; --wire: #56b4e9; --again: #f0a830; --waiting: #5d6b7a; --refresh: #e08bc6; --red: #ff7b54; } }
        .storm text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
        .storm .heading { font-size: 18px; font-weight: 600; }
        .storm .small { font-size: 11px; fill: var(--dim); }
        .storm .dim { fill: var(--dim); }
        .storm .end { text-anchor: end; }
        .storm .middle { text-anchor: middle; }
        .storm .paper { fill: var(--paper); }
        .storm .grid { fill: var(--grid); }
        .storm .wire { fill: var(--wire); }
        .storm .again { fill: var(--again); }
        .storm .waiting { fill: var(--waiting); }
        .storm .refresh { fill: var(--refresh); }
        .storm .band { fill: var(--refresh); opacity: 0.18; }
        .storm .refused { fill: var(--red); }
        """
}
