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
    private let deliver: @Sendable (TransferProgress) -> Void

    init(on queue: DispatchQueue, _ handler: @escaping @Sendable (TransferProgress) -> Void) {
        deliver = { progress in queue.async { handler(progress) } }
    }

    init(onMainActor handler: @escaping @MainActor (TransferProgress) -> Void) {
        deliver = TransferProgress.onMainActor(handler)
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
        if isDue { deliver(progress) }
    }
}
