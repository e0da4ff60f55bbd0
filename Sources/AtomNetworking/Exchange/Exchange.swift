import Foundation

/// One `resume`, from admission to its outcome.
///
/// An ``ExchangeMachine`` under this object's lock decides what happens. This
/// object does what the machine says, outside the lock. Events after the outcome
/// change nothing, but a slot is always given back.
final class Exchange: SlotWaiter, SessionWaiter, DeadlineBearer, EventTeller, @unchecked Sendable {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    /// The receiver of the outcome.
    enum Listener {
        /// A caller that calls `wake` and then `takeOutcome`.
        case awaiting
        /// A completion of the SDK, called on the thread of the outcome.
        case completion(Completion)
        /// The callers that share the exchange with this number.
        case sharing(RequestSharing, Int)
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
    let policy: ExchangePolicy
    let isSigned: Bool
    /// Whether the app's signers add to each attempt.
    let takesSigners: Bool
    /// Whether the endpoint asks to be signed, for the app's signers.
    let requiresAuthorization: Bool
    let acceptableStatusCodes: ClosedRange<Int>
    let idleTimeout: Duration
    let startedAt: MonotonicInstant
    let listener: Listener
    /// Where an acceptable body goes; `nil` for memory.
    let destination: (any ResponseDestination)?
    /// Hears how much of the body has been sent.
    let progress: ProgressReporter?
    /// The length of the request's body.
    let bodyLength: Int64?
    /// What the endpoint says about sending the request again, if anything.
    let retrying: EndpointRetrying?
    /// For the app's observers; `nil` if there are none.
    let observation: RequestObservation?
    let observers: ObserverChain?

    /// The state, under the lock.
    struct Content {
        var machine: ExchangeMachine
        /// The attempt that the machine goes by, until its last event.
        var wire: AttemptOnWire?
        /// Stops this attempt; `nil` while the transport is being called.
        var running: (any TransportExchange)?
        /// The number of the last attempt that was `wire` at its last event.
        var lastEnded = 0
        /// For an awaiting caller.
        var awaited = AwaitedOutcome()
        /// For the observers, if there are any.
        var events = NotedEvents()

        /// Lets go of the attempt that a step stops or discards, so that no later
        /// step concerns it.
        mutating func letGo(for step: ExchangeMachine.Step) -> AttemptOnWire? {
            guard !step.effects.isDisjoint(with: [.stop, .letGo]), let wire = wire.take() else { return nil }
            wire.letGo(running.take())
            return wire
        }
    }

    let content: Guarded<Content>

    init(
        _ request: consuming PreparedRequest, manager: RequestableQueueManager, listener: Listener,
        destination: (any ResponseDestination)? = nil, progress: ProgressReporter? = nil
    ) {
        self.manager = manager
        self.listener = listener
        self.destination = destination
        self.progress = progress
        bodyLength = request.body?.length
        policy = manager.policy(for: request.purpose)
        isSigned = request.requiresAuthorization && manager.signsRequests
        takesSigners = request.takesSigners && manager.hasSigners
        requiresAuthorization = request.requiresAuthorization
        acceptableStatusCodes = request.acceptableStatusCodes
        idleTimeout = request.timeouts.idle
        retrying = request.retrying
        observation = manager.observation(of: request)
        observers = manager.observers
        startedAt = observation?.instant ?? manager.time.now
        let terms = ExchangeMachine.Terms(
            policy: policy, isSigned: isSigned, hasSession: manager.session != nil,
            timeouts: request.timeouts,
            deadline: startedAt.advanced(byNanoseconds: request.timeouts.totalNanoseconds),
            hasStreamedBody: request.body?.isStream ?? false)
        content = Guarded(Content(machine: ExchangeMachine(Attempt(request), terms)))
    }

    var totalDeadline: MonotonicInstant {
        content.withLock { $0.machine.deadline ?? $0.machine.terms.deadline }
    }

    var service: any RefreshService { manager }
    var refreshMeans: RefreshMeans { manager.refreshMeans }

    /// Asks to be sent; called once, by the manager.
    func start() {
        // In the caller's task, which may hold a trace, and before the app's signers are called.
        tellDescribed()
        // No other thread has this exchange yet, so the machine is in its first state.
        guard isSigned, manager.gate != nil else { return enterLane(of: origin, keepsPlace: false) }
        askSession(isAnew: true)
    }

    /// The caller has cancelled.
    ///
    /// The outcome is known at once.
    func cancel() { handle { $0.cancelled() } }

    func deadlinePassed(at now: MonotonicInstant) {
        guard let (retry, silent) = retryAfterSilence(at: now) else {
            handle { $0.deadlinePassed(at: now) }
            return
        }
        let (step, wire) = content.withLock { content in
            let step = content.machine.deadlinePassed(at: now, retry: retry)
            return (step, content.letGo(for: step))
        }
        settleQuota(of: retry, step, at: silent)
        perform(step, wire)
        if step.effects.contains(.giveSlotBack) { manager.slots.release(origin: silent.target.origin) }
    }

    func released() {
        let (step, wire, origin, hasWaited) = content.withLock { content in
            let step = content.machine.admitted()
            return (step, content.letGo(for: step), content.machine.attempt.target.origin, content.events.isQueued)
        }
        if hasWaited, case .enterLane = step.action { tellAdmitted() }
        if let wire { limitRest(of: wire, to: AttemptOnWire.unwantedRestDuration, number: 2) }
        if case .enterLane(let keepsPlace) = step.action { enterLane(of: origin, keepsPlace: keepsPlace) }
    }

    func refused(_ error: AuthenticationError) {
        if destination?.revoke() == true {
            return handle { $0.fail(.authentication(.signedOut(delivery: .answered))) }
        }
        let now = manager.time.now
        // Before the machine decides: as soon as it has, another thread may end the response and release the notices.
        manager.session?.notices.hold()
        let networkWait = networkWait(after: error, at: now)
        let (step, wire) = content.withLock { content in
            let step = content.machine.refused(error, networkWait: networkWait, at: now)
            return (step, content.letGo(for: step))
        }
        if let networkWait, step.effects.contains(.sendAgain) { tellRetry(networkWait) }
        perform(step, wire)
        if !step.effects.contains(.keepNotice) { manager.session?.notices.release() }
    }

    func slotGranted(of origin: Origin) { send(inSlotOf: origin) }
}

// MARK: - Performing what the machine asks for

extension Exchange {
    /// Handles an event under the lock, and performs the step outside of it.
    func handle(_ event: (inout ExchangeMachine) -> ExchangeMachine.Step) {
        let (step, wire) = content.withLock { content in
            let step = event(&content.machine)
            return (step, content.letGo(for: step))
        }
        perform(step, wire)
    }

    /// Performs a step.
    ///
    /// - Parameter wire: The attempt that the step stops or discards.
    func perform(_ step: ExchangeMachine.Step, _ wire: AttemptOnWire?) {
        prepare(step)
        act(on: step)
        if step.effects.contains(.releaseNotice) { manager.session?.notices.release() }
        if let wire, step.effects.contains(.stop) { stop(wire) }
    }

    /// Performs the action of a step.
    @inline(__always)
    func act(on step: ExchangeMachine.Step) {
        switch step.action {
        case .nothing, .keepPart, .keepBody, .deliver, .sign, .send, .askSessionWithSlot:
            break
        case .askSession(let isAnew):
            askSession(isAnew: isAnew)
        case .retry(let version):
            manager.session?.rejected(version: version)
            askSession(isAnew: true)
        case .enterLane(let keepsPlace):
            enterLane(of: origin, keepsPlace: keepsPlace)
        case .pause:
            pause()
        case .tell:
            tellOutcome()
        }
    }

    /// Performs what a step needs before its action.
    func prepare(_ step: ExchangeMachine.Step) {
        switch step.deadline {
        case .none: break
        case .set(let instant, let number): manager.deadlines.set(instant, for: self, number: number)
        case .removed(let number): manager.deadlines.remove(self, number: number)
        }
        if let version = step.acceptedVersion { manager.gate?.accepted(version: version) }
        if let version = step.rejectedVersion { manager.session?.rejected(version: version) }
        guard !step.effects.isEmpty else { return }
        if step.effects.contains(.leaveSession) { manager.session?.left(self) }
        if step.effects.contains(.leaveLane) { manager.slots.leave(self, origin: origin) }
        if step.effects.contains(.leavePause) { pauseEnded() }
        if case .tell = step.action { giveBackUnusedRetry() }
    }

    private var origin: Origin { content.withLock { $0.machine.attempt.target.origin } }

    private func askSession(isAnew: Bool) {
        if isAdmitted(anew: isAnew) { released() } else { queuedBySession() }
    }

    func queuedBySession() {
        queued(for: .refresh) { $0.queuedBySession() }
    }

    private func queuedForSlot() {
        queued(for: .slot) { $0.queuedForSlot() }
    }

    private func queued(
        for reason: RequestEvent.QueueReason, _ event: (inout ExchangeMachine) -> ExchangeMachine.Step
    ) {
        guard observation != nil else {
            handle(event)
            return
        }
        let now = manager.time.now
        let (step, wire) = content.withLock { content in
            // It may have ended, or gone on already.
            switch (reason, content.machine.state) {
            case (.refresh, .waitingForSession), (.slot, .waitingForSlot): content.events.queued(for: reason, at: now)
            default: break
            }
            let step = event(&content.machine)
            return (step, content.letGo(for: step))
        }
        perform(step, wire)
        deliver()
    }

    @inline(never)
    private func tellAdmitted() {
        let now = manager.time.now
        content.withLock { _ = $0.events.admitted(at: now) }
        deliver()
    }

    func withEvents<T: Sendable>(_ body: (inout NotedEvents) -> T) -> T { content.withLock { body(&$0.events) } }

    /// Whether the request may go on now; otherwise the session has queued or
    /// refused it.
    func isAdmitted(anew isAnew: Bool) -> Bool {
        switch manager.gate?.admit(self, anew: isAnew) {
        case .go: true
        case .askSession(let read): manager.session?.ask(for: self, anew: isAnew, read: read) == .go
        case nil: false
        }
    }

    /// Gets a slot at once, or waits for one.
    @inline(__always)
    private func enterLane(of origin: Origin, keepsPlace: Bool) {
        guard policy.takesSlot else { return send(inSlotOf: nil) }
        if manager.slots.enter(self, origin: origin, isBack: keepsPlace) { queuedForSlot() }
    }

    /// Stops an attempt that was let go of, as soon as its handle is known.
    func stop(_ wire: AttemptOnWire) {
        let running = content.withLock { _ in wire.stop() }
        running?.cancel()
    }

    /// Limits the time for which the rest of a response is read.
    func limitRest(of wire: AttemptOnWire, to duration: Duration, number: Int) {
        // The attempt has a deadline of its own, because the exchange may end first.
        manager.deadlines.set(manager.time.now.advanced(by: duration), for: wire, number: number)
    }

    /// The rest of a response that may not be needed took too long: its
    /// connection is closed.
    func restExpired(_ wire: AttemptOnWire) {
        // At once: between two accesses the exchange could let go of the attempt.
        let (step, concerned, running) = content.withLock { content in
            guard content.wire === wire else {
                return (ExchangeMachine.Step(), nil as AttemptOnWire?, wire.stop())
            }
            let step = content.machine.restExpired(wire.number)
            return (step, content.letGo(for: step), nil)
        }
        perform(step, concerned)
        running?.cancel()
    }
}
