import Foundation

/// Tells the app about a transfer's progress, at most thirty times a second.
///
/// The events of an attempt come one at a time, so its calls do too.
final class ProgressReporter: Sendable {
    private struct State {
        var reported: TransferProgress?
        var nextReport: MonotonicInstant?
        /// Until the outcome is told: it may hold whoever holds the request.
        var deliver: (@Sendable (TransferProgress) -> Void)?
    }

    /// Between two reports.
    private static let interval = Duration.milliseconds(34)

    private let state: Guarded<State>

    init(on queue: DispatchQueue, _ handler: @escaping @Sendable (TransferProgress) -> Void) {
        state = Guarded(State(deliver: { progress in queue.async { handler(progress) } }))
    }

    init(onMainActor handler: @escaping @MainActor (TransferProgress) -> Void) {
        state = Guarded(State(deliver: TransferProgress.onMainActor(handler)))
    }

    /// One for another request of the same caller: it ends with its own request, and with this one.
    func another() -> ProgressReporter { ProgressReporter { [self] in pass($0) } }

    private init(_ deliver: @escaping @Sendable (TransferProgress) -> Void) { state = Guarded(State(deliver: deliver)) }

    private func pass(_ progress: TransferProgress) { state.withLock { $0.deliver?(progress) } }

    /// Reports a progress, unless the last report was a moment ago.
    ///
    /// - Parameter isLast: Whether it is reported in any case.
    func report(_ progress: TransferProgress, isLast: Bool, at now: MonotonicInstant) {
        state.withLock { state in
            if progress == state.reported { return }
            if let next = state.nextReport, now < next, !isLast { return }
            state.reported = progress
            state.nextReport = now.advanced(by: Self.interval)
            // It only enqueues; under the lock, so that nothing comes after the outcome.
            state.deliver?(progress)
        }
    }

    /// The outcome is about to be told: nothing is reported any more.
    func end() { _ = state.withLock { $0.deliver.take() } }
}
