import Foundation

/// Draws the timeline of a storm as an SVG.
///
/// The text depends on nothing but the timeline. It needs no other file, and
/// its colours follow the reader's choice of light or dark.
struct StormPicture: Sendable {
    private let timeline: StormTimeline
    private let concurrency: Int
    private let server: String?

    /// - Parameters:
    ///   - timeline: What happened.
    ///   - concurrency: The largest number of requests at once.
    ///   - server: The server's address; `nil` for one in the same process.
    init(_ timeline: StormTimeline, concurrency: Int, server: String? = nil) {
        self.timeline = timeline
        self.concurrency = concurrency
        self.server = server
    }

    // MARK: Places

    private static let width = 1000.0
    private static let left = 84.0
    private static let right = 976.0
    private static let loadTop = 128.0
    private static let loadBottom = 228.0
    private static let refreshTop = 258.0
    private static let refreshBottom = 268.0
    private static let rowsTop = 302.0

    /// From one row to the next.
    private var pitch: Double {
        switch timeline.rows.count {
        case ...24: 16
        case ...48: 12
        default: 9
        }
    }

    private var rowsBottom: Double { Self.rowsTop + Double(max(timeline.rows.count, 1)) * pitch }

    private var height: Double { rowsBottom + 52 }

    /// The length of the axis in seconds.
    private var length: Double { max(timeline.end, 0.001) }

    private func x(_ seconds: Double) -> Double {
        Self.left + min(max(seconds / length, 0), 1) * (Self.right - Self.left)
    }

    // MARK: The whole

    /// The text of the file.
    func svg() -> String {
        let size = "\(Self.number(Self.width)) \(Self.number(height))"
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            """
            <svg xmlns="http://www.w3.org/2000/svg" class="storm" viewBox="0 0 \(size)" width="\(Int(Self.width))" \
            height="\(Int(height.rounded(.up)))" role="img" aria-labelledby="storm-title storm-description">
            """,
            #"<title id="storm-title">\#(Self.escaped(title))</title>"#,
            #"<desc id="storm-description">\#(Self.escaped(description))</desc>"#,
            "<style>", Self.style, "</style>",
            #"<rect class="paper" width="100%" height="100%"/>"#,
            Self.text(title, x: Self.left, y: 36, "heading"),
            Self.text(subtitle, x: Self.left, y: 58, "dim"),
        ]
        lines += legend()
        lines += axis()
        lines += load()
        lines += bands()
        lines += refreshes()
        lines += rows()
        lines.append("</svg>")
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Words

    private var title: String { "Storm of \(Self.counted(timeline.planned, "request"))" }

    private var outcomes: String {
        var parts = [
            "\(Self.grouped(timeline.requestCount - timeline.failedCount - timeline.cancelledCount)) answered",
            "\(Self.grouped(timeline.failedCount)) failed",
        ]
        if timeline.cancelledCount > 0 { parts.append("\(Self.grouped(timeline.cancelledCount)) cancelled") }
        let unsent = timeline.planned - timeline.requestCount
        if unsent > 0 { parts.append("\(Self.grouped(unsent)) not sent") }
        parts.append("\(Self.grouped(timeline.refusedCount)) × 401")
        parts.append(Self.counted(timeline.refreshCount, "refresh", "refreshes"))
        return parts.joined(separator: ", ")
    }

    private var subtitle: String {
        // Last, because it may be longer than the picture is wide.
        let place = server.map { "; server: \($0)" } ?? ""
        return "\(Self.grouped(concurrency)) at once, \(Self.duration(timeline.end)): \(outcomes)\(place)"
    }

    private var description: String {
        """
        What happened to the requests in \(Self.duration(timeline.end)): \(outcomes). \(loadHeading). \
        \(refreshHeading). \(rowsHeading).
        """
    }

    private var loadHeading: String {
        let interval = Self.number(timeline.load.interval * 1000)
        return "All requests: how many there were at once, averaged over \(interval) ms"
    }

    private var refreshHeading: String {
        guard timeline.refreshCount > 0 else { return "No refresh" }
        let hidden = timeline.refreshCount - timeline.refreshes.count
        let end = hidden > 0 ? "; \(Self.grouped(hidden)) later ones are not drawn" : ""
        return "Refreshes, whose time is marked in the whole picture" + end
    }

    private var rowsHeading: String {
        guard !timeline.rows.isEmpty else { return "No request was sent" }
        let stride = timeline.stride
        let start = stride == 1 ? "Each request" : "A sample: every \(Self.ordinal(stride)) request"
        return "\(start), in the order of their start"
    }

    // MARK: Parts

    /// The meaning of the colours that occur.
    private func legend() -> [String] {
        let rows = timeline.rows
        let load = timeline.load
        let hasFailure = rows.contains { $0.outcome == .failed } || timeline.refreshes.contains { !$0.isSuccessful }
        let entries: [(name: String, sign: String, isUsed: Bool)] = [
            ("on the wire", "wire", load.contains(.onWire)),
            ("on the wire again, after a 401", "again", load.contains(.again)),
            ("waiting for a connection or a refresh", "waiting", load.contains(.waiting)),
            ("refresh", "refresh", !timeline.refreshes.isEmpty),
            ("401", "refused", rows.contains { !$0.refusals.isEmpty }),
            ("failed", "failed", hasFailure),
            ("cancelled", "cancelled", rows.contains { $0.outcome == .cancelled }),
        ]
        var place = Self.left
        return entries.filter(\.isUsed).flatMap { entry in
            let start = place
            // The width of the letters is not known, so there is some to spare.
            place += 40 + Double(entry.name.count) * 6.2
            return [
                sign(entry.sign, at: start + 6, y: 80),
                Self.text(entry.name, x: start + 18, y: 84, "small"),
            ]
        }
    }

    private func sign(_ name: String, at x: Double, y: Double) -> String {
        switch name {
        case "refused": Self.tick(x: x, y: y - 6, height: 12)
        case "failed", "cancelled": Self.cross(name, x: x, y: y)
        default: Self.bar(name, from: x - 6, to: x + 6, y: y - 5, height: 10)
        }
    }

    private func axis() -> [String] {
        let isInSeconds = length >= 2
        let unit = isInSeconds ? 1 : 0.001
        let step = Self.roundStep(length / unit / 8)
        let bottom = rowsBottom + 8
        var lines: [String] = []
        var index = 0.0
        while index * step * unit <= length, index <= 20 {
            let place = Self.number(x(index * step * unit))
            lines.append(
                """
                <line class="grid" x1="\(place)" x2="\(place)" y1="\(Self.number(Self.loadTop))" \
                y2="\(Self.number(bottom))"/>
                """)
            lines.append(
                Self.text(Self.number(index * step), x: x(index * step * unit), y: bottom + 16, "small middle"))
            index += 1
        }
        lines.append(
            Self.text(isInSeconds ? "seconds" : "milliseconds", x: Self.right, y: bottom + 34, "small end"))
        return lines
    }

    /// The refreshes, through the whole picture.
    private func bands() -> [String] {
        timeline.refreshes.map { refresh in
            Self.bar("band", from: x(refresh.start), to: x(refresh.end), y: Self.loadTop, to: rowsBottom + 8)
        }
    }

    private func load() -> [String] {
        let load = timeline.load
        let averages = (0..<load.count).map { index in
            StormTimeline.Phase.allCases.map { load.average($0, during: index, until: length) }
        }
        let top = Self.roundTop(averages.map { $0.reduce(0, +) }.max() ?? 0)
        func y(_ count: Double) -> Double {
            Self.loadBottom - min(count / top, 1) * (Self.loadBottom - Self.loadTop)
        }
        var lines = [Self.text(loadHeading, x: Self.left, y: Self.loadTop - 12, "small strong")]
        for count in [0, top] {
            lines.append(Self.text(Self.grouped(Int(count)), x: Self.left - 8, y: y(count) + 4, "small end"))
            lines.append(
                """
                <line class="grid" x1="\(Self.number(Self.left))" x2="\(Self.number(Self.right))" \
                y1="\(Self.number(y(count)))" y2="\(Self.number(y(count)))"/>
                """)
        }
        var base = [Double](repeating: 0, count: averages.count)
        for phase in StormTimeline.Phase.allCases {
            let upper = zip(base, averages).map { $0 + $1[phase.rawValue] }
            if upper != base {
                lines.append(area(Self.name(of: phase), from: base.map(y), to: upper.map(y), every: load.interval))
            }
            base = upper
        }
        return lines
    }

    /// Steps along the upper edge, and back along the lower one.
    private func area(_ name: String, from lower: [Double], to upper: [Double], every interval: Double) -> String {
        var path = ""
        func go(to x: Double, _ y: Double) { path += "\(path.isEmpty ? "M" : "L")\(Self.number(x)) \(Self.number(y))" }
        for (index, y) in upper.enumerated() {
            go(to: x(Double(index) * interval), y)
            go(to: x(Double(index + 1) * interval), y)
        }
        for (index, y) in lower.enumerated().reversed() {
            go(to: x(Double(index + 1) * interval), y)
            go(to: x(Double(index) * interval), y)
        }
        return #"<path class="\#(name)" d="\#(path)Z"/>"#
    }

    private func refreshes() -> [String] {
        let heading = Self.text(refreshHeading, x: Self.left, y: Self.refreshTop - 10, "small strong")
        return [heading]
            + timeline.refreshes.flatMap { refresh in
                let words = "Refresh, \(Self.duration(refresh.end - refresh.start))"
                let bar = Self.bar(
                    "refresh", from: x(refresh.start), to: x(refresh.end), y: Self.refreshTop, to: Self.refreshBottom)
                let cross =
                    refresh.isSuccessful
                    ? [] : [Self.cross("failed", x: x(refresh.end), y: (Self.refreshTop + Self.refreshBottom) / 2)]
                return Self.group(words + (refresh.isSuccessful ? "" : ", failed"), [bar] + cross)
            }
    }

    private func rows() -> [String] {
        var lines = [Self.text(rowsHeading, x: Self.left, y: Self.rowsTop - 12, "small strong")]
        for (index, request) in timeline.rows.sorted(by: { $0.number < $1.number }).enumerated() {
            let y = Self.rowsTop + Double(index) * pitch
            // Where the rows are narrow there is no room for each number.
            if pitch > 9 || index % 5 == 0 {
                let label = Self.grouped(request.number)
                lines.append(Self.text(label, x: Self.left - 8, y: y + pitch / 2 + 3, "small end"))
            }
            lines += Self.group(words(on: request), drawn(request, y: y))
        }
        return lines
    }

    private func drawn(_ request: StormTimeline.Request, y: Double) -> [String] {
        let height = pitch * 0.7
        let middle = y + pitch / 2
        var lines = request.phases.map { phase, start, end in
            // Waiting is a thinner bar, so that it can be told without colours.
            let thickness = phase == .waiting ? height * 0.4 : height
            return Self.bar(
                Self.name(of: phase), from: x(start), to: x(end), y: middle - thickness / 2, height: thickness)
        }
        lines += request.refusals.map { Self.tick(x: x($0), y: y, height: pitch) }
        switch request.outcome {
        case .answered: break
        case .failed: lines.append(Self.cross("failed", x: x(request.end), y: middle))
        case .cancelled: lines.append(Self.cross("cancelled", x: x(request.end), y: middle))
        }
        return lines
    }

    private func words(on request: StormTimeline.Request) -> String {
        var words = "Request \(Self.grouped(request.number)), \(Self.duration(request.end - request.start))"
        for (phase, name) in [
            (StormTimeline.Phase.waiting, "waiting"), (.onWire, "on the wire"), (.again, "on the wire again"),
        ] where request.seconds(phase) > 0 {
            words += ", \(name) \(Self.duration(request.seconds(phase)))"
        }
        switch request.outcome {
        case .answered: return words
        case .failed: return words + ", failed"
        case .cancelled: return words + ", cancelled"
        }
    }

    private static func name(of phase: StormTimeline.Phase) -> String {
        switch phase {
        case .onWire: "wire"
        case .again: "again"
        case .waiting: "waiting"
        }
    }
}

// MARK: - Elements

extension StormPicture {
    private static func text(_ text: String, x: Double, y: Double, _ classes: String) -> String {
        #"<text class="\#(classes)" x="\#(number(x))" y="\#(number(y))">\#(escaped(text))</text>"#
    }

    /// A bar that is seen however short it is.
    private static func bar(_ name: String, from x: Double, to end: Double, y: Double, height: Double) -> String {
        """
        <rect class="\(name)" x="\(number(x))" y="\(number(y))" width="\(number(max(end - x, 0.8)))" \
        height="\(number(height))"/>
        """
    }

    private static func bar(_ name: String, from x: Double, to end: Double, y: Double, to bottom: Double) -> String {
        bar(name, from: x, to: end, y: y, height: bottom - y)
    }

    private static func tick(x: Double, y: Double, height: Double) -> String {
        #"<path class="refused" d="M\#(number(x)) \#(number(y))v\#(number(height))"/>"#
    }

    private static func cross(_ name: String, x: Double, y: Double) -> String {
        #"<path class="\#(name)" d="M\#(number(x - 3)) \#(number(y - 3))l6 6m0 -6l-6 6"/>"#
    }

    /// Elements with a text that is shown when one points at them.
    private static func group(_ title: String, _ elements: [String]) -> [String] {
        ["<g><title>\(escaped(title))</title>"] + elements + ["</g>"]
    }

    /// The text as the content of an element or an attribute, without what XML
    /// doesn't allow.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in ResponsePrinter.printable(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    // MARK: Numbers

    /// At most two digits after the point, and no exponent.
    private static func number(_ value: Double) -> String {
        let hundredths = Int((min(max(value, -1e9), 1e9) * 100).rounded())
        let sign = hundredths < 0 ? "-" : ""
        let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
        guard rest > 0 else { return "\(sign)\(whole)" }
        return "\(sign)\(whole)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
    }

    /// `12,345`.
    static func grouped(_ count: Int) -> String {
        var digits = Array(String(count))
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: place)
            place -= 3
        }
        return String(digits)
    }

    private static func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(grouped(count)) \(count == 1 ? one : many ?? one + "s")"
    }

    static func ordinal(_ number: Int) -> String {
        let ending =
            switch (number % 10, number % 100) {
            case (_, 11...13): "th"
            case (1, _): "st"
            case (2, _): "nd"
            case (3, _): "rd"
            default: "th"
            }
        return grouped(number) + ending
    }

    private static func duration(_ seconds: Double) -> String {
        LatencyText(usesSymbols: true).text(.seconds(seconds))
    }

    /// 1, 2 or 5 times a power of ten, and not less than a value.
    private static func roundStep(_ value: Double) -> Double {
        let power = pow(10, floor(log10(max(value, 1e-9))))
        return [1, 2, 5].map { $0 * power }.first { $0 >= value } ?? 10 * power
    }

    /// A whole number of requests that leaves little room above a value.
    private static func roundTop(_ value: Double) -> Double {
        // A sum of fractions may be a little more than the whole number it is.
        let step = max(roundStep(value / 5 - 0.001), 1)
        return max((value / step - 0.001).rounded(.up) * step, 1)
    }

    /// The colours can be told apart with any kind of colour vision.
    private static let style = """
        .storm { --paper: #ffffff; --ink: #1f2328; --dim: #59636e; --grid: #dfe4ea; --wire: #0072b2; --again: #e08e00; \
        --waiting: #a3b1bf; --refresh: #a6498c; --band: 0.16; --red: #c4310a; color-scheme: light dark; }
        @media (prefers-color-scheme: dark) { .storm { --paper: #0d1117; --ink: #e6edf3; --dim: #9198a1; \
        --grid: #2b323b; --wire: #56b4e9; --again: #f0a830; --waiting: #5d6b7a; --refresh: #e08bc6; --band: 0.22; \
        --red: #ff7b54; } }
        .storm text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
        .storm .heading { font-size: 18px; font-weight: 600; }
        .storm .small { font-size: 11px; fill: var(--dim); }
        .storm .strong { fill: var(--ink); }
        .storm .dim { fill: var(--dim); }
        .storm .end { text-anchor: end; }
        .storm .middle { text-anchor: middle; }
        .storm .paper { fill: var(--paper); }
        .storm .grid { stroke: var(--grid); stroke-width: 1; }
        .storm .wire { fill: var(--wire); }
        .storm .again { fill: var(--again); }
        .storm .waiting { fill: var(--waiting); }
        .storm .refresh { fill: var(--refresh); }
        .storm .band { fill: var(--refresh); opacity: var(--band); }
        .storm .refused { stroke: var(--red); stroke-width: 2; fill: none; }
        .storm .failed { stroke: var(--red); stroke-width: 1.8; fill: none; }
        .storm .cancelled { stroke: var(--dim); stroke-width: 1.8; fill: none; }
        """
}
