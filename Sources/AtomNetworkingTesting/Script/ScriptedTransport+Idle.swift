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
    ///   starts after the result, and the parts of a stream. They get many turns
    ///   on the main actor and on other threads, which is enough for a few short
    ///   steps. Await the task itself if it does more.
    /// - Work that waits for something else, for example for `Task.sleep` or a
    ///   retry's pause.
    ///
    /// It never sleeps and looks at no clock. It returns at once if its task is
    /// cancelled, so a test's time limit ends it. It needs ``install(in:)``, and
    /// one task at a time may wait.
    public func idle() async {
        guard await state.wait(until: { $0.activity > $0.seenActivity && $0.isQuiet }) else { return }
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
            if isSettled {
                state.withLock { $0.seenActivity = mark }
                return
            }
            guard await state.wait(until: { $0.isQuiet }) else { return }
        }
    }
}

/// Lets other tasks run.
private enum Turn {
    /// How many are enough.
    static func count(isExpecting: Bool) -> Int { isExpecting ? 2_000 : 20 }

    /// Waits until a new task has run behind those that are ready, and then one
    /// on the main actor.
    static func takeOne() async {
        // None of a high priority: many tests that wait would hold up the others.
        for priority in [TaskPriority.medium, .background] {
            // Its value isn't awaited: that would raise its priority.
            await withUnsafeContinuation { continuation in
                Task.detached(priority: priority) { continuation.resume() }
            }
        }
        await MainActor.run {}
    }
}
