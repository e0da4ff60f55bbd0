import AtomNetworking
import Foundation

extension ScriptedTransport {
    /// Whether no exchange goes on without anybody's help, and every result has reached its caller.
    public var isIdle: Bool { state.withLock { $0.isQuiet } }

    /// Waits until the code under test has got what its requests bring, and can't go on without anybody's help.
    ///
    /// It waits until something has happened since its last return, or since the beginning: a request has come, has
    /// gone on or has ended. Then it waits until each exchange has ended or waits for the test
    /// (``ScriptedResponse/never``, ``ScriptedResponse/delayed(_:_:)``, a held refresh), and each result has reached
    /// its caller. Then it lets other tasks go on. If they send something, all of that begins again.
    ///
    /// What it promises:
    /// - Code that calls the service on the main actor has run to its next suspension after the call, whatever the
    ///   decoding took. So has code on another actor, once a call to that actor has returned.
    /// - The same holds for completions on the main actor, and for those on the configuration's queue.
    /// - A refresh that is due has been answered, and the requests that wait for it have gone on, unless it waits for
    ///   the test, for a pause, or for a `TokenCredentialProvider`.
    ///
    /// What it can't promise, because nothing tells when other people's tasks are done:
    /// - Code that isn't on the calling actor, tasks that the code under test starts after the result, and loops over a
    ///   stream or over the states of the session. They get some turns on the main actor and on other threads, and no
    ///   more: use ``idle(until:isolation:)`` for them.
    /// - Work that waits for something else, for example for `Task.sleep` or a retry's pause.
    /// - Results while the body of a response is being streamed to its reader, after a stream of events, and after the
    ///   first caller of a shared request has left it: they get those turns too.
    ///
    /// If nothing happens, it reports which requests, pauses and alarms are left, and returns, after
    /// ``ManualClock/patience``: ten seconds of real time. A test that expects nothing calls ``settle()``. It returns
    /// at once if its task is cancelled. It needs ``install(in:)``, and one task at a time may wait.
    ///
    /// - Parameters:
    ///   - fileID: The file of the test, for that report.
    ///   - filePath: The file of the test.
    ///   - line: The line of the test.
    public func idle(
        fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line
    ) async {
        let place = ScriptProblem.Place(fileID, filePath, line)
        let what = "idle() waits until a request has come, has gone on or has ended"
        guard await wait(on: state, what, at: place, until: { $0.activity > $0.seenActivity && $0.isQuiet })
        else { return }
        guard let mark = await letOthersGoOn() else { return }
        state.withLock { $0.seenActivity = mark }
    }

    /// Waits as ``idle(fileID:filePath:line:)`` does, but returns also if nothing has happened.
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
        guard await becomesQuiet() else { return }
        _ = await letOthersGoOn()
    }

    /// Advances the wire's clock, and lets the code under test go on at each alarm.
    ///
    /// `ManualClock.advance(by:)` doesn't wait: what a request brings at an alarm may come before or after the rest of
    /// the way. With this method a chain of pauses always has the same end. It settles before, at each alarm and
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
    /// - Returns: Whether it holds; `false` if it doesn't after ``ManualClock/patience``
    ///   in which nothing happens on the wire, or if the task is cancelled.
    @discardableResult
    public func idle(
        until condition: () -> Bool, isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        var turns = 0
        while !condition() {
            guard turns < Turn.most, await becomesQuiet() else { return false }
            let mark = state.withLock { $0.activity }
            await Turn.take(after: turns, patience: clock.patience)
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
            var progress = WireState.SessionProgress.none
            repeat {
                await Turn.take(after: turns, patience: clock.patience)
                turns += 1
                let (now, before) = (clock.now, progress)
                (isSettled, progress) = state.withLock { state in
                    (state.activity == mark && state.isQuiet, state.sessionProgress(at: now))
                }
                // The thread that tells how far it is may stand between two events.
                if progress == .none, before != .none { turns = 0 }
            } while isSettled && turns < Turn.limit(progress)
            if isSettled, turns == Turn.most { tellOfTheSession() }
            if isSettled { return mark }
            guard await becomesQuiet() else { return nil }
        }
    }

    /// Says once what a test has waited for that it may hold up itself.
    private func tellOfTheSession() {
        let isNew = state.withLock { state in
            defer { state.hasToldOfSession = true }
            return !state.hasToldOfSession
        }
        guard isNew, !Task.isCancelled else { return }
        let text =
            "The test of \(place) has waited \(clock.patience) for a refresh, or for the token store. \(leftovers)\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    private func becomesQuiet() async -> Bool {
        await wait(on: state, "The test waits until nothing goes on without its help", at: place) { $0.isQuiet }
    }
}

// MARK: - Waiting in vain

extension ScriptedTransport {
    /// Waits until the condition holds, and reports it if nothing happens any more.
    ///
    /// - Returns: Whether it holds.
    @discardableResult
    func wait<Value>(
        on value: Watched<Value>, _ what: String, at place: ScriptProblem.Place,
        until condition: @escaping @Sendable (Value) -> Bool
    ) async -> Bool {
        state.withLock { $0.waits += 1 }
        defer { state.withLock { $0.waits -= 1 } }
        let end = await value.wait(patience: clock.patience, pulse: { [weak self] in self?.pulse }, until: condition)
        if end == .inVain {
            let finding = "\(what), and nothing has happened for \(clock.patience). \(leftovers)"
            state.withLock { $0.vain.append(finding) }
            onProblem(ScriptProblem(findings: [finding], source: place))
        }
        return end == .held
    }

    /// Looks after requests that the test awaits itself: it can't be let go, but it can be told.
    func watch() {
        let isWatched = state.withLock { state in
            defer { state.isWatched = true }
            return state.isWatched
        }
        guard !isWatched else { return }
        let patience = clock.patience
        Task.detached(priority: .background) { [weak self] in
            guard await Turn.standStill(for: patience, { [weak self] in self?.pulse }), let self else { return }
            let isAlone = state.withLock { state in
                state.isWatched = false
                return !state.calls.isEmpty && state.waits == 0 && state.vain.isEmpty
            }
            guard isAlone else { return }
            // Once, because it may be meant so.
            state.withLock { $0.isWatched = true }
            let text =
                "The test of \(place) has an open request, and nothing has happened for \(patience). \(leftovers)\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
    }

    /// Changes when something has happened.
    private var pulse: [Int] {
        state.withLock { [$0.activity, $0.busy, $0.undelivered, $0.answered.count] } + [clock.pulse]
    }

    /// Sentences about the requests, the pauses and the alarms that are left.
    private var leftovers: String {
        let exchanges = started.withLock { $0.exchanges }.filter { !$0.isOver }
        let (calls, answered, heldTokenRequests, undelivered, count) = state.withLock {
            ($0.calls, $0.answered, $0.heldTokenRequests, $0.undelivered, $0.requests.count)
        }
        var sentences = exchanges.map { exchange in
            let answer = answered.last { $0.index == exchange.index }
            let name = answer.map { "Request \($0.index + 1), \($0.text)," } ?? exchange.name
            return "\(name) has no end."
        }
        for (_, call) in calls.sorted(by: { $0.key < $1.key }) {
            switch call.event {
            case .retried(_, _, let delay?):
                sentences.append("\(call.request) pauses for \(delay) before it is sent again.")
            case .queued(.session):
                sentences.append("\(call.request) waits for the session.")
            case .queued(.slot):
                sentences.append("\(call.request) waits for its turn.")
            case .queued(.network):
                sentences.append("\(call.request) waits for a network.")
            default:
                if exchanges.isEmpty { sentences.append("\(call.request) has no end.") }
            }
        }
        if heldTokenRequests > 0 { sentences.append("A refresh waits for its answer.") }
        if undelivered > 0 { sentences.append("Results that haven't reached their callers: \(undelivered).") }
        if sentences.isEmpty { sentences.append("No request is open; there were \(count).") }
        return sentences.joined(separator: " ") + " " + clock.alarms
    }
}

/// Lets other tasks run.
enum Turn {
    /// How many are enough where nothing is known that could come.
    private static let few = 20
    /// How many are enough where something may come.
    private static let many = 2_000
    /// After how many nothing comes any more.
    ///
    /// A thread may stand still for longer than `many` of them take, so time passes before each of the last.
    static let most = 2_100

    static func limit(_ progress: WireState.SessionProgress) -> Int {
        switch progress {
        case .none: few
        case .possible: many
        case .certain: most
        }
    }

    /// Lets other tasks run once more.
    ///
    /// - Parameters:
    ///   - number: How often it has been done, while nothing has happened.
    ///   - patience: How long the turns after the first `many` take together.
    static func take(after number: Int, patience: Duration) async {
        if number >= many { try? await Task.sleep(for: bounded(patience) / (most - many)) }
        await takeOne()
    }

    private static func bounded(_ patience: Duration) -> Duration { min(max(patience, .zero), .seconds(86_400)) }

    /// Waits until nothing has happened for so long, in which other tasks have had their turns.
    ///
    /// - Parameter pulse: Changes when something has happened; `nil` ends it.
    /// - Returns: Whether that is so; `false` also if the task is cancelled.
    static func standStill(for patience: Duration, _ pulse: @Sendable () -> [Int]?) async -> Bool {
        let ticks = 5
        let tick = bounded(patience) / ticks
        var (mark, quiet) = (pulse(), 0)
        while quiet < ticks {
            guard mark != nil, (try? await Task.sleep(for: tick)) != nil else { return false }
            await takeOne()
            let now = pulse()
            quiet = now == mark ? quiet + 1 : 0
            mark = now
        }
        return !Task.isCancelled
    }

    /// Waits until a new task has run behind those that are ready, and then one on the main actor.
    static func takeOne() async {
        // None of a high priority: many tests that wait would hold up the others.
        for priority in [TaskPriority.medium, .background] {
            // The value of the task isn't awaited: that would raise its priority. A continuation would do too, but when
            // another thread resumes it before it's awaited, the thread sanitizer reports a race, because it doesn't
            // see how Swift's runtime orders the two.
            let (turn, end) = AsyncStream<Never>.makeStream()
            Task.detached(priority: priority) { end.finish() }
            for await _ in turn {}
        }
        await MainActor.run {}
    }
}
