import Foundation

/// One `resume`, from admission to its outcome.
///
/// An ``ExchangeMachine`` under this object's lock decides what happens. Whatever happens comes to it as an event, and
/// ``perform(_:_:)`` does what it says, outside the lock, or ``take(_:from:)`` for a response that was there at once.
/// Events after the outcome change nothing, but a slot is always given back.
final class Exchange: SlotWaiter, SessionWaiter, DeadlineBearer, EventTeller, @unchecked Sendable {
    // The deadline queue and the session use these, each under its own lock, so no two accesses overlap (SE-0176); to
    // check for that here and in the attempt costs 1,300 instructions a request. All other properties are constant.
    @exclusivity(unchecked) var deadlinePlace = DeadlinePlace()
    @exclusivity(unchecked) var ticket: SessionTicket?

    let manager: RequestableQueueManager
    private let signing: AttemptSigning
    private let outcomes: OutcomeMaker
    /// Where an acceptable body goes; `nil` for memory.
    let destination: (any ResponseDestination)?
    /// Whether a caller takes the outcome.
    private let isAwaited: Bool
    /// Hears how much of the body has been sent.
    private let progress: ProgressReporter?
    /// The length of the request's body.
    private let bodyLength: Int64?
    /// The body, if it may be read only once.
    private let stream: TransportBody?
    /// What the endpoint says about sending the request again, if anything.
    private let retrying: EndpointRetrying?
    /// For the app's observers; `nil` if there are none.
    let observation: RequestObservation?

    /// The state, under the lock.
    private struct Content {
        var machine: ExchangeMachine
        /// The attempt that the machine goes by, until its last event.
        var wire: AttemptOnWire?
        /// Stops this attempt; `nil` while the transport is being called.
        var running: (any TransportExchange)?
        /// The number of the last attempt that was `wire` at its last event.
        var lastEnded = 0
        /// Whether the transport's `start` is being called, in which it may answer: what follows waits until it returns.
        var isStarting = false
        /// What is started then.
        var next: AttemptOnWire?
        /// How often the transport was asked for what had arrived.
        var looks = 0
        /// Until it is told; `nil` for an awaiting caller.
        var listener: Listener?
        /// For an awaiting caller.
        var awaited = AwaitedOutcome()
        /// What the observers haven't heard of its outcome.
        var untold: UntoldResponse?
        /// For the observers, if there are any.
        var events = NotedEvents()
        /// That of the last attempt at its own origin.
        var tenure = Tenure.nobody

        /// Lets go of the attempt, so that no later command concerns it.
        mutating func letGo() -> AttemptOnWire? {
            guard let wire = wire.take() else { return nil }
            wire.letGo(running.take())
            return wire
        }
    }

    /// A response that was taken whole, until its caller's task has told the observers of it.
    private final class UntoldResponse: Sendable {
        let response: WholeResponse
        /// The number of the attempt.
        let number: Int
        /// When it arrived.
        let instant: MonotonicInstant

        init(_ response: WholeResponse, of number: Int, at instant: MonotonicInstant) {
            (self.response, self.number, self.instant) = (response, number, instant)
        }
    }

    private let content: Guarded<Content>

    init(
        _ request: consuming PreparedRequest, manager: RequestableQueueManager, listener: Listener,
        destination: (any ResponseDestination)? = nil, progress: ProgressReporter? = nil,
        with ticket: SessionTicket? = nil
    ) {
        self.manager = manager
        self.destination = destination
        self.progress = progress
        bodyLength = request.body?.length
        stream = request.body?.isStream == true ? request.body : nil
        switch listener {
        case .awaiting, .awaitingAnyLate: isAwaited = true
        case .completion, .dispatched: isAwaited = false
        }
        // The answer holds the successor of a refresh token that may be spent, so it is never thrown away.
        let outlivesDeadline = request.purpose == .token
        retrying = request.retrying
        observation = manager.observation(of: request)
        let startedAt = observation?.instant ?? manager.time.now
        signing = AttemptSigning(request, of: ticket?.tenure, by: manager)
        outcomes = OutcomeMaker(
            acceptableStatusCodes: request.acceptableStatusCodes, isSigned: signing.isSigned, startedAt: startedAt,
            keeping: request.keeping)
        self.ticket = ticket
        let terms = ExchangeMachine.Terms(
            policy: signing.policy, isSigned: signing.isSigned, hasSession: manager.session != nil,
            timeouts: request.timeouts,
            deadline: startedAt.advanced(byNanoseconds: request.timeouts.totalNanoseconds),
            hasStreamedBody: request.body?.isStream ?? false, outlivesDeadline: outlivesDeadline)
        content = Guarded(
            Content(
                machine: ExchangeMachine(Attempt(request), terms),
                listener: isAwaited && !outlivesDeadline ? nil : listener))
    }
}

// MARK: - What happens

extension Exchange {
    /// Asks to be sent; called once, by the manager.
    func start(at origin: Origin) {
        // In the caller's task, which may hold a trace, and before the app's signers are called.
        tellDescribed()
        // No other thread has this exchange yet, so the machine is in its first state.
        if signing.isSigned, manager.gate != nil { return askSession(at: origin) }
        enterLane(of: origin, place: nil)
    }

    /// The caller has cancelled.
    ///
    /// The outcome is known at once.
    func cancel() { handle { $0.machine.cancelled() } }

    func deadlinePassed(at now: MonotonicInstant) {
        // An observer may hold up what has arrived.
        let isBehind = content.withLock { $0.running }?.isBehind ?? false
        let question = questionAfterSilence
        handle { $0.machine.deadlinePassed(at: now, isBehind: isBehind, question) }
    }

    /// - Parameter count: Of the looks until this one, which may be over.
    private func looked(of number: Int, _ count: Int) {
        let (question, now) = (questionAfterSilence, manager.time.now)
        handle { content in
            guard content.looks == count else { return ExchangeMachine.Commands() }
            return content.machine.looked(of: number, at: now, question)
        }
    }

    func released() { admitted(nil) }

    func refused(_ error: AuthenticationError) {
        if case .signedOut = error, destination?.revoke() == true {
            return handle { $0.machine.fail(.authentication(.signedOut(delivery: .answered))) }
        }
        let now = manager.time.now
        var question: RetryQuestion?
        if let code = AtomError.authentication(error).connectivityCode, manager.connectivity != nil {
            question = self.question(after: RetryPolicy.Setback(.connection(code), delivery: .notSent))
        }
        // Before the machine decides: as soon as it has, another thread may end the response and release the notices.
        manager.session?.notices.hold()
        handle { $0.machine.refused(error, question, at: now) }
    }

    func slotGranted(of origin: Origin, place: Int) {
        // The app may have set its variable during the wait.
        if signing.isSigned { manager.session?.observe() }
        sign(place: place, nil)
    }

    /// The session admits the request, and may have given it a pass.
    private func admitted(_ pass: Pass?, withSlotAt place: Int? = nil) {
        let now = observation == nil ? nil : manager.time.now
        let (commands, wire, tells) = content.withLock { content in
            if let now, content.machine.isWaitingForSession { _ = content.events.admitted(at: now) }
            let commands = content.machine.admitted(withSlotAt: place)
            return (commands, commands.letGo ? content.letGo() : nil, now != nil && content.events.beginsDelivery())
        }
        if tells, let observation { tellNoted(observation) }
        // Observers take their time, and the token may have been rejected meanwhile.
        perform(commands, wire, pass: tells ? nil : pass)
    }

    private func queuedBySession() {
        let now = observation == nil ? nil : manager.time.now
        handle { content in
            if let now, content.machine.isWaitingForSession { content.events.queued(for: .session, at: now) }
            return content.machine.queuedBySession()
        }
    }

    private func queuedForSlot(place: Int) {
        let now = observation == nil ? nil : manager.time.now
        handle { content in
            if let now, content.machine.isWaitingForSlot { content.events.queued(for: .slot, at: now) }
            return content.machine.queuedForSlot(place: place)
        }
    }

    private func receive(_ event: TransportEvent, from wire: AttemptOnWire) {
        switch event {
        case .sent(let count): sent(count, of: wire)
        case .response(let head): received(head, from: wire)
        case .data(let part): received(part, from: wire)
        case .measured(let metrics): tell(.measured(metrics, attempt: wire.number), at: manager.time.now)
        case .finished: ended(wire) { $0.finished(wire.number) }
        case .failed(let failure):
            var question: RetryQuestion?
            // Not after a body that could not be read, and the like.
            if !(failure.error is AtomError) {
                let code = (failure.error as? URLError)?.code ?? .unknown
                var setback = RetryPolicy.Setback(.connection(code), delivery: failure.delivery)
                setback.isOfKeptConnection = failure.isOfKeptConnection
                setback.isUnprocessed = failure.isUnprocessed
                question = self.question(after: setback)
            }
            let now = manager.time.now
            ended(wire) { $0.failed(failure, wire.number, question, at: now) }
        }
    }

    private func sent(_ count: Int, of wire: AttemptOnWire) {
        let now = manager.time.now
        let counts = content.withLock { content in
            if observation != nil { content.events.countSent(count) }
            return content.machine.sent(count, by: wire.number, at: now)
        }
        guard counts, let progress, count > 0 else { return }
        // The body counts anew in each attempt.
        wire.sent.add(count)
        let completed = bodyLength.map { min(wire.sent, $0) } ?? wire.sent
        progress.report(
            TransferProgress(completed: completed, total: bodyLength), isLast: completed == bodyLength, at: now)
    }

    private func received(_ head: TransportResponse, from wire: AttemptOnWire) {
        let now = manager.time.now
        let reception = outcomes.reception(of: head, to: wire.request, for: destination)
        let isBodySpent = stream?.isSpent ?? false
        let verdict = signing.isSigned ? manager.verdict(on: head, from: wire) : .byStatus
        var question: RetryQuestion?
        if !outcomes.acceptableStatusCodes.contains(head.statusCode) {
            let delay = RetryAfter.duration(in: head.headerFields, now: manager.time.date)
            question = self.question(
                after: RetryPolicy.Setback(.status(head.statusCode), delivery: .answered, serverDelay: delay))
        }
        var turn: NotedEvents.Turn?
        if wire.head == nil { wire.head = head }
        handle(wire) { content in
            if observation != nil, content.machine.awaitsHead(of: wire.number) {
                turn = content.events.turn(at: now)
                if turn == nil { content.events.append(.answered(ReceivedHead(head, attempt: wire.number)), at: now) }
            }
            return content.machine.headArrived(
                head, of: wire.number, isBodySpent: isBodySpent, reception, question, verdict: verdict, at: now)
        } telling: {
            guard let turn, let observation else { return }
            tell(.answered(ReceivedHead(head, attempt: wire.number)), in: turn, observation)
        }
        // Afterwards: it may grant slots, and a rejected token must sign nothing more.
        if let limit = head.exchangesPerOrigin { manager.slots.learn(limit, of: wire.target.origin) }
    }

    /// Whether the caller may take a response that is there at once, in place of its events.
    private var mayTakeWhole: Bool {
        isAwaited && progress == nil && destination == nil && signing.policy.takesSlot && bodyLength == nil
            && stream == nil && manager.observers?.wantsBodies != true
    }

    /// Whether the caller gets this response as it is: what leads to another attempt or an error may ask the app, as may
    /// a storage of Foundation's for cookies.
    private func isDeliverable(_ response: WholeResponse, to wire: AttemptOnWire) -> Bool {
        let head = response.head
        return (200..<300).contains(head.statusCode) && response.body.count <= signing.policy.maximumBodySize
            && outcomes.reception(of: head, to: wire.request, for: nil) == .whole
            && (manager.cookies.isInMemory || !head.headerFields.contains("Set-Cookie"))
            // Whoever waits for a slot is granted it by the thread of the events, with fewer switches of threads.
            && !manager.slots.isWaitedFor(at: wire.target.origin)
    }

    /// The whole response has arrived at once; no code of the app but its clock may run here.
    func take(_ whole: WholeResponse, from wire: AttemptOnWire) -> ResponseTaking {
        guard isDeliverable(whole, to: wire) else { return .refused }
        let (head, origin) = (whole.head, wire.target.origin)
        var outcome = Optional(Result<_, AtomError>.success(response(head, whole.body, of: wire)))
        let untold = observation == nil ? nil : UntoldResponse(whole, of: wire.number, at: manager.time.now)
        var running: (any TransportExchange)?
        let commands = content.withLock { content in
            guard !content.awaited.hasAppExecutor,
                let commands = content.machine.wholeArrived(head, of: wire.number)
            else { return nil as ExchangeMachine.Commands? }
            (content.wire, content.untold) = (nil, untold)
            if !content.isStarting { running = content.running.take() }
            content.lastEnded = wire.number
            return commands
        }
        guard let commands else { return .refused }
        withExtendedLifetime(running) {}
        // Before the caller or the next request goes on. The app's variable isn't read: if somebody has gone from it,
        // the cookies go before they could be sent.
        if head.headerFields.contains("Set-Cookie") {
            manager.cookies.keep(
                head.headerFields, from: wire.target.cookieAddress, of: wire.tenure, at: manager.time.date)
        }
        for index in 0..<commands.count {
            switch commands[index] {
            case .removeDeadline(let number): manager.deadlines.remove(self, number: number)
            case .deliver: manager.quotas.giveBack(1, at: origin)
            case .giveSlotBack: manager.slots.release(origin: origin, elsewhere: true)
            default: preconditionFailure("a whole response comes to nothing else")
            }
        }
        if let limit = head.exchangesPerOrigin { manager.slots.learn(limit, of: origin, elsewhere: true) }
        let (continuation, hasAppExecutor) = content.withLock { content in
            (content.awaited.settle(&outcome), content.awaited.hasAppExecutor)
        }
        guard let continuation else { return .taken }
        guard hasAppExecutor else { return .awaited(continuation) }
        // It has come since.
        DispatchQueue(label: "AtomNetworking.caller").async { continuation.resume() }
        return .taken
    }

    /// Tells the observers of a response that was taken whole, in its caller's task.
    @inline(never)
    private func tell(_ untold: UntoldResponse, _ outcome: Result<AtomResponse, AtomError>) {
        guard let observation else { return }
        tell(.answered(ReceivedHead(untold.response.head, attempt: untold.number)), at: untold.instant)
        withEvents { $0.countReceived(untold.response.body.count) }
        if let metrics = untold.response.metrics {
            tell(.measured(metrics, attempt: untold.number), at: untold.instant)
        }
        tellEnd(outcome, observation, at: untold.instant)
    }

    private func received(_ part: Data, from wire: AttemptOnWire) {
        let now = manager.time.now
        if let observers = manager.observers, observers.wantsBodies, let requestID = observation?.requestID {
            observers.tell(part, of: requestID, attempt: wire.number)
        }
        handle(wire, part: part) { content in
            if observation != nil { content.events.countReceived(part.count) }
            return content.machine.partArrived(part.count, of: wire.number, at: now)
        }
    }

    /// The transport's last event of an attempt.
    private func ended(_ wire: AttemptOnWire, _ event: (inout ExchangeMachine) -> ExchangeMachine.Commands) {
        // Only for these the rest may have been limited.
        if wire.head?.statusCode ?? 0 >= 300 { manager.deadlines.remove(wire, number: 4, disarms: true) }
        // The handle is the app's, if the transport is: it is let go of outside the lock.
        var running: (any TransportExchange)?
        handle(wire) { content in
            if content.wire === wire {
                content.wire = nil
                // Else there is none yet: the transport answers inside `start`.
                if !content.isStarting { running = content.running.take() }
                content.lastEnded = wire.number
            } else {
                running = wire.end()
            }
            return event(&content.machine)
        }
        withExtendedLifetime(running) {}
    }

    /// The time for the rest of a response that may not be needed is over: what has arrived by now counts.
    func restIsLate(_ wire: AttemptOnWire, at now: MonotonicInstant) {
        let running = content.withLock { wire.looks(with: $0.wire === wire ? $0.running : nil) }
        guard let running else { return restExpired(wire) }
        manager.deadlines.set(now.advanced(by: .look), for: wire, number: 3)
        running.catchUp { [self] in restExpired(wire) }
    }

    /// The rest of a response that may not be needed took too long: its connection is closed.
    private func restExpired(_ wire: AttemptOnWire) {
        manager.deadlines.remove(wire, number: 4)
        var running: (any TransportExchange)?
        handle { content in
            // At once: between two accesses the exchange could let go of the attempt.
            if content.wire === wire { return content.machine.restExpired(wire.number) }
            running = wire.stop()
            return ExchangeMachine.Commands()
        }
        running?.cancel()
    }

    private func sinkFailed(_ error: AtomError, of wire: AttemptOnWire) {
        let asksAgain = destination?.asksAgain == true
        let now = manager.time.now
        handle(wire) { $0.machine.sinkFailed(error, of: wire.number, asksAgain: asksAgain, at: now) }
    }

    /// Holds the body of a response back, or lets it go on.
    ///
    /// - Returns: Whether the transport can do that.
    func setPaused(_ isPaused: Bool, _ wire: AttemptOnWire) -> Bool {
        guard let running = content.withLock({ $0.wire === wire ? $0.running : nil }), !isPaused || running.pause()
        else { return false }
        let now = manager.time.now
        handle { $0.machine.pauseChanged(isPaused, of: wire.number, at: now) }
        if !isPaused { running.resume() }
        return true
    }

    private var questionAfterSilence: RetryQuestion? {
        // Never `notSent`: nobody knows how far an attempt got that is stopped.
        let reach = delivery == .answered ? AtomError.Delivery.answered : .maybeSent
        return question(after: RetryPolicy.Setback(.connection(.timedOut), delivery: reach))
    }

    /// What decides whether the request is sent again; `nil` if no policy applies.
    private func question(after setback: RetryPolicy.Setback) -> RetryQuestion? {
        guard signing.policy.retries || setback.isUnprocessed else { return nil }
        return RetryQuestion(
            after: setback, by: retrying?.policy ?? manager.retryPolicy,
            isDeclaredIdempotent: retrying?.idempotency == .declared, chance: manager.random(),
            isOffline: manager.connectivity?.isOffline == true, isBodySpent: stream?.isSpent ?? false)
    }
}

// MARK: - What is done

extension Exchange {
    /// Handles an event under the lock, tells observers, and performs its commands outside of it.
    @inline(__always)
    private func handle(
        _ wire: AttemptOnWire? = nil, part: Data = Data(), _ event: (inout Content) -> ExchangeMachine.Commands,
        telling: () -> Void = {}
    ) {
        let (commands, letGo, tells) = content.withLock { content in
            let commands = event(&content)
            return (
                commands, commands.letGo ? content.letGo() : nil,
                observation != nil && content.events.beginsDelivery()
            )
        }
        telling()
        if tells, let observation { tellNoted(observation) }
        perform(commands, letGo ?? wire, part: part)
    }

    /// Performs commands in their order; those of an event that answers one come before the others.
    ///
    /// - Parameters:
    ///   - wire: The attempt that the event was about, or that was let go of.
    ///   - pass: With what the session has just admitted the request.
    private func perform(
        _ commands: ExchangeMachine.Commands, _ wire: AttemptOnWire?, part: Data = Data(), pass: Pass? = nil
    ) {
        for index in 0..<commands.count {
            switch commands[index] {
            case .nothing: break
            // The session and its queue.
            case .askSession: askSession(at: origin)
            case .askSessionWithSlot(let place): askSession(at: origin, isAnew: false, withSlotAt: place)
            case .leaveSession: manager.session?.left(self)
            case .tokenAccepted(let number): manager.gate?.accepted(tokenNumber: number)
            case .tokenRejected(let number): manager.session?.rejected(tokenNumber: number)
            case .releaseNotice: manager.session?.notices.release()
            // The lane.
            case .enterLane(let place): enterLane(of: origin, place: place)
            case .leaveLane(let place): manager.slots.leave(place: place, origin: origin)
            case .giveSlotBack: manager.slots.release(origin: wire?.target.origin ?? origin)
            // The attempt.
            case .sign(let place): sign(place: place, pass)
            case .send: if let wire, send(wire) { sendOn() }
            case .look: look()
            case .stop: if let wire { stop(wire) }
            case .limitRest(let isKept):
                guard let wire else { break }
                // The attempt has a deadline of its own, because the exchange may end first.
                manager.deadlines.set(
                    manager.time.now.advanced(
                        by: isKept ? AttemptOnWire.keptRestDuration : AttemptOnWire.unwantedRestDuration),
                    for: wire, number: isKept ? 1 : 2)
            // The response.
            case .keepCookies:
                if let wire, let head = wire.head { manager.keepCookies(of: head, from: wire) }
            case .openDestination:
                if let wire, let head = wire.head { openDestination(for: head, of: wire) }
            case .keepPart:
                guard let wire else { break }
                do {
                    try wire.keep(part)
                    guard destination != nil else { break }
                    let now = manager.time.now
                    content.withLock { $0.machine.partKept(of: wire.number, at: now) }
                } catch {
                    sinkFailed(error, of: wire)
                }
            case .dropPart:
                if let wire, wire.discard(part) { stop(wire) }
            case .keepBody: if let wire { keepBody(of: wire) }
            case .abandonBody: wire?.abandonSink()
            case .deliver(let isError): if let wire { deliver(wire, isError: isError) }
            case .deliverPart: if let wire { tellOutcome(wire) }
            case .tell: tellOutcome(judged: wire)
            case .tellOverdue: tellOverdue()
            // Another attempt.
            case .payForRetry: payForRetry(wire)
            case .giveBack(let cost): manager.quotas.giveBack(cost, at: origin)
            case .pause: pause()
            case .leavePause:
                manager.gate?.leaves(self)
                manager.connectivity?.forget(ObjectIdentifier(self))
            // The deadline.
            case .setDeadline(let instant, let number): manager.deadlines.set(instant, for: self, number: number)
            case .removeDeadline(let number): manager.deadlines.remove(self, number: number)
            // The observers.
            case .noteRetry: if observation != nil { tellRetry() }
            case .noteRetryAfter(let status):
                tell(.retried(after: .status(status), delivery: .answered, delay: nil), at: manager.time.now)
            case .noteRedirect:
                guard observation != nil else { break }
                let target = content.withLock { $0.machine.attempt.target.description }
                tell(.redirected(to: target), at: manager.time.now)
            }
        }
    }

    private var origin: Origin { content.withLock { $0.machine.attempt.target.origin } }

    /// Asks, and takes a slot if one is free: it is signed with the answer.
    ///
    /// Not before the answer, or a request that waits for the session would hold a slot that an earlier one needs.
    private func askSession(at origin: Origin, isAnew: Bool = true, withSlotAt place: Int? = nil) {
        func slot() -> Int? { place ?? (signing.policy.takesSlot ? manager.slots.take(origin: origin) : 0) }
        if let pass = manager.gate?.admit(self, anew: isAnew) {
            admitted(pass, withSlotAt: slot())
        } else if manager.session?.ask(for: self, until: totalDeadline, anew: isAnew) == true {
            admitted(nil, withSlotAt: slot())
        } else {
            queuedBySession()
            // It may have gone on already, and be at another origin.
            if place != nil, signing.policy.takesSlot { manager.slots.release(origin: origin) }
        }
    }

    /// Gets a slot at once, or waits for one.
    private func enterLane(of origin: Origin, place: Int?) {
        guard signing.policy.takesSlot else { return sign(place: 0, nil) }
        let (place, isGranted) = manager.slots.enter(self, origin: origin, place: place)
        if isGranted { sign(place: place, nil) } else { queuedForSlot(place: place) }
    }

    /// Sends what followed while the transport answered inside `start`, and so on.
    @inline(never)
    private func sendOn() {
        while true {
            let (next, isCurrent) = content.withLock { content in
                let next = content.next.take()
                if next == nil { content.isStarting = false }
                return (next, content.wire === next)
            }
            guard let next else { return }
            if isCurrent {
                guard send(next) else { return }
            } else {
                // The exchange has ended or goes on without it: its slot is free.
                ended(next) { $0.finished(next.number) }
            }
        }
    }

    /// - Returns: Whether there is another one to be sent, as the transport has answered inside `start`.
    @inline(__always)
    private func send(_ wire: AttemptOnWire) -> Bool {
        let receive: @Sendable (TransportEvent) -> Void = { wire.exchange.receive($0, from: wire) }
        let running =
            if let direct = manager.directTransport {
                direct.start(wire.request, taker: mayTakeWhole ? wire : nil, receive: receive)
            } else {
                manager.transport.start(wire.request, receive: receive)
            }
        // The exchange may have let go of the attempt while it was being started.
        let (isUnwanted, tells, goesOn) = content.withLock { content in
            var isUnwanted = false
            if content.wire === wire {
                content.running = running
            } else if content.lastEnded != wire.number {
                isUnwanted = wire.started(running)
            }
            content.isStarting = content.next != nil
            return (isUnwanted, observation != nil && content.events.beginsDelivery(), content.isStarting)
        }
        if isUnwanted { running.cancel() }
        if tells, let observation { tellNoted(observation) }
        return goesOn
    }

    private func look() {
        let (running, number, count) = content.withLock { content in
            content.looks += 1
            return (content.running, content.machine.number, content.looks)
        }
        guard let running else { return looked(of: number, count) }
        running.catchUp { [self] in looked(of: number, count) }
    }

    /// Stops an attempt that was let go of, as soon as its handle is known.
    private func stop(_ wire: AttemptOnWire) { content.withLock { _ in wire.stop() }?.cancel() }

    /// Lets the body go to its destination.
    private func openDestination(for head: TransportResponse, of wire: AttemptOnWire) {
        do {
            let response = response(head, Data(), of: wire)
            if let sink = try destination?.sink(for: response, of: wire) { wire.replaceSink(sink) }
            let now = manager.time.now
            content.withLock { $0.machine.partKept(of: wire.number, at: now) }
        } catch {
            sinkFailed(error, of: wire)
        }
    }

    private func keepBody(of wire: AttemptOnWire) {
        do {
            let body = try wire.finishSink()
            let isRejection = wire.head.map { manager.isRejection($0, body) } ?? false
            handle(wire) { $0.machine.bodyKept(body, of: wire.number, isRejection: isRejection) }
        } catch {
            sinkFailed(error, of: wire)
        }
    }

    private func payForRetry(_ wire: AttemptOnWire?) {
        let (retry, origin) = content.withLock { ($0.machine.unpaidRetry, $0.machine.attempt.target.origin) }
        guard let retry else { return }
        let isPaid = manager.quotas.pay(retry.cost, of: retry.quota, at: origin)
        handle(wire) { $0.machine.paid(isPaid, for: retry) }
    }

    /// The session has to know of a pause, so that a sign-out ends it.
    private func pause() {
        if signing.isSigned, manager.gate?.enters(self) == false {
            return refused(.signedOut(delivery: .notSent))
        }
        handle { $0.machine.pauseNoted() }
        guard let connectivity = manager.connectivity else { return }
        let (waits, number) = content.withLock { ($0.machine.waitsForNetwork, $0.machine.number) }
        guard waits else { return }
        connectivity.whenOnline(ObjectIdentifier(self)) { [self] in
            handle { $0.machine.networkReturned(after: number) }
        }
        // It may have ended before it was entered there.
        if !content.withLock({ $0.machine.isPausing }) { connectivity.forget(ObjectIdentifier(self)) }
    }

    private func tellRetry() {
        let now = manager.time.now
        guard let retry = content.withLock({ $0.machine.retries?.last }) else { return }
        let delay = retry.waitsForNetwork ? nil : retry.until.map { now.duration(to: $0) }
        tell(.retried(after: retry.setback.failure, delivery: retry.setback.delivery, delay: delay), at: now)
        guard retry.waitsForNetwork else { return }
        withEvents { $0.queued(for: .network, at: now) }
        deliver()
    }
}

// MARK: - To the transport, and to the caller

extension Exchange {
    /// Signs the attempt, with its slot in hand.
    private func sign(place: Int, _ pass: Pass?) {
        var additions = AttemptSigning.Additions(pass: pass ?? signing.pass(for: self))
        do throws(AuthenticationError) {
            try signing.complete(&additions, for: self) { isSigned in
                content.withLock { $0.machine.nextAttempt(isSigned: isSigned) }
            }
        } catch {
            return handle { $0.machine.slotGranted(error) }
        }
        let now = manager.time.now
        let sink = MemorySink(limit: signing.policy.maximumBodySize)
        // What was never sent is let go of outside the lock.
        var unsent: AttemptOnWire?
        let (commands, wire) = content.withLock { content in
            let commands = content.machine.slotGranted(place: place, by: additions.pass, at: now)
            guard case .send = commands.last else { return (commands, nil as AttemptOnWire?) }
            let request = signing.request(
                content.machine.attempt, additions, isSigned: content.machine.isAttemptSigned,
                number: content.machine.number, for: self)
            if observation != nil { content.events.sent(request, at: now) }
            if !content.machine.attempt.hasLeftOrigin { content.tenure = additions.pass.tenure }
            let wire = AttemptOnWire(of: self, request, sink: sink, tenure: content.tenure)
            content.wire = wire
            guard !content.isStarting else {
                (unsent, content.next) = (content.next, wire)
                return (commands, nil)
            }
            content.isStarting = true
            return (commands, wire)
        }
        withExtendedLifetime(unsent) {}
        // Without an attempt nothing is sent.
        perform(commands, wire)
    }

    /// Ends the sink, and tells the response: before anyone can be told of the end.
    private func deliver(_ wire: AttemptOnWire, isError: Bool) {
        guard let head = wire.head else { return }
        if bodyLength == 0 || bodyLength == nil && wire.sent > 0 {
            let all = TransferProgress(completed: wire.sent, total: bodyLength)
            progress?.report(all, isLast: true, at: manager.time.now)
        }
        do throws(AtomError) {
            let response = response(head, try wire.finishSink(), of: wire)
            if isError { throw outcomes.notRepeated(response) }
            guard outcomes.accepts(head, to: wire.request, for: destination) else { throw .response(response) }
            settle(.success(consume response))
            let cost = wire.number == 1 ? 0 : content.withLock { $0.machine.retries?.cost ?? 0 }
            manager.quotas.giveBack(max(cost, 1), at: wire.target.origin)
        } catch {
            settle(.failure(completed(error, of: wire)))
        }
    }

    /// Tells an outcome without the complete body of a sink.
    ///
    /// - Parameters:
    ///   - wire: The attempt whose sink has a part of the body, if that may be used.
    ///   - judged: The attempt whose body was judged, if the outcome is that.
    private func tellOutcome(_ wire: AttemptOnWire? = nil, judged: AttemptOnWire? = nil) {
        switch content.withLock({ $0.machine.outcome }) {
        case .failure(let error): settle(.failure(completed(error)))
        case .rejection(let head, let body):
            let response = response(head, body, of: judged)
            settle(
                outcomes.accepts(head, to: nil, for: destination)
                    ? .success(response) : .failure(completed(.response(response), of: judged)))
        case .cut(let head, let reception, let error):
            var response = response(head, (try? wire?.finishSink()) ?? Data(), of: wire)
            response.fault = error.explanation
            let isAccepted = destination == nil && outcomes.accepts(head, to: nil, for: destination)
            let failure = isAccepted ? error : .response(response)
            // Without the request no word is shown: what is cut off may be a part of a secret.
            settle(
                .failure(completed(reception == .bodyNotRepeatable ? outcomes.notRepeated(response) : failure)))
        case .response, nil: break
        }
    }

    /// Tells that the outcome is still to come.
    private func tellOverdue() {
        let (error, listener) = content.withLock { ($0.machine.overdue, $0.listener.take()) }
        if let error, case .awaitingAnyLate(let overdue)? = listener { overdue(completed(error)) }
    }

    /// A response as the caller gets it.
    ///
    /// - Parameter wire: The attempt that brought it; `nil` for the last one.
    private func response(_ head: TransportResponse, _ body: Data, of wire: AttemptOnWire?) -> AtomResponse {
        // Nearly every request is a GET that is sent once.
        guard let wire, wire.number == 1, wire.request.method == "GET", outcomes.keeping == .nothing else {
            return toldResponse(head, body, of: wire)
        }
        return outcomes.response(
            head, body, from: wire.target, ExchangeStory(), of: wire.tenure, sent: nil, by: manager)
    }

    /// With what the exchange has been through.
    @inline(never)
    private func toldResponse(_ head: TransportResponse, _ body: Data, of wire: AttemptOnWire?) -> AtomResponse {
        let (story, target, tenure) = content.withLock {
            ($0.machine.story, $0.machine.attempt.target, $0.tenure)
        }
        return outcomes.response(
            head, body, from: wire?.target ?? target, story, of: wire?.tenure ?? tenure,
            sent: outcomes.keeping == .nothing ? nil : wire?.request.headerFields, by: manager)
    }

    /// The error with its request, the attempts before, and when to come back.
    private func completed(_ error: AtomError, of wire: AttemptOnWire? = nil) -> AtomError {
        let (story, target) = content.withLock { ($0.machine.story, $0.machine.attempt.target) }
        return outcomes.completed(error, to: target, story, of: wire?.request, by: manager)
    }

    /// Tells the outcome; called once.
    private func settle(_ outcome: consuming Result<AtomResponse, AtomError>) {
        // What the app gave is let go of now: it may hold whoever holds this exchange.
        let listener = isAwaited ? nil : content.withLock { $0.listener.take() }
        listener?.close()
        progress?.end()
        if let observation { tellEnd(outcome, observation, at: manager.time.now) }
        if let listener { return listener.tell(outcome, manager) }
        var outcome = Optional(outcome)
        content.withLock { $0.awaited.settle(&outcome) }?.resume()
    }

    /// How far the request got, for an error.
    var delivery: AtomError.Delivery { content.withLock { $0.machine.delivery } }

    @inline(never)  // Like the next one: else an async frame would reserve memory for it.
    var hasOutcome: Bool { content.withLock { $0.awaited.isKnown } }

    @inline(never)
    func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        #if os(Linux)
            let hasAppExecutor = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        #else
            let hasAppExecutor = false  // No transport asks there.
        #endif
        if content.withLock({ $0.awaited.await(continuation, hasAppExecutor: hasAppExecutor) }) {
            continuation.resume()
        }
    }

    func takeOutcome() -> Result<AtomResponse, AtomError>? {
        let (outcome, untold) = content.withLock { ($0.awaited.take(), $0.untold.take()) }
        if let untold, let outcome { tell(untold, outcome) }
        return outcome
    }

    private var totalDeadline: MonotonicInstant { content.withLock { $0.machine.clock.end ?? $0.machine.clock.limit } }
    var service: any RefreshService { manager }
    var refreshMeans: RefreshMeans { manager.refreshMeans }

    func withEvents<T: Sendable>(_ body: (inout NotedEvents) -> T) -> T { content.withLock { body(&$0.events) } }
}
