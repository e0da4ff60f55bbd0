/// Expectations, their results, and whether all of them were met.
///
/// On a terminal a line starts with a mark, and a detail that doesn't fit next
/// to its text is on the next line. In a pipe a line starts with `ok` or `FAIL`
/// and contains everything.
///
/// ```swift
/// var checklist = Checklist(on: .standardOutput)
/// checklist.check(flights.count == 6, "6 flights listed", detail: "12 ms")
/// exit(checklist.isPassed ? 0 : 1)
/// ```
public struct Checklist: Sendable {
    private let terminal: Terminal

    /// The number of passed checks.
    public private(set) var passed = 0

    /// The number of failed checks.
    public private(set) var failed = 0

    /// Creates an empty list that writes each line immediately.
    public init(on terminal: Terminal) {
        self.terminal = terminal
    }

    /// Whether no check has failed.
    public var isPassed: Bool { failed == 0 }

    /// Writes a heading for the next lines.
    public func section(_ title: String) {
        terminal.print()
        terminal.print(terminal.styled(title, .bold))
    }

    /// Writes a line and counts it.
    ///
    /// - Parameters:
    ///   - isAsExpected: Whether the check passed.
    ///   - text: What was done or expected.
    ///   - detail: The result.
    /// - Returns: Whether the check passed.
    @discardableResult
    public mutating func check(_ isAsExpected: Bool, _ text: String, detail: String? = nil) -> Bool {
        if isAsExpected {
            passed += 1
        } else {
            failed += 1
        }
        let mark =
            terminal.usesSymbols ? (isAsExpected ? "✓" : "✗") : (isAsExpected ? "ok  " : "FAIL")
        let styledMark = terminal.styled(mark, isAsExpected ? .green : .red)
        let line = "  \(styledMark) \(text)"
        guard let detail, !detail.isEmpty else {
            terminal.print(line)
            return isAsExpected
        }
        let styledDetail = terminal.styled(detail, .dim)
        if terminal.isInteractive, TextWidth.of(line) + 2 + TextWidth.of(detail) > terminal.width {
            terminal.print(line)
            terminal.print("    \(styledDetail)")
        } else {
            terminal.print("\(line)  \(styledDetail)")
        }
        return isAsExpected
    }

    /// Writes a line that doesn't count: what isn't checked here, and why.
    public func note(_ text: String) {
        terminal.print("  \(terminal.styled("\(terminal.usesSymbols ? "–" : "--  ") \(text)", .dim))")
    }

    /// Writes how many checks passed.
    public func summarize() {
        let count = passed + failed
        terminal.print()
        if isPassed {
            terminal.print(terminal.styled("All \(count) checks passed.", .green, .bold))
        } else {
            terminal.print(terminal.styled("\(failed) of \(count) checks failed.", .red, .bold))
        }
    }
}
