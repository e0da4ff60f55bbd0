import Foundation

/// A bar that fills up while work is done.
///
/// On a terminal it redraws one line, ten times a second at most, and takes it
/// away in the end. In a pipe it writes nothing. It may be used from several
/// tasks at once.
///
/// ```swift
/// let progress = ProgressBar("Storm", total: 10_000, on: .standardError)
/// progress.advance()
/// progress.finish()
/// ```
public final class ProgressBar: @unchecked Sendable {
    private let label: String
    private let total: Int
    private let terminal: Terminal
    private let now: @Sendable () -> TimeInterval
    private let lock = NSLock()
    private var done = 0
    private var drawnAt: TimeInterval?
    private var isFinished = false

    /// A bar at zero, drawn when the first step is done.
    ///
    /// - Parameters:
    ///   - label: What is being done.
    ///   - total: How many steps there are.
    ///   - terminal: Where to draw.
    ///   - now: Seconds of a clock that doesn't run backwards.
    public init(
        _ label: String,
        total: Int,
        on terminal: Terminal,
        now: @escaping @Sendable () -> TimeInterval = { ProcessInfo.processInfo.systemUptime }
    ) {
        self.label = label
        self.total = max(total, 1)
        self.terminal = terminal
        self.now = now
    }

    /// Some steps are done.
    public func advance(by steps: Int = 1) {
        lock.withLock {
            done = min(done + steps, total)
            guard terminal.isInteractive, !isFinished else { return }
            let time = now()
            if let drawnAt, time - drawnAt < 0.1, done < total { return }
            drawnAt = time
            // Back to the start of the line, over what was there, and the rest of it cleared.
            terminal.write("\r\(line)\u{1B}[K")
        }
    }

    /// The work is over, whether all of it was done or not: the bar disappears.
    public func finish() {
        lock.withLock {
            guard !isFinished else { return }
            isFinished = true
            if drawnAt != nil { terminal.write("\r\u{1B}[K") }
        }
    }

    private var line: String {
        let count = "\(done)/\(total)"
        let room = min(max(terminal.width - label.count - count.count - 10, 5), 40)
        let filled = done * room / total
        let full = String(repeating: terminal.usesSymbols ? "█" : "#", count: filled)
        let empty = String(repeating: terminal.usesSymbols ? "░" : ".", count: room - filled)
        return "\(label) \(terminal.styled(full, .green))\(terminal.styled(empty, .dim)) \(count)"
    }
}
