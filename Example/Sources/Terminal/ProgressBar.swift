import Foundation

/// A progress bar.
///
/// On a terminal it redraws one line, at most ten times a second, and removes
/// it at the end. In a pipe it writes nothing. Several tasks may use it at
/// once.
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

    /// Creates a bar at zero, which is drawn after the first step.
    ///
    /// - Parameters:
    ///   - label: The name of the work.
    ///   - total: The number of steps.
    ///   - terminal: The terminal to draw on.
    ///   - now: The seconds of a clock that doesn't run backwards.
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

    /// Adds completed steps.
    public func advance(by steps: Int = 1) {
        lock.withLock {
            done = min(done + steps, total)
            guard terminal.isInteractive, !isFinished else { return }
            let time = now()
            if let drawnAt, time - drawnAt < 0.1, done < total { return }
            drawnAt = time
            terminal.redraw(line)
        }
    }

    /// Ends the bar, whether the work is complete or not, and removes it.
    public func finish() {
        lock.withLock {
            guard !isFinished else { return }
            isFinished = true
            if drawnAt != nil { terminal.redraw("") }
        }
    }

    private var line: String {
        let count = "\(done)/\(total)"
        let room = min(max(terminal.width - label.count - count.count - 10, 5), 40)
        return "\(label) \(terminal.bar(Double(done) / Double(total), width: room)) \(count)"
    }
}

extension Terminal {
    /// A bar that is filled up to a fraction, from 0 to 1.
    public func bar(_ fraction: Double, width: Int) -> String {
        let width = max(width, 0)
        let filled = Int((min(max(fraction, 0), 1) * Double(width)).rounded(.down))
        let full = String(repeating: usesSymbols ? "█" : "#", count: filled)
        let empty = String(repeating: usesSymbols ? "░" : ".", count: width - filled)
        return styled(full, .green) + styled(empty, .dim)
    }

    /// Replaces the line that the cursor is in, which must not be wider than the
    /// terminal; an empty text removes it.
    ///
    /// Only an interactive terminal can do that.
    public func redraw(_ line: String) {
        // Return to the start of the line, overwrite it, and clear the rest.
        write("\r\(line)\u{1B}[K")
    }
}
