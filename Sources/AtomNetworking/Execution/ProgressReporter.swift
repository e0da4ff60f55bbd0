import Foundation

/// Tells the app about a transfer's progress, at most thirty times a second.
///
/// The events of an attempt come one at a time, so its calls do too.
final class ProgressReporter: Sendable {
    private struct State {
        var reported: TransferProgress?
        var nextReport: MonotonicInstant?
    }

    /// Between two reports.
    private static let interval = Duration.milliseconds(34)

    private let state = Guarded(State())
    private let queue: DispatchQueue
    private let handler: @Sendable (TransferProgress) -> Void

    init(on queue: DispatchQueue, _ handler: @escaping @Sendable (TransferProgress) -> Void) {
        self.queue = queue
        self.handler = handler
    }

    /// Reports a progress, unless the last report was a moment ago.
    ///
    /// - Parameter isLast: Whether it is reported in any case.
    func report(_ progress: TransferProgress, isLast: Bool, at now: MonotonicInstant) {
        let isDue = state.withLock { state in
            if progress == state.reported { return false }
            if let next = state.nextReport, now < next, !isLast { return false }
            state.reported = progress
            state.nextReport = now.advanced(by: Self.interval)
            return true
        }
        guard isDue else { return }
        queue.async { [handler] in handler(progress) }
    }
}
