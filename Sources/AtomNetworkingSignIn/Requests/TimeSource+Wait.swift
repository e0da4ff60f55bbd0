import AtomNetworking

extension TimeSource {
    /// Waits until an instant, by this clock.
    ///
    /// - Throws: `AtomError.cancelled` at once when the task is cancelled.
    func wait(until instant: MonotonicInstant) async throws(AtomError) {
        let (rings, bell) = AsyncStream.makeStream(of: Never.self)
        let alarm = makeAlarm { bell.finish() }
        defer { alarm.invalidate() }
        alarm.set(instant)
        // A stream ends for its reader also when the task is cancelled.
        for await _ in rings {}
        if Task.isCancelled { throw .cancelled(.notSent) }
    }
}
