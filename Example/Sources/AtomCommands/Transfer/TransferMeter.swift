import AtomNetworking
import Foundation

/// Shows how far a transfer is.
///
/// A terminal's line is redrawn, at most ten times a second. In a pipe only the
/// last line is written, which says how much it was.
final class TransferMeter: @unchecked Sendable {
    private let label: String
    private let terminal: Terminal
    private let stopwatch = Stopwatch()
    // The following properties are accessed only under `lock`.
    private let lock = NSLock()
    private var latest: TransferProgress?
    private var drawnAt: Double?

    init(_ label: String, on terminal: Terminal) {
        self.label = label
        self.terminal = terminal
    }

    /// The last progress; `nil` if nothing was sent or received.
    var progress: TransferProgress? { lock.withLock { latest } }

    /// Notes a progress, and shows it if it is time.
    func update(_ progress: TransferProgress) {
        lock.withLock {
            latest = progress
            let now = stopwatch.seconds
            guard terminal.isInteractive, now - (drawnAt ?? -1) >= 0.1 else { return }
            drawnAt = now
            terminal.redraw("\(label) \(Self.text(progress))")
        }
    }

    /// Ends the display; writes the last line if there was a progress.
    func finish() {
        lock.withLock {
            if drawnAt != nil { terminal.redraw("") }
            if let latest { terminal.print(Self.text(latest)) }
        }
    }

    private static func text(_ progress: TransferProgress) -> String {
        let amount = Quantity.bytes(progress.completed)
        guard let total = progress.total, total != progress.completed else { return amount }
        return "\(amount) of \(Quantity.bytes(total)) (\(Int((progress.fraction ?? 0) * 100)) %)"
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
