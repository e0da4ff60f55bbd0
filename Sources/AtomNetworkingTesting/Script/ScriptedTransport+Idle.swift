extension ScriptedTransport {
    /// Whether no exchange goes on without anybody's help, and every result has
    /// reached its caller.
    public var isIdle: Bool { state.withLock { $0.isQuiet } }

    /// Waits until the code under test has got what its requests bring, and
    /// can't go on without anybody's help.
    ///
    /// It waits until something has happened since its last return, or since the
    /// beginning: a request has come, has gone on or has ended. Then it waits
    /// until each exchange has ended or waits for the test
    /// (``ScriptedAnswer/never``, ``ScriptedAnswer/delayed(_:_:)``, a held
    /// refresh), and each result has reached its caller. Then it lets other tasks
    /// go on. If they send something, all of that begins again.
    ///
    /// What it promises:
    /// - Code that calls the service on the main actor has run to its next
    ///   suspension after the call, whatever the decoding took. So has code on
    ///   another actor, once a call to that actor has returned.
    /// - The same holds for completions on the main actor, and for those on the
    ///   configuration's queue.
    ///
    /// What it can't promise, because nothing tells when other people's tasks
    /// are done:
    /// - Code that isn't on the calling actor, tasks that the code under test
    ///   starts after the result, and loops over a stream or over the states of
    ///   the session. They get some turns on the main actor and on other threads,
    ///   and no more: use ``idle(until:isolation:)`` for them.
    /// - Work that waits for something else, for example for `Task.sleep` or a
    ///   retry's pause.
    /// - Results while the body of a response is being streamed to its reader,
    ///   after a stream of events, and after the first caller of a shared request
    ///   has left it: they get those turns too.
    ///
    /// If nothing happens any more, it doesn't return: ``settle()`` does. It never
    /// sleeps and looks at no clock. It returns at once if its task is cancelled,
    /// so a test's time limit ends it. It needs ``install(in:)``, and one task at a
    /// time may wait.
    public func idle() async {
        guard await state.wait(until: { $0.activity > $0.seenActivity && $0.isQuiet }) else { return }
        guard let mark = await letOthersGoOn() else { return }
        state.withLock { $0.seenActivity = mark }
    }

    /// Waits as ``idle()`` does, but returns also if nothing has happened.
    ///
    /// So a test can say that the code under test does nothing:
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// let (_, wire) = Atom.scripted()
    /// await wire.settle()
    /// assert(wire.requests.isEmpty)
    /// ```
    ///
    /// Code that waits for something else than the wire and the clock, for example
    /// for `Task.sleep`, may do something afterwards.
    public func settle() async {
        guard await state.wait(until: { $0.isQuiet }) else { return }
        _ = await letOthersGoOn()
    }

    /// Advances the wire's clock, and lets the code under test go on at each alarm.
    ///
    /// `ManualClock.advance(by:)` doesn't wait: what a request brings at an alarm
    /// may come before or after the rest of the way. With this method a chain of
    /// pauses always has the same end. It settles before, at each alarm and
    /// afterwards.
    ///
    /// - Parameter duration: How far; a negative one counts as zero.
    public func advance(by duration: Duration) async {
        await settle()
        let end = clock.now.advanced(by: max(duration, .zero))
        while let next = clock.nextAlarm, next <= end, !Task.isCancelled {
            clock.advance(by: clock.now.duration(to: next))
            await settle()
        }
        // Something else may have advanced it meanwhile.
        clock.advance(by: max(clock.now.duration(to: end), .zero))
        await settle()
    }

    /// Waits until a condition holds, for code that nothing else tells about: a
    /// loop over a stream, or over the states of a session.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// @MainActor final class Ticker { var headlines: [String] = [] }
    ///
    /// @MainActor
    /// func checkTheSecondHeadline(_ ticker: Ticker, _ wire: ScriptedTransport) async {
    ///     let hasTwo = await wire.idle(until: { ticker.headlines.count == 2 })
    ///     assert(hasTwo)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - condition: Called again and again, on the caller's isolation.
    ///   - isolation: The caller's by default.
    /// - Returns: Whether it holds; `false` if it doesn't after very many turns of
    ///   other tasks in which nothing happens on the wire, or if the task is
    ///   cancelled.
    @discardableResult
    public func idle(
        until condition: () -> Bool, isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        var turns = 0
        while !condition() {
            guard turns < Turn.most, await state.wait(until: { $0.isQuiet }) else { return false }
            let mark = state.withLock { $0.activity }
            await Turn.takeOne()
            turns = state.withLock { $0.activity } == mark ? turns + 1 : 0
        }
        return true
    }

    /// Lets other tasks go on until nothing happens any more.
    ///
    /// - Returns: The last activity; `nil` if the task is cancelled.
    private func letOthersGoOn() async -> Int? {
        while true {
            let mark = state.withLock { $0.activity }
            var turns = 0
            var isSettled = true
            var limit = 0
            repeat {
                await Turn.takeOne()
                turns += 1
                (isSettled, limit) = state.withLock { state in
                    (state.activity == mark && state.isQuiet, Turn.count(isExpecting: state.expectsTokenRequest))
                }
            } while isSettled && turns < limit
            if isSettled { return mark }
            guard await state.wait(until: { $0.isQuiet }) else { return nil }
        }
    }
}

/// Lets other tasks run.
private enum Turn {
    /// How many are enough.
    static func count(isExpecting: Bool) -> Int { isExpecting ? 2_000 : 20 }

    /// After how many a condition will never hold.
    static let most = 2_000

    /// Waits until a new task has run behind those that are ready, and then one
    /// on the main actor.
    static func takeOne() async {
        // None of a high priority: many tests that wait would hold up the others.
        for priority in [TaskPriority.medium, .background] {
            // The value of the task isn't awaited: that would raise its priority.
            // A continuation would do too, but when another thread resumes it
            // before it's awaited, the thread sanitizer reports a race, because
            // it doesn't see how Swift's runtime orders the two.
            let (turn, end) = AsyncStream<Never>.makeStream()
            Task.detached(priority: priority) { end.finish() }
            for await _ in turn {}
        }
        await MainActor.run {}
    }
}
