import AtomNetworking
import Foundation
import Terminal

/// Shows how far a transfer is.
///
/// On a terminal it redraws one line, at most ten times a second. In a pipe it
/// writes lines: one for each further tenth, or for each further second if the
/// total isn't known, and never more than one a second. The last line, which
/// says how much it was, is always written.
final class TransferMeter: @unchecked Sendable {
    private let label: String
    private let terminal: Terminal
    private let now: @Sendable () -> Double
    private let lock = NSLock()
    private var rate = TransferRate()
    private var latest: TransferProgress?
    private var shownAt: Double?
    private var shownTenths = 0
    private var isFinished = false

    /// - Parameters:
    ///   - label: What is done, for the terminal.
    ///   - terminal: The terminal to draw on.
    ///   - now: The seconds of a clock that doesn't run backwards.
    init(_ label: String, on terminal: Terminal, now: @escaping @Sendable () -> Double) {
        self.label = label
        self.terminal = terminal
        self.now = now
    }

    /// The last progress; `nil` if nothing was sent or received.
    var progress: TransferProgress? { lock.withLock { latest } }

    /// Notes a progress, and shows it if it is time.
    func update(_ progress: TransferProgress) {
        lock.withLock {
            guard !isFinished else { return }
            let time = now()
            // The body is sent again.
            if progress.completed < latest?.completed ?? 0 { shownTenths = 0 }
            latest = progress
            rate.note(progress.completed, at: time)
            if terminal.isInteractive { draw(at: time) } else { write(at: time) }
        }
    }

    /// Ends the display; writes the last line if there was a progress.
    func finish() {
        lock.withLock {
            guard !isFinished else { return }
            isFinished = true
            if terminal.isInteractive, shownAt != nil { terminal.redraw("") }
            if let latest { terminal.print(summary(latest)) }
        }
    }

    private func draw(at time: Double) {
        if let shownAt, time - shownAt < 0.1 { return }
        shownAt = time
        guard let latest else { return }
        let texts = texts(latest).joined(separator: "  ")
        // The bar keeps its width while the numbers change. The last column
        // stays empty: a full line would wrap.
        let room = terminal.width - label.count - max(texts.count, 48) - 4
        let bar = latest.fraction.flatMap { room >= 5 ? terminal.bar($0, width: min(room, 30)) : nil }
        let line = [label, bar].compactMap { $0 }.joined(separator: " ")
        let isTooLong = bar == nil && line.count + 2 + texts.count >= terminal.width
        terminal.redraw(isTooLong ? String(texts.prefix(terminal.width - 1)) : "\(line)  \(texts)")
    }

    private func write(at time: Double) {
        guard let latest else { return }
        // The first second is for transfers that are over at once.
        guard let last = shownAt else {
            shownAt = time
            return
        }
        let tenths = latest.fraction.map { Int($0 * 10) }
        guard time - last >= 1, tenths.map({ $0 > shownTenths && $0 < 10 }) ?? true else { return }
        shownAt = time
        shownTenths = tenths ?? 0
        terminal.print(texts(latest).joined(separator: ", "))
    }

    /// How far it is, how fast, and how long it will take.
    private func texts(_ progress: TransferProgress) -> [String] {
        var amount = Quantity.bytes(progress.completed)
        if let total = progress.total, let fraction = progress.fraction {
            amount += " of \(Quantity.bytes(total)) (\(Int(fraction * 100)) %)"
        }
        return [
            amount, rate.bytesPerSecond.map(Quantity.speed),
            rate.secondsLeft(of: progress.total).map { "\(Quantity.time($0)) left" },
        ].compactMap { $0 }
    }

    private func summary(_ progress: TransferProgress) -> String {
        var amount = Quantity.bytes(progress.completed)
        if let total = progress.total, total != progress.completed {
            amount += " of \(Quantity.bytes(total))"
        }
        return [amount, rate.averageBytesPerSecond.map(Quantity.speed)].compactMap { $0 }.joined(separator: ", ")
    }
}

extension DispatchQueue {
    /// Waits until everything that is in the queue now has been done.
    func drained() async {
        await withCheckedContinuation { continuation in
            async { continuation.resume() }
        }
    }
}
