import Foundation

/// One `resume`, from admission to its outcome.
///
/// An ``ExchangeMachine`` under this object's lock decides what happens. This
/// object does what the machine says, outside the lock. Events after the outcome
/// change nothing, but a slot is always given back.
final class Exchange: SlotWaiter, SessionWaiter, DeadlineBearer, @unchecked Sendable {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    /// The receiver of the outcome.
    enum Listener {
        /// A caller that calls `wake` and then `takeOutcome`.
        case awaiting
        /// A completion of the SDK, called on the thread of the outcome.
        case completion(Completion)
        /// A completion of the app, called on the configuration's queue.
        case dispatched(Completion)
    }

    // The deadline queue, the slots and the session use these, each under its own lock. So no two accesses can overlap,
    // and the check for that at each access is not needed (SE-0176). All other properties are constant.
    @exclusivity(unchecked) var deadlinePosition: Int?
    @exclusivity(unchecked) var deadlineNumber = 0
    @exclusivity(unchecked) var slotPlace: SlotPlace?
    @exclusivity(unchecked) var sessionPlace: SessionPlace?

    let manager: RequestableQueueManager
    let totalDeadline: MonotonicInstant
    private let policy: ExchangePolicy
    private let needsSignature: Bool
    private let acceptableStatusCodes: ClosedRange<Int>
    private let idleTimeout: Duration
    private let startedAt: MonotonicInstant
    private let listener: Listener

    private struct Content {
        var machine: ExchangeMachine
        /// The attempt that the machine goes by, until its last event.
        var wire: AttemptOnWire?
        /// Stops this attempt; `nil` while the transport is being called.
        var running: (any TransportExchange)?
        /// The number of the last attempt that was `wire` at its last event.
        var lastEnded = 0
        /// The outcome for an awaiting caller, until it is taken.
        var outcome: Result<AtomResponse, AtomError>?
        /// Whether there is, or was, an outcome for an awaiting caller.
        var hasOutcome = false
        /// The awaiting caller: set once, and taken once, at the end.
        var awaiting: UnsafeContinuation<Void, Never>?

        /// Lets go of the attempt that a step stops or discards, so that no later
        /// step concerns it.
        mutating func letGo(for step: ExchangeMachine.Step) -> AttemptOnWire? {
            guard !step.effects.isDisjoint(with: [.stop, .discardRest]), let wire = wire.take() else { return nil }
            wire.letGo(running.take())
            return wire
        }
    }

    private let content: Guarded<Content>

    init(_ request: consuming PreparedRequest, manager: RequestableQueueManager, listener: Listener) {
        self.manager = manager
        self.listener = listener
        policy = manager.policy(for: request.purpose)
        needsSignature = request.needsSignature && manager.signsRequests
        acceptableStatusCodes = request.acceptableStatusCodes
        idleTimeout = request.timeouts.idle
        startedAt = manager.time.now
        totalDeadline = startedAt.advanced(byNanoseconds: request.timeouts.totalNanoseconds)
        let terms = ExchangeMachine.Terms(
            policy: policy, needsSignature: needsSignature, hasSession: manager.session != nil,
            timeouts: request.timeouts, deadline: totalDeadline)
        content = Guarded(Content(machine: ExchangeMachine(Attempt(request), terms)))
    }

    var service: any RenewalService { manager }
    var renewalMeans: RenewalMeans { manager.renewalMeans }

    /// Asks to be sent; called once, by the manager.
    func start() {
        // No other thread has this exchange yet, so the machine is in its first state.
        guard needsSignature, let gate = manager.gate else { return enterLane(of: origin, keepsPlace: false) }
        switch gate.admit(self, anew: false) {
        case .go: released()
        case .askSession(let read):
            if manager.session?.ask(for: self, anew: false, read: read) == .go {
                released()
            } else {
                handle { $0.queuedBySession() }
            }
        }
    }

    /// The caller has cancelled.
    ///
    /// The outcome is known at once.
    func cancel() { handle { $0.cancelled() } }

    func deadlinePassed(at now: MonotonicInstant) { handle { $0.deadlinePassed(at: now) } }

    func released() {
        let (step, wire, origin) = content.withLock { content in
            let step = content.machine.admitted()
            return (step, content.letGo(for: step), content.machine.attempt.target.origin)
        }
        if case .enterLane(let keepsPlace) = step.action { enterLane(of: origin, keepsPlace: keepsPlace) }
        if let wire { discardRest(of: wire) }
    }

    func refused(_ error: AuthenticationError) {
        let now = manager.time.now
        // Before the machine decides: as soon as it has, another thread may end the response and release the notices.
        manager.holdNotices()
        let step = handle { $0.refused(error, at: now) }
        if !step.effects.contains(.keepNotice) { manager.releaseNotices() }
    }

    func slotGranted(of origin: Origin) { send(inSlotOf: origin) }
}

// MARK: - Performing what the machine asks for

extension Exchange {
    /// Handles an event under the lock, and performs the step outside of it.
    @discardableResult
    private func handle(_ event: (inout ExchangeMachine) -> ExchangeMachine.Step) -> ExchangeMachine.Step {
        let (step, wire) = content.withLock { content in
            let step = event(&content.machine)
            return (step, content.letGo(for: step))
        }
        perform(step, wire)
        return step
    }

    /// Performs a step.
    ///
    /// - Parameter wire: The attempt that the step stops or discards.
    private func perform(_ step: ExchangeMachine.Step, _ wire: AttemptOnWire?) {
        prepare(step)
        switch step.action {
        case .nothing, .keepPart, .keepBody, .deliver, .sign, .send, .askSessionWithSlot:
            break
        case .askSession(let isAnew):
            if let session = manager.session { askSession(session, isAnew: isAnew) }
        case .retry(let version):
            guard let session = manager.session else { break }
            session.rejected(version: version)
            askSession(session, isAnew: true)
        case .enterLane(let keepsPlace):
            enterLane(of: origin, keepsPlace: keepsPlace)
        case .tell:
            tellOutcome()
        }
        if step.effects.contains(.releaseNotice) { manager.releaseNotices() }
        if let wire {
            if step.effects.contains(.stop) { stop(wire) }
            if step.effects.contains(.discardRest) { discardRest(of: wire) }
        }
    }

    /// Performs what a step needs before its action.
    private func prepare(_ step: ExchangeMachine.Step) {
        switch step.deadline {
        case .none: break
        case .set(let instant, let number): manager.deadlines.set(instant, for: self, number: number)
        case .removed(let number): manager.deadlines.remove(self, number: number)
        }
        if let version = step.acceptedVersion { manager.gate?.accepted(version: version) }
        guard !step.effects.isEmpty else { return }
        if step.effects.contains(.leaveSession) { manager.session?.left(self) }
        if step.effects.contains(.leaveLane) { manager.slots.leave(self, origin: origin) }
    }

    private var origin: Origin { content.withLock { $0.machine.attempt.target.origin } }

    private func askSession(_ session: SessionActor, isAnew: Bool) {
        switch session.admit(self, anew: isAnew) {
        case .go: released()
        case .wait: handle { $0.queuedBySession() }
        }
    }

    /// Gets a slot at once, or waits for one.
    private func enterLane(of origin: Origin, keepsPlace: Bool) {
        guard policy.takesSlot else { return send(inSlotOf: nil) }
        if manager.slots.enter(self, origin: origin, isBack: keepsPlace) { handle { $0.queuedForSlot() } }
    }

    /// Stops an attempt that was let go of, as soon as its handle is known.
    func stop(_ wire: AttemptOnWire) {
        let running = content.withLock { _ in wire.stop() }
        running?.cancel()
    }

    /// Lets the rest of a response be read, for a limited time.
    private func discardRest(of wire: AttemptOnWire) {
        // The attempt has a deadline of its own, because the exchange may end first.
        let end = manager.time.now.advanced(by: AttemptOnWire.restDuration)
        manager.deadlines.set(end, for: wire, number: 1)
    }
}

// MARK: - Onto the wire

extension Exchange {
    /// The value of the `Authorization` field, and the version of the session's
    /// credential that it comes from.
    private struct Signature {
        var authorization: String?
        var version: Int?
    }

    /// Signs the attempt and hands it to the transport.
    ///
    /// - Parameter origin: The origin of the slot that was granted; `nil` if no
    ///   slot is needed.
    private func send(inSlotOf origin: Origin?) {
        while true {
            // Signed directly before sending, so that the token is still good.
            let signature = signature()
            let cookie = cookie()
            let now = manager.time.now
            let sink = MemorySink(limit: policy.maximumBodySize)
            var request: TransportRequest?
            let (step, wire) = content.withLock { content in
                let step = content.machine.slotGranted(
                    isSigned: signature.authorization != nil, version: signature.version, at: now)
                guard case .send = step.action else { return (step, nil as AttemptOnWire?) }
                let attempt = content.machine.attempt
                request = attempt.transportRequest(
                    authorization: content.machine.needsSignature ? signature.authorization : nil, cookie: cookie,
                    idleTimeout: idleTimeout, needsFreshConnection: policy.needsFreshConnection)
                let wire = AttemptOnWire(of: self, number: content.machine.number, target: attempt.target, sink: sink)
                content.wire = wire
                return (step, wire)
            }
            prepare(step)
            if let wire, let request = request.take() { return start(request, wire) }
            guard case .askSessionWithSlot = step.action, asksWithSlot() else {
                if let origin { manager.slots.release(origin: origin) }
                return
            }
        }
    }

    private func signature() -> Signature {
        guard needsSignature else { return Signature() }
        guard let gate = manager.gate else { return Signature(authorization: manager.basicAuthorization) }
        return switch gate.signature(for: self) {
        case .authorization(let value, let version): Signature(authorization: value, version: version)
        case .none, .outdated: Signature()
        }
    }

    /// Asks the session again and keeps the slot meanwhile.
    ///
    /// - Returns: Whether to sign again now.
    private func asksWithSlot() -> Bool {
        guard let session = manager.session else { return false }
        switch session.admit(self, anew: false) {
        case .go:
            return content.withLock { content in
                if case .sign = content.machine.admittedWithSlot().action { true } else { false }
            }
        case .wait:
            handle { $0.queuedBySession() }
            return false
        }
    }

    private func cookie() -> String? {
        guard policy.usesCookies, manager.cookies.mayHaveCookies else { return nil }
        let attempt = content.withLock { $0.machine.attempt }
        // Cookies are not bound to a port (RFC 6265 §8.5), so the jar would also match another origin of the same host.
        guard !attempt.hasLeftOrigin, !attempt.headerFields.contains("Cookie") else { return nil }
        return manager.cookies.field(for: attempt.target.cookieAddress, at: manager.time.date)
    }

    private func start(_ request: TransportRequest, _ wire: AttemptOnWire) {
        manager.log("→ \(request.method) \(request.target)")
        let running = manager.transport.start(request) { wire.exchange.receive($0, from: wire) }
        // The exchange may have let go of the attempt while it was being started.
        let unwanted = content.withLock { content in
            if content.lastEnded == wire.number { return nil as (any TransportExchange)? }
            guard content.wire === wire else { return wire.started(running) }
            content.running = running
            return nil
        }
        unwanted?.cancel()
    }
}

// MARK: - What the transport reports

extension Exchange {
    private func receive(_ event: TransportEvent, from wire: AttemptOnWire) {
        switch event {
        case .sent:
            let now = manager.time.now
            content.withLock { $0.machine.sent(by: wire.number, at: now) }
        case .response(let head):
            received(head, from: wire)
        case .data(let data):
            received(data, from: wire)
        case .finished:
            ended(wire) { $0.finished(wire.number) }
        case .failed(let failure):
            ended(wire) { $0.failed(failure, wire.number) }
        }
    }

    private func received(_ head: TransportResponse, from wire: AttemptOnWire) {
        let now = manager.time.now
        let (step, concerned) = content.withLock { content in
            let step = content.machine.headArrived(head, of: wire.number, at: now)
            return (step, content.letGo(for: step))
        }
        switch step.action {
        case .retry:
            manager.log("← 401 \(wire.target), to be sent again")
        case .askSession, .enterLane:
            manager.log("← \(head.statusCode) \(wire.target), redirected")
        default:
            break
        }
        // Before the action, so that the next attempt carries them.
        if step.effects.contains(.keepCookies) {
            manager.cookies.keep(head.headerFields, from: wire.target.cookieAddress, at: manager.time.date)
        }
        perform(step, concerned)
        if step.effects.contains(.giveSlotBack) { manager.slots.release(origin: wire.target.origin) }
    }

    private func received(_ part: Data, from wire: AttemptOnWire) {
        let now = manager.time.now
        let (step, concerned) = content.withLock { content in
            let step = content.machine.partArrived(part.count, of: wire.number, at: now)
            return (step, content.letGo(for: step))
        }
        if case .keepPart = step.action {
            do {
                try wire.keep(part)
            } catch {
                handle { $0.sinkFailed(error, of: wire.number) }
            }
        } else if let concerned {
            wire.abandonSink()
            stop(concerned)
        } else if wire.discard(part) {
            stop(wire)
        }
    }

    /// The transport's last event of an attempt.
    private func ended(_ wire: AttemptOnWire, _ event: (inout ExchangeMachine) -> ExchangeMachine.Step) {
        let (step, answer) = content.withLock { content in
            if content.wire === wire {
                content.wire = nil
                content.running = nil
                content.lastEnded = wire.number
            } else {
                wire.end()
            }
            let step = event(&content.machine)
            guard case .deliver = step.action, case .answer(let head)? = content.machine.outcome else {
                return (step, nil as TransportResponse?)
            }
            return (step, head)
        }
        prepare(step)
        if let answer {
            do {
                settle(judged(answer, try wire.finishSink(), from: wire.target))
            } catch {
                settle(.failure(error))
            }
        } else {
            endWithoutAnswer(wire, step)
        }
        if step.effects.contains(.releaseNotice) { manager.releaseNotices() }
        if step.effects.contains(.giveSlotBack) { manager.slots.release(origin: wire.target.origin) }
    }

    private func endWithoutAnswer(_ wire: AttemptOnWire, _ step: ExchangeMachine.Step) {
        if case .keepBody = step.action {
            // A memory sink can't fail here.
            let body = (try? wire.finishSink()) ?? Data()
            let now = manager.time.now
            handle { $0.bodyKept(body, of: wire.number, at: now) }
        } else {
            wire.abandonSink()
            if case .tell = step.action { tellOutcome() }
            // A higher number than the one that sets the deadline, because that may happen later than this.
            manager.deadlines.remove(wire, number: 2)
        }
    }
}

// MARK: - The outcome

extension Exchange {
    /// The outcome of a complete response.
    private func judged(
        _ head: TransportResponse, _ body: Data, from target: TargetURL
    ) -> Result<AtomResponse, AtomError> {
        let answer = AtomResponse(
            data: body, statusCode: head.statusCode, headerFields: head.headerFields,
            address: target.absoluteString, decoder: manager.decoder)
        return acceptableStatusCodes.contains(head.statusCode) ? .success(answer) : .failure(.response(answer))
    }

    /// Tells an outcome for which no sink has to be ended.
    private func tellOutcome() {
        let (outcome, target) = content.withLock { ($0.machine.outcome, $0.machine.attempt.target) }
        switch outcome {
        case .failure(let error): settle(.failure(error))
        case .rejection(let head, let body): settle(judged(head, body, from: target))
        case .answer, nil: break
        }
    }

    /// Tells the outcome; called once.
    private func settle(_ outcome: consuming Result<AtomResponse, AtomError>) {
        if manager.log.isEnabled { manager.log(line(for: outcome)) }
        switch listener {
        case .awaiting:
            let awaiting = content.withLock { content in
                content.outcome = outcome
                content.hasOutcome = true
                return content.awaiting.take()
            }
            awaiting?.resume()
        case .completion(let completion):
            completion(outcome)
        case .dispatched(let completion):
            manager.dispatchQueue.async { [outcome, queue = manager.dispatchQueue] in
                completion(outcome)
                if case .failure(let error) = outcome { AtomNotification.announceRefusal(error, on: queue) }
            }
        }
    }

    private func line(for outcome: Result<AtomResponse, AtomError>) -> String {
        let elapsed = startedAt.duration(to: manager.time.now)
        let attempt = content.withLock { $0.machine.attempt }
        return switch outcome {
        case .success(let response), .failure(.response(let response)):
            "← \(response.description) \(attempt.method) \(attempt.target) in \(elapsed)"
        case .failure(let error):
            "✗ \(attempt.method) \(attempt.target) in \(elapsed): \(error.description)"
        }
    }

    // These two are never inlined: else an async frame would reserve memory for them.

    /// Whether the outcome is known.
    @inline(never)
    var hasOutcome: Bool { content.withLock { $0.hasOutcome } }

    /// Resumes the continuation once the outcome is known; called once.
    @inline(never)
    func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        let isKnown = content.withLock { content in
            if !content.hasOutcome { content.awaiting = continuation }
            return content.hasOutcome
        }
        if isKnown { continuation.resume() }
    }

    /// The outcome, if it is known.
    ///
    /// It can be taken once.
    func takeOutcome() -> Result<AtomResponse, AtomError>? {
        content.withLock { $0.outcome.take() }
    }
}
