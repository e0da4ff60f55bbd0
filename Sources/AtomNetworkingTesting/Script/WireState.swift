import AtomNetworking

/// What a ``ScriptedTransport`` knows, under its lock.
struct WireState: Sendable {
    /// An answer that is meant for certain requests.
    struct Rule: Sendable {
        let matcher: any RequestMatching
        let answer: ScriptedResponse
        /// How many requests it is for; `nil` for any number.
        let uses: Int?
        /// Whether it is a problem if there are fewer.
        var isRequired = true
        var used = 0

        var isSpent: Bool { uses.map { used >= $0 } ?? false }
    }

    var requests: [RecordedRequest] = []
    var rules: [Rule] = []

    /// The answers in order, and how often the first one has been given.
    var answers: [ScriptedResponse]
    var given = 0
    var firstUsed = 0

    /// The requests that have got an answer, by their places, and its name.
    var answered: [(index: Int, text: String)] = []
    /// Requests that nobody has answered.
    var unanswered: [String] = []
    /// What the test has waited for in vain; it has been told at once.
    var vain: [String] = []
    /// What a test has been told: so many of those, and these open answers.
    private var told = (unanswered: 0, open: Set<String>())
    /// Whether the test is over, so that nothing is told any more.
    var isDone = false

    // What waiting goes by.

    /// Exchanges that go on without anybody's help.
    var busy = 0
    /// Counts everything after which something may happen.
    var activity = 0
    /// The activity that the last waiting has seen.
    var seenActivity = 0
    /// Calls whose outcome is known and hasn't reached the caller.
    var undelivered = 0
    /// Whether a stream of events was answered: its later connections aren't calls.
    var hasEventStreams = false
    /// How many requests observers have been told of as sent; `nil` if nobody tells.
    var toldSent: Int?
    /// Exchanges of calls that haven't ended.
    var running = 0
    /// Requests that wait for a new token, or have it and weren't sent.
    var waitingForToken: Set<UInt64> = []
    /// Requests for a token that are out: what they wait for isn't known.
    var tokenRequests: Set<UInt64> = []
    /// Calls of providers, which may wait for a person.
    var providerCalls = 0
    /// When a session that could not get a token tries again.
    var pauseEnd: MonotonicInstant?
    /// The stores of the services, which a test can hold up.
    var stores: [RecordingTokenCredentialStore] = []
    var hasToldOfSession = false
    /// Requests for a token that wait for the test.
    var heldTokenRequests = 0
    /// The calls that have no outcome, and what each of them has last met.
    var calls: [UInt64: (request: String, event: RequestEvent.Kind)] = [:]
    /// How many tests wait, and whether somebody looks after those that don't wait here.
    var waits = 0
    var isWatched = false

    init(answers: [ScriptedResponse]) {
        self.answers = answers
    }

    /// Whether nothing happens without anybody's help, as far as this is known.
    var isQuiet: Bool { busy == 0 && (undelivered <= 0 || hasEventStreams) }

    /// Whether the session goes on without anybody's help.
    enum SessionProgress { case none, possible, certain }

    /// Whether the session is about to ask for a token, or to let the requests go on that wait for it.
    func sessionProgress(at now: MonotonicInstant) -> SessionProgress {
        guard !waitingForToken.isEmpty else { return isUntold ? .possible : .none }
        guard heldTokenRequests == 0 else { return .none }
        let isHeldUp =
            !tokenRequests.isEmpty || providerCalls > 0 || pauseEnd.map { now < $0 } ?? false
            || stores.contains(where: \.isHeldUp)
        return isHeldUp ? .possible : .certain
    }

    /// Whether a call has got further than observers have been told: the thread that tells them may stand still.
    private var isUntold: Bool {
        guard let toldSent else { return false }
        let sent = calls.values.count { if case .sent = $0.event { true } else { false } }
        return toldSent < requests.count || sent > running
    }

    /// The next answer in order.
    mutating func nextAnswer() -> ScriptedResponse? {
        guard let first = answers.first else { return nil }
        firstUsed += 1
        if let uses = first.uses, firstUsed >= uses {
            answers.removeFirst()
            firstUsed = 0
            given += 1
        }
        return first
    }

    /// Everything that is wrong.
    var findings: [String] { unanswered + vain + open }

    /// What is wrong and hasn't been told.
    var untold: [String] {
        isDone ? [] : unanswered.dropFirst(told.unanswered) + open.filter { !told.open.contains($0) }
    }

    /// Tells a test what is wrong: each request that nobody has answered once, and
    /// each answer that nobody has asked for until somebody does.
    mutating func tell() -> [String] {
        let open = open
        defer { told = (unanswered.count, Set(open)) }
        return unanswered.dropFirst(told.unanswered) + open
    }

    /// Answers that nobody has asked for.
    private var open: [String] {
        var findings: [String] = []
        for (index, answer) in answers.enumerated() {
            guard let uses = answer.uses, answer.isRequired else { continue }
            let used = index == 0 ? firstUsed : 0
            let times = used == 0 ? "" : " \(uses - used) more times"
            findings.append("Nobody has asked\(times) for answer \(given + index + 1): \(answer.name).")
        }
        for rule in rules where !rule.isSpent && rule.isRequired {
            guard let uses = rule.uses else { continue }
            findings.append("There were \(rule.used) of \(uses) requests for \(rule.matcher).")
        }
        return findings
    }
}

/// Hears of the requests of a service, for a wire's waiting.
struct WireObserver: RequestObserver {
    let state: Watched<WireState>
    let clock: ManualClock

    func observe(_ event: RequestEvent) {
        noteRefresh(event)
        guard event.purpose == .service else { return }
        if case .sent = event.kind { state.withLock { $0.toldSent = ($0.toldSent ?? 0) + 1 } }
        note(event)
        switch event.kind {
        case .queued(.session):
            guard let id = event.requestID else { return }
            state.withLock { _ = $0.waitingForToken.insert(id) }
        // Not as soon as it is admitted: the wire doesn't have it yet.
        case .sent, .queued:
            guard let id = event.requestID else { return }
            state.withLock { _ = $0.waitingForToken.remove(id) }
        case .finished, .refused:
            state.withLock { state in
                if let id = event.requestID { state.waitingForToken.remove(id) }
                state.undelivered += 1
                state.activity += 1
            }
        default:
            break
        }
    }

    /// Notes how far a refresh has got.
    private func noteRefresh(_ event: RequestEvent) {
        switch (event.purpose, event.kind) {
        case (.token, .queued), (.token, .sent), (.token, .retried):
            if let id = event.requestID { state.withLock { _ = $0.tokenRequests.insert(id) } }
        case (.token, .finished):
            if let id = event.requestID { state.withLock { _ = $0.tokenRequests.remove(id) } }
        case (_, .refreshed(let failure?)):
            let pause = failure.retryAt.map { min($0.timeIntervalSince(clock.date), 1e9) } ?? 0
            let end = clock.now.advanced(by: .seconds(pause))
            state.withLock { $0.pauseEnd = end }
        default: break
        }
    }

    /// Notes what a call waits for.
    private func note(_ event: RequestEvent) {
        guard let id = event.requestID else { return }
        switch event.kind {
        case .finished, .refused:
            state.withLock { _ = $0.calls.removeValue(forKey: id) }
        // It comes behind the end.
        case .measured:
            break
        default:
            guard let request = event.request?.description else { return }
            state.withLock { $0.calls[id] = (request, event.kind) }
        }
    }
}

/// An app's provider, whose calls a wire counts.
struct ObservedProvider: TokenCredentialProvider {
    private let provider: any TokenCredentialProvider
    private let state: Watched<WireState>

    init(_ provider: any TokenCredentialProvider, _ state: Watched<WireState>) {
        self.provider = provider
        self.state = state
    }

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        state.withLock { $0.providerCalls += 1 }
        defer { state.withLock { $0.providerCalls -= 1 } }
        return try await provider.credential(replacing: rejected)
    }
}
