import Foundation

/// What is inside the plugins: requests, downloads or streams.
protocol PluggedSender: Sendable {
    /// Starts or queues a request before it returns.
    ///
    /// - Parameter duration: After which it must have ended, where it can be limited.
    func start(_ requestable: any Requestable, within duration: Duration) throws(AtomError) -> any PluggedExchange

    /// What only a response of the server has, for an error; `nil` if a plugin can answer by itself.
    var product: String? { get }

    /// The caller is about to be told.
    func end()
}

/// What a plugin's `next` has started.
protocol PluggedExchange: Sendable {
    /// Whether it ends by its own deadline in time.
    var isLimited: Bool { get }

    /// Waits for the response, which a cancellation of the task ends.
    func response() async throws(AtomError) -> AtomResponse

    func cancel()

    /// How far it got; after ``cancel()`` it gets no further.
    var delivery: AtomError.Delivery { get }
}

/// A request on its way through the app's plugins, around all that happens to it otherwise.
///
/// The plugins run in a task. The caller is told once: what they return, its own cancellation, or its own deadline. What
/// is left of the task and of the requests in it is cancelled then. No app's code runs under the lock.
final class PluggedRequest: CallerTeller, DeadlineBearer, @unchecked Sendable {
    // The deadline queue uses it, under its own lock. All other properties are constant.
    var deadlinePlace = DeadlinePlace()

    /// What a plugin has in any case after a response.
    private static let lastMoment = Duration.seconds(1)

    private struct State {
        var caller: WaitingCaller
        /// These are let go of when the caller is told: they may hold whoever holds this object.
        var sender: (any PluggedSender)?
        var task: Task<Void, Never>?
        var isOver = false
        /// How many requests are being started.
        var starting = 0
        var exchanges: [Int: any PluggedExchange] = [:]
        var lastExchange = 0
        /// How far the ended ones got.
        var reach = AtomError.Delivery.notSent
        /// Whether one of them has brought a response.
        var hasResponse = false
        let deadline: MonotonicInstant
        /// When the plugins must have returned after the last response.
        var lastMoment: MonotonicInstant
        var deadlineChanges = 0

        /// When the caller is told; `nil` while that is the business of what has been started.
        var alarm: MonotonicInstant? {
            if exchanges.isEmpty { return max(deadline, lastMoment) }
            // One that is shared has the deadline of whoever started it.
            return exchanges.values.contains { !$0.isLimited } ? deadline + PluggedRequest.lastMoment : nil
        }
    }

    let manager: RequestableQueueManager
    private let requestable: any Requestable
    private let startedAt: MonotonicInstant
    private let total: Duration
    private let state: Guarded<State>

    init(
        _ requestable: any Requestable, timeouts: RequestTimeouts, sender: any PluggedSender,
        listener: Exchange.Listener, manager: RequestableQueueManager
    ) {
        self.requestable = requestable
        self.manager = manager
        total = timeouts.total
        startedAt = manager.time.now
        state = Guarded(
            State(
                caller: WaitingCaller(listener), sender: sender, deadline: startedAt + timeouts.total,
                lastMoment: startedAt))
    }

    /// Begins in a task with the caller's priority and task-local values; called once.
    func start(_ chain: PluginChain) {
        setAlarm()
        // No closure: with a list of captures it leaves the plugins' actor, and the order is lost (Swift 6.2 and 6.3).
        let inside = NextHandler(send)
        let place = chain.takePlace()
        let task = Task { [self] in
            await chain.send(requestable, at: place, inside: inside) { [self] outcome in end { $0.checked(outcome) } }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }
}

// MARK: - Inside the plugins

extension PluggedRequest {
    /// What the last plugin calls.
    private nonisolated(nonsending) func send(_ requestable: any Requestable) async throws(AtomError) -> AtomResponse {
        guard !Task.isCancelled, let exchange = try start(requestable), let number = began(exchange) else {
            throw .cancelled(.notSent)
        }
        do {
            let response = try await exchange.response()
            ended(number, .answered, isResponse: true)
            return response
        } catch {
            ended(number, error.delivery, isResponse: false)
            throw error
        }
    }

    /// - Returns: `nil` if the caller has been told.
    private func start(_ requestable: any Requestable) throws(AtomError) -> (any PluggedExchange)? {
        let now = manager.time.now
        let (sender, rest, reach) = state.withLock { state in
            if !state.isOver { state.starting += 1 }
            return (state.sender, now.duration(to: state.deadline), state.reach)
        }
        guard let sender else { return nil }
        do throws(AtomError) {
            guard rest > .zero else { throw timedOut(reach, requestable, at: now) }
            return try sender.start(requestable, within: rest)
        } catch {
            state.withLock { $0.starting -= 1 }
            throw error
        }
    }

    /// - Returns: `nil` if the caller was told meanwhile: then it is cancelled.
    private func began(_ exchange: any PluggedExchange) -> Int? {
        let number = state.withLock { state -> Int? in
            state.starting -= 1
            guard !state.isOver else { return nil }
            state.lastExchange += 1
            state.exchanges[state.lastExchange] = exchange
            return state.lastExchange
        }
        if number == nil { exchange.cancel() } else { setAlarm() }
        return number
    }

    private func ended(_ number: Int, _ reach: AtomError.Delivery, isResponse: Bool) {
        let now = manager.time.now
        let exchange = state.withLock { state in
            state.reach = state.reach.further(reach)
            if isResponse { state.hasResponse = true }
            state.lastMoment = max(state.lastMoment, now + Self.lastMoment)
            return state.exchanges.removeValue(forKey: number)
        }
        withExtendedLifetime(exchange) {}
        setAlarm()
    }

    private func setAlarm() {
        let (isOver, alarm, number) = state.withLock { state in
            state.deadlineChanges += 1
            return (state.isOver, state.alarm, state.deadlineChanges)
        }
        guard !isOver else { return }
        if let alarm {
            manager.deadlines.set(alarm, for: self, number: number)
        } else {
            manager.deadlines.remove(self, number: number)
        }
    }
}

// MARK: - The caller

extension PluggedRequest {
    /// What there is at the end.
    private struct End {
        let sender: (any PluggedSender)?
        let task: Task<Void, Never>?
        let exchanges: [any PluggedExchange]
        let hasResponse: Bool
        let deadlineChanges: Int
        /// How far all got.
        var reach: AtomError.Delivery

        /// What the plugins return, unless only the server has what the caller wants.
        func checked(_ outcome: Result<AtomResponse, AtomError>) -> Result<AtomResponse, AtomError> {
            guard case .success = outcome, !hasResponse, let product = sender?.product else { return outcome }
            return .failure(
                .transfer(
                    .answeredByPlugin,
                    "A plugin has answered without a response of the server, so there is no \(product).",
                    delivery: reach))
        }
    }

    /// The caller is told at once, whatever the plugins do.
    func cancel() { end { .failure(.cancelled($0.reach)) } }

    func deadlinePassed(at now: MonotonicInstant) {
        end(at: now) { [self] in .failure(timedOut($0.reach, requestable, at: now)) }
    }

    private func timedOut(
        _ reach: AtomError.Delivery, _ endpoint: any Requestable, at now: MonotonicInstant
    ) -> AtomError {
        let error = AtomError.session(
            URLError(.timedOut, "The request did not complete in \(total)", delivery: reach))
        let request = AtomError.Request(
            of: endpoint, attempts: reach == .notSent ? 0 : 1, duration: startedAt.duration(to: now))
        return request.map { error.noting($0) } ?? error
    }

    /// Tells the caller, unless it has been told.
    ///
    /// - Parameter now: If it is only told when its time is over.
    private func end(at now: MonotonicInstant? = nil, _ outcome: (End) -> Result<AtomResponse, AtomError>) {
        let end = state.withLock { state -> End? in
            // The deadline may have been moved meanwhile.
            if state.isOver { return nil }
            if let now, state.alarm.map({ now < $0 }) ?? true { return nil }
            state.isOver = true
            state.deadlineChanges += 1
            defer { state.exchanges = [:] }
            return End(
                sender: state.sender.take(), task: state.task.take(),
                exchanges: Array(state.exchanges.values), hasResponse: state.hasResponse,
                deadlineChanges: state.deadlineChanges,
                reach: state.starting > 0 ? state.reach.further(.maybeSent) : state.reach)
        }
        guard var end else { return }
        manager.deadlines.remove(self, number: end.deadlineChanges)
        end.task?.cancel()
        for exchange in end.exchanges { exchange.cancel() }
        // Only now it is known, and stays so.
        for exchange in end.exchanges { end.reach = end.reach.further(exchange.delivery) }
        end.sender?.end()
        tellCaller(outcome(end))
    }

    func withCaller<T: Sendable>(_ body: (inout WaitingCaller) -> T) -> T { state.withLock { body(&$0.caller) } }
}

extension AtomError.Delivery {
    /// The one of two requests that got further.
    fileprivate func further(_ other: AtomError.Delivery) -> AtomError.Delivery {
        let steps: [AtomError.Delivery] = [.answered, .maybeSent]
        return steps.first { $0 == self || $0 == other } ?? .notSent
    }
}

extension AtomError.Request {
    /// A request that has not been prepared; `nil` if its endpoint can't tell it.
    init?(of endpoint: any Requestable, attempts: Int, duration: Duration) {
        guard let description = try? RequestDescription(of: endpoint), let target = try? description.target() else {
            return nil
        }
        self.init(
            method: description.method.name, address: target.absoluteString, finalAddress: nil, attempts: attempts,
            duration: duration)
    }
}
