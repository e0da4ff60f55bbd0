/// Seconds since its creation, on a clock that never runs backwards.
struct Stopwatch: Sendable {
    private let start = ContinuousClock.now

    var seconds: Double { start.duration(to: .now) / .seconds(1) }

    /// Waits until this many seconds have passed; returns early when the task is cancelled.
    func sleep(until seconds: Double) async {
        try? await Task.sleep(until: start.advanced(by: .seconds(seconds)), clock: .continuous)
    }
}
