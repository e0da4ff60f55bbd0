/// Expectations, their results, and whether all of them were met.
///
/// On a terminal a line starts with a mark, in a pipe with `ok` or `FAIL`.
struct Checklist {
    private let terminal: Terminal
    private var passed = 0
    private var failed = 0

    /// It writes each line immediately.
    init(on terminal: Terminal) { self.terminal = terminal }

    /// Whether no check has failed.
    var isPassed: Bool { failed == 0 }

    /// Writes a heading for the next lines.
    func section(_ title: String) {
        terminal.print()
        terminal.print(terminal.styled(title, .bold))
    }

    /// Writes a line and counts it.
    ///
    /// - Parameters:
    ///   - isAsExpected: Whether the check passed.
    ///   - text: What was done or expected.
    ///   - detail: The result.
    mutating func check(_ isAsExpected: Bool, _ text: String, detail: String? = nil) {
        if isAsExpected { passed += 1 } else { failed += 1 }
        let marks = terminal.usesSymbols ? ("✓", "✗") : ("ok  ", "FAIL")
        let mark = terminal.styled(isAsExpected ? marks.0 : marks.1, isAsExpected ? .green : .red)
        terminal.print("  \(mark) \(text)" + (detail.map { "  " + terminal.styled($0, .dim) } ?? ""))
    }

    /// Writes how many checks passed.
    func summarize() {
        terminal.print()
        if isPassed {
            terminal.print(terminal.styled("All \(passed) checks passed.", .green, .bold))
        } else {
            terminal.print(terminal.styled("\(failed) of \(passed + failed) checks failed.", .red, .bold))
        }
    }
}
