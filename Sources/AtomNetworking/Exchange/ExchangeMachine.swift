import Foundation

/// The decisions of one exchange, from admission to its outcome, as a pure value.
///
/// An event changes the state and returns ``Commands``, in order. ``Exchange`` keeps the machine under a lock and
/// performs the commands outside of it. So another thread may handle an event before a command has been performed. Each
/// command whose answer matters comes back as an event, and the machine answers with what undoes a command that came
/// too late.
///
/// An exchange makes one attempt, and another one after each redirect, after its first 401, and where a ``RetryPolicy``
/// says so. Events of an older attempt change nothing.
struct ExchangeMachine: Sendable {
    /// So many bytes of an unwanted body are read, and of a 401's during a refresh: cheaper than a new connection.
    static let maximumRest = 1 << 16

    /// How long a request for a token is waited for after its deadline: its connection may be dead.
    static let overdueDuration = Duration.seconds(3_600)

    let terms: Terms
    var attempt: Attempt
    var state: State
    /// The number of the current attempt, or of the last one.
    private(set) var number = 0
    /// What a policy has sent again; `nil` for nothing.
    var retries: Retries?
    var clock: ExchangeClock
    /// How far the earlier attempts got.
    var reach = AtomError.Delivery.notSent
    /// Whether a 401 has been retried.
    var hasRetried = false
    /// Whether it was sent again with another proof, since the last 401 or retry.
    private var hasProvenAgain = false
    /// Whether a file or a stream is being opened, or is taking a part: then silence is not the server's.
    private(set) var isKeeping = false
    /// Whether a receiver held up what had arrived when the idle time was over.
    private(set) var wasBehind = false
    /// Whether a server may have got a request that outlives its deadline.
    private var mayHaveArrived = false
    /// What has followed from deadlines that have passed: most exchanges have none.
    private var lateness: Lateness?

    @inline(__always)
    init(_ attempt: consuming Attempt, _ terms: consuming Terms) {
        self.attempt = attempt
        // Swift 6.2 can't read them in the condition, since `terms` is consumed.
        let (isSigned, hasSession) = (terms.isSigned, terms.hasSession)
        state = isSigned && hasSession ? .waitingForSession(rejection: nil, place: nil) : .waitingForSlot(place: nil)
        clock = ExchangeClock(terms.timeouts, until: terms.deadline)
        self.terms = terms
    }
}

// MARK: - Before an attempt is on the wire

extension ExchangeMachine {
    /// The session admits the request, at once or after a wait.
    ///
    /// - Parameter slot: The place of the slot that it has in hand; `nil` for none.
    mutating func admitted(withSlotAt slot: Int? = nil) -> Commands {
        guard case .waitingForSession(let rejection, let place) = state else {
            return slot == nil ? Commands() : slotNotUsed()
        }
        state = .waitingForSlot(place: slot ?? place)
        var commands = Commands()
        // The 401 can't be the outcome any more.
        if case .arriving? = rejection?.body { commands.append(.limitRest(isKept: false)) }
        commands.append(slot.map { .sign(place: $0) } ?? .enterLane(place: place))
        return commands
    }

    /// The session has queued the request.
    mutating func queuedBySession() -> Commands {
        var commands = Commands()
        switch state {
        case .waitingForSession: arm(&commands)
        // It ended before it was queued, and must not stay in the queue.
        case .ended: commands.append(.leaveSession)
        case .waitingForSlot, .sending, .paying, .pausing, .receiving: break
        }
        return commands
    }

    /// The session doesn't admit the request, or whoever it belongs to has gone; it may wait for a network instead.
    mutating func refused(
        _ error: AuthenticationError, _ question: RetryQuestion? = nil, at now: MonotonicInstant
    ) -> Commands {
        var commands = Commands()
        switch state {
        case .waitingForSession(let rejection, _):
            if let wait = question?.networkWait(after: retries, or: .failure(.authentication(error)), at: now) {
                // The 401 can't be the outcome any more.
                if case .arriving? = rejection?.body { commands.append(.stop) }
                goOn(with: wait, &commands)
            } else if let rejection, case .missingCredential = error {
                // There is nothing to refresh with. The server's 401 says more than that.
                switch rejection.body {
                case .arriving:
                    clock.lastActivity = now
                    state = .receiving(rejection.head, .rejected)
                    arm(&commands)
                    return commands
                case .complete(let body): end(.rejection(rejection.head, body), .tell, &commands)
                case .givenUp:
                    let error = timeout("It was too long, took too long or broke off before the session decided")
                    end(.cut(rejection.head, .rejected, error), .tell, &commands)
                }
            } else {
                fail(.authentication(error.delivered(.init(delivery))), &commands)
            }
        case .pausing: fail(.authentication(error.delivered(.init(delivery))), &commands)
        case .waitingForSlot, .sending, .paying, .receiving, .ended: break
        }
        commands.append(.releaseNotice)
        return commands
    }

    /// It is in the lane, or has left it already.
    mutating func queuedForSlot(place: Int) -> Commands {
        var commands = Commands()
        switch state {
        case .waitingForSlot(let known):
            // Another thread may have sent it from there already, and it may wait elsewhere.
            state = .waitingForSlot(place: max(place, known ?? place))
            arm(&commands)
        case .ended: commands.append(.leaveLane(place: place))
        case .waitingForSession, .sending, .paying, .pausing, .receiving: break
        }
        return commands
    }

    /// The request has a slot, or needs none, and was signed if possible.
    ///
    /// - Parameters:
    ///   - pass: What the attempt is made with.
    mutating func slotGranted(
        place: Int, by pass: borrowing Pass, at now: MonotonicInstant
    ) -> Commands {
        guard isWaitingForSlot else { return slotNotUsed() }
        // Of many deadlines that pass at once, its own may not have been handled yet.
        guard !clock.isOver(at: now) else { return withoutSlot(fail(tookTooLong)) }
        guard isReadyToSend(isSigned: pass.authorization != nil) else {
            // Its token has died in the lane. It asks before it gives the slot back, else a later one could be sent first.
            state = .waitingForSession(rejection: nil, place: place)
            return Commands(.askSessionWithSlot(place: place))
        }
        number += 1
        (isKeeping, wasBehind) = (false, false)
        if lateness != nil { forgetLook() }
        clock.lastActivity = now
        state = .sending(tokenNumber: isAttemptSigned ? pass.tokenNumber : nil, isUnproven: pass.isUnproven)
        var commands = Commands()
        arm(&commands)
        commands.append(.send)
        return commands
    }

    /// The request has a slot, and must not be sent.
    mutating func slotGranted(_ error: AuthenticationError) -> Commands {
        guard isWaitingForSlot else { return slotNotUsed() }
        return withoutSlot(fail(.authentication(error.delivered(.init(delivery)))))
    }

    private func slotNotUsed() -> Commands { withoutSlot(Commands()) }

    private func withoutSlot(_ commands: consuming Commands) -> Commands {
        if terms.policy.takesSlot { commands.append(.giveSlotBack) }
        return commands
    }
}

// MARK: - The transport's events

extension ExchangeMachine {
    /// Bytes of the request's body were sent, and count for an attempt that goes on.
    @discardableResult
    mutating func sent(_ count: Int = 1, by number: Int, at now: MonotonicInstant) -> Bool {
        guard number == self.number else { return false }
        clock.lastActivity = now
        if count > 0, terms.outlivesDeadline { mayHaveArrived = true }
        // A body may be as large as it likes, also after an early response; the deadline queue asks again.
        if count > 0, terms.hasStreamedBody, clock.end != nil, isOnWire { clock.restart(at: now) }
        return isOnWire
    }

    /// The head of a response has arrived, and decides how the exchange goes on.
    ///
    /// - Parameters:
    ///   - reception: How the caller gets it by its status; the head of what goes to a file or a stream ends the resource
    ///     timeout, and gives the slot back.
    ///   - verdict: What it says of the token.
    mutating func headArrived(
        _ head: TransportResponse, of number: Int, isBodySpent: Bool = false, _ reception: Reception = .whole,
        _ question: RetryQuestion? = nil, verdict: TokenVerdict = .byStatus, at now: MonotonicInstant
    ) -> Commands {
        guard number == self.number else { return Commands() }
        clock.lastActivity = now
        guard case .sending(let tokenNumber, let isUnproven) = state else { return Commands() }
        reach = .answered
        var commands = Commands()
        if terms.policy.usesCookies, head.headerFields.contains("Set-Cookie") { commands.append(.keepCookies) }
        if verdict == .wantsAnotherProof, tokenNumber != nil {
            proveAgain(head, isBodySpent: isBodySpent, reception, &commands)
            return commands
        }
        let isRejected = verdict == .rejected || head.statusCode == 401 && verdict != .accepted
        let isJudgedLater = verdict == .byBody && !isRejected && reception == .unacceptable
        if let tokenNumber, !isRejected {
            if isUnproven, !isJudgedLater { commands.append(.tokenAccepted(tokenNumber: tokenNumber)) }
        } else if let tokenNumber, !hasRetried {
            guard attempt.body == nil || !isBodySpent else {
                // The session has to know, and the caller gets the response.
                commands.append(.tokenRejected(tokenNumber: tokenNumber))
                receive(head, .bodyNotRepeatable, &commands)
                return commands
            }
            commands.append(.noteRetryAfter(status: head.statusCode))
            commands.append(.limitRest(isKept: true))
            reject(tokenNumber, Rejection(head: head), &commands)
            return commands
        }
        if !goesOn(question, or: .response(head, reception), at: now, &commands) {
            if let tokenNumber, isJudgedLater, attempt.body == nil || !isBodySpent {
                receive(
                    head, .judged(tokenNumber: tokenNumber, isUnproven: isUnproven, isComplete: false), &commands)
            } else {
                follow(head, isBodySpent: isBodySpent, reception, &commands)
            }
        }
        return commands
    }

    /// A whole response has arrived at once, and may be the outcome.
    ///
    /// - Returns: `nil` if the machine wants its parts: of a later attempt, which may give back what a retry has cost,
    ///   while the session waits to hear of the token, and after the end.
    mutating func wholeArrived(_ head: TransportResponse, of number: Int) -> Commands? {
        guard number == self.number, number == 1, case .sending(_, isUnproven: false) = state else { return nil }
        reach = .answered
        state = .receiving(head, .whole)
        var commands = Commands()
        end(.response(head), .deliver(isError: false), &commands)
        return commands
    }

    /// The token of a first attempt was rejected: the session decides how it goes on.
    private mutating func reject(_ tokenNumber: Int, _ rejection: Rejection, _ commands: inout Commands) {
        hasRetried = true
        hasProvenAgain = false
        // The session must know of a rejected token before the next request gets the slot.
        commands.append(.tokenRejected(tokenNumber: tokenNumber))
        commands.append(.askSession)
        if holdsSlot { commands.append(.giveSlotBack) }
        state = .waitingForSession(rejection: rejection, place: nil)
    }

    /// The server wants a proof with its nonce, which says nothing of the token (RFC 9449 §9): once more.
    private mutating func proveAgain(
        _ head: TransportResponse, isBodySpent: Bool, _ reception: Reception, _ commands: inout Commands
    ) {
        guard !hasProvenAgain else { return receive(head, reception, &commands) }
        guard attempt.body == nil || !isBodySpent else { return receive(head, .bodyNotRepeatable, &commands) }
        hasProvenAgain = true
        commands.append(.limitRest(isKept: false))
        let givesSlotBack = holdsSlot
        beginAgain(&commands)
        if givesSlotBack { commands.append(.giveSlotBack) }
    }

    /// Follows a redirect, or lets the caller have the response.
    private mutating func follow(
        _ head: TransportResponse, isBodySpent: Bool, _ reception: Reception, _ commands: inout Commands
    ) {
        switch attempt.following(head, limit: terms.policy.redirectLimit) {
        case .none: receive(head, reception, &commands)
        case .redirected(let next) where next.body != nil && isBodySpent:
            receive(head, .bodyNotRepeatable, &commands)
        case .redirected(let next):
            // What a retry has cost belongs to the server that was asked.
            if let made = retries, next.target.origin != attempt.target.origin {
                retries = Retries(
                    failures: made.failures, last: made.last, cost: 0, lastNumber: made.lastNumber,
                    refusals: made.refusals)
            }
            attempt = next
            commands.append(.noteRedirect)
            commands.append(.limitRest(isKept: false))
            let givesSlotBack = holdsSlot
            beginAgain(&commands)
            if givesSlotBack { commands.append(.giveSlotBack) }
        case .tooManyRedirects:
            let explanation = "The server redirected more than \(attempt.redirects) times"
            fail(.session(URLError(.httpTooManyRedirects, explanation, delivery: .answered)), &commands)
        }
    }

    /// The caller gets this response.
    private mutating func receive(_ head: TransportResponse, _ reception: Reception, _ commands: inout Commands) {
        let givesSlotBack = holdsSlot
        state = .receiving(head, reception)
        guard case .streamed = reception else { return }
        clock.end = nil
        isKeeping = true
        arm(&commands)
        if givesSlotBack { commands.append(.giveSlotBack) }
        commands.append(.openDestination)
    }

    /// The reader of a streamed response doesn't keep up, or wants more.
    mutating func pauseChanged(_ isPaused: Bool, of number: Int, at now: MonotonicInstant) -> Commands {
        var commands = Commands()
        guard number == self.number, case .receiving(let head, .streamed) = state else { return commands }
        clock.lastActivity = now
        state = .receiving(head, .streamed(isPaused: isPaused))
        arm(&commands)
        return commands
    }

    /// A part of the response's body has arrived.
    mutating func partArrived(_ count: Int, of number: Int, at now: MonotonicInstant) -> Commands {
        guard number == self.number else { return Commands(.dropPart) }
        clock.lastActivity = now
        switch state {
        case .receiving(_, let reception):
            if case .streamed = reception { isKeeping = true }
            return Commands(.keepPart)
        case .waitingForSession(var rejection?, let place):
            guard case .arriving(let received) = rejection.body else { return Commands(.dropPart) }
            guard count <= Self.maximumRest - received else { return giveRestUp() }
            rejection.body = .arriving(received: received + count)
            state = .waitingForSession(rejection: rejection, place: place)
            return Commands(.keepPart)
        case .waitingForSession, .waitingForSlot, .sending, .paying, .pausing, .ended: return Commands(.dropPart)
        }
    }

    /// A file or a stream has been opened, or has taken a part.
    mutating func partKept(of number: Int, at now: MonotonicInstant) {
        guard number == self.number else { return }
        clock.lastActivity = now
        isKeeping = false
    }

    /// The rest of an attempt's response took too long.
    mutating func restExpired(_ number: Int) -> Commands { number == self.number ? giveRestUp() : Commands() }

    /// Stops reading the body of a 401.
    private mutating func giveRestUp() -> Commands {
        guard case .waitingForSession(var rejection?, let place) = state, case .arriving = rejection.body
        else { return Commands() }
        rejection.body = .givenUp
        state = .waitingForSession(rejection: rejection, place: place)
        return Commands(.stop)
    }

    /// The sink could not take a part of the body.
    ///
    /// - Parameter asksAgain: Whether the destination asks for another response:
    ///   once, at the same place, and without a part of this one.
    mutating func sinkFailed(
        _ error: AtomError, of number: Int, asksAgain: Bool = false, at now: MonotonicInstant
    ) -> Commands {
        guard number == self.number else { return Commands() }
        guard case .receiving(let head, let reception) = state else { return giveRestUp() }
        guard asksAgain, case .streamed = reception else { return breakOff(error, .deliverPart) }
        // The head has ended the time for all, and another one is waited for.
        clock.restart(at: now)
        var commands = Commands(.noteRetryAfter(status: head.statusCode))
        beginAgain(&commands)
        arm(&commands)
        commands.append(.stop)
        return commands
    }

    /// The attempt is complete.
    mutating func finished(_ number: Int) -> Commands {
        guard number == self.number else { return Commands(.abandonBody) }
        var commands = Commands()
        switch state {
        case .receiving(let head, .judged(let tokenNumber, let isUnproven, _)):
            commands.append(.keepBody)
            if holdsSlot { commands.append(.giveSlotBack) }
            state = .receiving(
                head, .judged(tokenNumber: tokenNumber, isUnproven: isUnproven, isComplete: true))
        case .receiving(let head, .bodyNotRepeatable): end(.response(head), .deliver(isError: true), &commands)
        case .receiving(let head, _): end(.response(head), .deliver(isError: false), &commands)
        case .sending:
            let explanation = "The transport ended without a response"
            commands.append(.abandonBody)
            end(
                .failure(.session(URLError(.badServerResponse, explanation, delivery: delivery))), .tell, &commands)
        case .waitingForSession(let rejection?, _):
            if case .arriving = rejection.body { return Commands(.keepBody) }
            commands.append(.abandonBody)
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended:
            commands.append(.abandonBody)
            attemptOver(&commands)
        }
        return commands
    }

    /// The sink has returned the complete body of a rejection, or of what may be one.
    ///
    /// - Parameter isRejection: Whether the body says that the token is not valid.
    mutating func bodyKept(_ body: Data, of number: Int, isRejection: Bool = false) -> Commands {
        var commands = Commands()
        guard number == self.number else { return commands }
        switch state {
        case .waitingForSession(var rejection?, let place):
            guard case .arriving = rejection.body else { return commands }
            rejection.body = .complete(body)
            state = .waitingForSession(rejection: rejection, place: place)
        case .receiving(let head, .judged(let tokenNumber, _, _)) where isRejection && !hasRetried:
            commands.append(.noteRetryAfter(status: head.statusCode))
            reject(tokenNumber, Rejection(head: head, body: .complete(body)), &commands)
        case .receiving(let head, let reception):
            if case .judged(let tokenNumber, isUnproven: true, _) = reception, !isRejection {
                commands.append(.tokenAccepted(tokenNumber: tokenNumber))
            }
            // Or the session has refused between `finished` and this event.
            end(.rejection(head, body), .tell, &commands)
        case .waitingForSession, .waitingForSlot, .sending, .paying, .pausing, .ended: break
        }
        return commands
    }

    /// The attempt has failed; this is its last event.
    mutating func failed(
        _ failure: TransportFailure, _ number: Int, _ question: RetryQuestion? = nil, at now: MonotonicInstant
    ) -> Commands {
        var commands = Commands(.abandonBody)
        guard number == self.number else { return commands }
        let error: AtomError
        switch state {
        // Nothing more is known of this attempt than of the earlier ones.
        case .sending: error = failure.atomError(delivery: failure.delivery == .notSent ? reach : failure.delivery)
        case .receiving(let head, let reception):
            error = failure.atomError(delivery: .answered)
            if reception.isError {
                commands = Commands()
                end(.cut(head, reception, error), .deliverPart, &commands)
                return commands
            }
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended:
            // It has stopped by itself.
            _ = giveRestUp()
            attemptOver(&commands)
            return commands
        }
        if !goesOn(question, or: .failure(error), at: now, &commands) { end(.failure(error), .tell, &commands) }
        return commands
    }

    /// The last event of an attempt that the exchange has let go of.
    private mutating func attemptOver(_ commands: inout Commands) {
        guard case .ended(let outcome, holdsSlot: true) = state else { return }
        state = .ended(outcome, holdsSlot: false)
        commands.append(.giveSlotBack)
    }
}

// MARK: - Another attempt

extension ExchangeMachine {
    /// Goes on to another attempt, as soon as it is paid for, if the policy and
    /// the state allow one: nobody has seen anything of the current one's response.
    ///
    /// - Returns: Whether it does.
    private mutating func goesOn(
        _ question: RetryQuestion?, or alternative: Retry.Alternative, at now: MonotonicInstant,
        _ commands: inout Commands
    ) -> Bool {
        switch state {
        case .sending, .receiving(_, .whole): break
        case .receiving, .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: return false
        }
        guard terms.policy.retries || question?.setback.isUnprocessed == true,
            let retry = question?.retry(of: attempt, after: retries, until: clock.end, or: alternative, at: now)
        else { return false }
        // The connection of a silent one is closed at once, so the slot doesn't wait for the last event.
        if case .silence = alternative { commands.append(.stop) }
        if case .response = alternative {} else if holdsSlot { commands.append(.giveSlotBack) }
        if case .sending = state, retry.setback.delivery != .notSent { reach = retry.setback.delivery }
        state = .paying(retry)
        if retry.cost > 0 { commands.append(.payForRetry) } else { goOn(with: retry, &commands) }
        return true
    }

    /// A retry has been paid for, or can't be.
    mutating func paid(_ isPaid: Bool, for retry: Retry) -> Commands {
        var commands = Commands()
        guard case .paying(let current) = state, current === retry else {
            // The exchange has ended in the meantime.
            return isPaid ? Commands(.giveBack(retry.cost)) : commands
        }
        if isPaid {
            goOn(with: retry, &commands)
            return commands
        }
        switch retry.alternative {
        case .response(let head, let reception): follow(head, isBodySpent: false, reception, &commands)
        case .failure(let error), .silence(let error): end(.failure(error), .tell, &commands)
        case .none: break
        }
        return commands
    }

    private mutating func goOn(with retry: Retry, _ commands: inout Commands) {
        hasProvenAgain = false
        retries = Retries(
            failures: (retries?.failures ?? []) + [retry.setback.failure], last: retry,
            // What was paid for an attempt that has not been made stays paid.
            cost: retry.cost + unusedCost, lastNumber: number,
            refusals: (retries?.refusals ?? 0) + (retry.setback.isUnprocessed ? 1 : 0),
            networkDeadline: retries?.networkDeadline ?? (retry.waitsForNetwork ? retry.until : nil))
        let givesSlotBack = holdsSlot
        commands.append(.noteRetry)
        if case .response = retry.alternative { commands.append(.limitRest(isKept: false)) }
        if let until = retry.until {
            state = .pausing(until: until)
            commands.append(.pause)
        } else {
            beginAgain(&commands)
        }
        if givesSlotBack { commands.append(.giveSlotBack) }
    }

    /// Asks for what the next attempt needs.
    private mutating func beginAgain(_ commands: inout Commands) {
        if isAttemptSigned, terms.hasSession {
            state = .waitingForSession(rejection: nil, place: nil)
            commands.append(.askSession)
        } else {
            state = .waitingForSlot(place: nil)
            commands.append(.enterLane(place: nil))
        }
    }

    /// The session knows of the pause, or there is no session.
    mutating func pauseNoted() -> Commands {
        var commands = Commands()
        // Otherwise it was over before the session knew of it.
        if isPausing { arm(&commands) } else { commands.append(.leavePause) }
        return commands
    }

    /// There is a network, for the pause after this attempt.
    mutating func networkReturned(after number: Int) -> Commands {
        guard isPausing, number == self.number, waitsForNetwork else { return Commands() }
        return pauseOver()
    }

    private mutating func pauseOver() -> Commands {
        var commands = Commands(.leavePause)
        beginAgain(&commands)
        return commands
    }
}

// MARK: - The end

extension ExchangeMachine {
    /// The caller has cancelled.
    mutating func cancelled() -> Commands { fail(.cancelled(delivery)) }

    /// A deadline has passed; it may be an older one.
    ///
    /// - Parameter isBehind: Whether something has arrived that an observer holds up: then silence is not the server's.
    mutating func deadlinePassed(
        at now: MonotonicInstant, isBehind: Bool = false, _ question: RetryQuestion? = nil
    ) -> Commands {
        let isOver = clock.isOver(at: now)
        switch state {
        case .ended: return Commands()
        // All has arrived: `bodyKept` or `sinkFailed` follows.
        case .receiving(_, .judged(_, _, isComplete: true)): return Commands()
        case .waitingForSession where isOver:
            return fail(.authentication(.waitedTooLong(delivery: .init(delivery))))
        case .waitingForSlot where isOver:
            return fail(timeout("The request timed out while it waited for its turn"))
        case .pausing where isOver && waitsForNetwork:
            // The reason is the missing network, not the time.
            let code = retries?.failures.last?.connectionCode ?? .notConnectedToInternet
            let explanation = "There was no network until the request's deadline"
            return fail(.session(URLError(code, explanation, delivery: delivery)))
        case .pausing where isOver:
            return fail(timeout("The request timed out while it waited to be sent again"))
        case .pausing(let until) where now >= until:
            return pauseOver()
        case .paying where isOver: return fail(tookTooLong)
        case .sending where isOver, .receiving where isOver:
            if let overdue { return fail(overdue) }
            return look(at: now) ?? timeIsOver(tookTooLong, at: now)
        case .sending where overdue != nil, .receiving where overdue != nil: break
        case .receiving(_, .streamed(isPaused: true)): break
        case .sending where isBehind || wasBehind, .receiving where isBehind || wasBehind || isKeeping:
            // Once more afterwards: the server may have been held back, and gets its time.
            wasBehind = isBehind
            clock.lastActivity = max(clock.lastActivity, now)
        case .sending, .receiving:
            guard now >= clock.silenceEnd else { break }
            if let look = look(at: now) { return look }
            let error = timeout("Nothing came or went for \(clock.timeouts.idle)")
            var commands = Commands()
            return goesOn(question, or: .silence(error), at: now, &commands) ? commands : timeIsOver(error, at: now)
        case .waitingForSession, .waitingForSlot, .paying, .pausing: break
        }
        lookEnd = nil
        var commands = Commands()
        arm(&commands)
        return commands
    }

    private final class Lateness: Sendable {
        let lookEnd: MonotonicInstant?
        let overdue: AtomError?

        init(lookEnd: MonotonicInstant?, overdue: AtomError?) { (self.lookEnd, self.overdue) = (lookEnd, overdue) }
    }

    /// Until when the transport looks for what had arrived when a deadline passed; `nil` if it isn't asked to.
    private(set) var lookEnd: MonotonicInstant? {
        get { lateness?.lookEnd }
        set { if newValue != lookEnd { lateness = Lateness(lookEnd: newValue, overdue: overdue) } }
    }

    @inline(never)
    private mutating func forgetLook() { lookEnd = nil }

    /// With what it would have ended at its deadline, if it goes on without one.
    var overdue: AtomError? { lateness?.overdue }

    /// What has arrived by now counts, also if the process has stood still until after the deadline: the transport
    /// looks once, for a moment.
    ///
    /// - Returns: `nil` if it has looked.
    private mutating func look(at now: MonotonicInstant) -> Commands? {
        let end = lookEnd ?? now.advanced(by: .look)
        guard now < end else { return nil }
        var commands = Commands(clock.set(end))
        if lookEnd == nil { commands.append(.look) }
        lookEnd = end
        return commands
    }

    /// The transport has handed over what had arrived when this attempt's deadline passed.
    mutating func looked(of number: Int, at now: MonotonicInstant, _ question: RetryQuestion? = nil) -> Commands {
        guard number == self.number, lookEnd != nil else { return Commands() }
        lookEnd = now
        return deadlinePassed(at: now, question)
    }

    /// Ends an attempt on the wire, or lets it go on for as long as its transport does, and an hour at most.
    private mutating func timeIsOver(_ error: AtomError, at now: MonotonicInstant) -> Commands {
        // One that is still connecting would be sent later, when another has been sent in its place.
        guard terms.outlivesDeadline, mayHaveArrived || reach == .answered else { return breakOff(error) }
        let end = now.advanced(by: Self.overdueDuration)
        lateness = Lateness(lookEnd: lookEnd, overdue: error)
        clock.end = end
        var commands = Commands(clock.set(end))
        commands.append(.tellOverdue)
        return commands
    }

    private var tookTooLong: AtomError { timeout("The request did not complete in \(clock.timeouts.total)") }

    private func timeout(_ explanation: String) -> AtomError {
        .session(URLError(.timedOut, explanation, delivery: delivery))
    }

    /// Ends the exchange; no attempt has to be stopped.
    private mutating func end(_ outcome: Outcome, _ telling: Command, _ commands: inout Commands) {
        let givesSlotBack = holdsSlot
        commands.append(clock.disarm())
        commands.append(telling)
        if case .receiving(_, .rejected) = state { commands.append(.releaseNotice) }
        if givesSlotBack { commands.append(.giveSlotBack) }
        state = .ended(outcome, holdsSlot: false)
    }

    /// Ends the exchange with an error.
    mutating func fail(_ error: AtomError) -> Commands {
        var commands = Commands()
        fail(error, &commands)
        return commands
    }

    /// Ends the exchange because no more of it can be had: of an error the status is known.
    ///
    /// - Parameter telling: `tell`, unless the thread of the attempt's events does it: only that one has the sink.
    private mutating func breakOff(_ error: AtomError, _ telling: Command = .tell) -> Commands {
        guard case .receiving(let head, let reception) = state, reception.isError else { return fail(error) }
        var commands = Commands()
        fail(error, as: .cut(head, reception, error), telling: telling, &commands)
        return commands
    }

    private mutating func fail(
        _ error: AtomError, as outcome: Outcome? = nil, telling: Command = .tell, _ commands: inout Commands
    ) {
        var isOnWire = false
        if case .ended = state { return }
        commands.append(clock.disarm())
        switch state {
        case .waitingForSession(let rejection, _):
            commands.append(.leaveSession)
            if case .arriving? = rejection?.body { isOnWire = true }
        case .waitingForSlot(let place): if let place { commands.append(.leaveLane(place: place)) }
        case .pausing: commands.append(.leavePause)
        case .paying(let retry): if case .response = retry.alternative { isOnWire = true }
        case .sending, .receiving: isOnWire = true
        case .ended: break
        }
        if unusedCost > 0 { commands.append(.giveBack(unusedCost)) }
        let needsSink = if case .deliverPart = telling { true } else { false }
        // Before: what the caller sends next doesn't begin on a connection that has gone silent.
        if isOnWire, !needsSink { commands.append(.stop) }
        commands.append(telling)
        if case .receiving(_, .rejected) = state { commands.append(.releaseNotice) }
        if isOnWire, needsSink { commands.append(.stop) }
        state = .ended(outcome ?? .failure(error), holdsSlot: holdsSlot)
    }

    /// Sets the deadline: the end of the exchange's time, of its pause, or of its
    /// idle time, which doesn't run while a reader makes the server wait.
    private mutating func arm(_ commands: inout Commands) {
        let other: MonotonicInstant? =
            switch state {
            case .pausing(let until): until
            case .receiving(_, .streamed(isPaused: true)): nil
            case .sending, .receiving: overdue == nil ? clock.silenceEnd : nil
            case .waitingForSession, .waitingForSlot, .paying, .ended: nil
            }
        commands.append(clock.arm(other))
    }
}

// MARK: - What the state says

extension ExchangeMachine {
    /// The outcome, if it is known.
    var outcome: Outcome? { if case .ended(let outcome, _) = state { outcome } else { nil } }

    var unpaidRetry: Retry? { if case .paying(let retry) = state { retry } else { nil } }

    var isPausing: Bool { if case .pausing = state { true } else { false } }

    var isWaitingForSession: Bool { if case .waitingForSession = state { true } else { false } }

    var isWaitingForSlot: Bool { if case .waitingForSlot = state { true } else { false } }

    var isOnWire: Bool {
        switch state {
        case .sending, .receiving: true
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: false
        }
    }

    /// Whether the next head of this attempt counts.
    func awaitsHead(of number: Int) -> Bool {
        if case .sending = state { number == self.number } else { false }
    }

    /// How far the request got, for an error.
    var delivery: AtomError.Delivery {
        switch state {
        case .sending: .maybeSent
        case .receiving: .answered
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: reach
        }
    }

    /// What an outcome tells of the exchange.
    var story: ExchangeStory {
        ExchangeStory(
            asked: attempt.asked, attempts: number, hasLeftOrigin: attempt.hasLeftOrigin,
            hasChanged: hasRetried || attempt.redirects > 0, failures: retries?.failures ?? [])
    }

    /// What was paid for a retry that has not been sent.
    var unusedCost: Int { retries.map { $0.lastNumber == number ? $0.cost : 0 } ?? 0 }

    /// Whether the last retry waits, or has waited, for a network.
    var waitsForNetwork: Bool { retries?.last.waitsForNetwork ?? false }

    /// Whether the attempt is signed.
    ///
    /// After a redirect to another origin it never is.
    var isAttemptSigned: Bool { terms.isSigned && !attempt.hasLeftOrigin }

    /// Whether a slot sends the attempt.
    func isReadyToSend(isSigned: Bool) -> Bool { isWaitingForSlot && (isSigned || !isAttemptSigned) }

    /// The next attempt, if there is a signature or not.
    func nextAttempt(isSigned: Bool) -> NextAttempt {
        NextAttempt(
            attempt: attempt, number: number + 1, isSigned: isAttemptSigned, isReady: isReadyToSend(isSigned: isSigned))
    }

    /// Whether the attempt on the wire still has to give its slot back.
    var holdsSlot: Bool {
        guard terms.policy.takesSlot else { return false }
        return switch state {
        case .sending, .receiving(_, .whole), .receiving(_, .unacceptable), .receiving(_, .bodyNotRepeatable),
            .receiving(_, .judged(_, _, isComplete: false)):
            true
        case .paying(let retry): if case .response = retry.alternative { true } else { false }
        case .ended(_, let holdsSlot): holdsSlot
        case .receiving, .waitingForSession, .waitingForSlot, .pausing: false
        }
    }
}

// MARK: - What it is made of

extension ExchangeMachine {
    enum State: Sendable {
        /// It asks the session, or waits for a refresh, perhaps after a 401; its place in the lane, if it could
        /// not use its slot.
        case waitingForSession(rejection: Rejection?, place: Int?)
        /// It asks for a slot, or waits in the lane, at a place as soon as that is known.
        case waitingForSlot(place: Int?)
        /// The transport has the request, signed with the access token of this number, if with any; the session waits
        /// to hear of an unproven one. No head has arrived.
        case sending(tokenNumber: Int?, isUnproven: Bool)
        /// It pays for another attempt, in the thread of the event that asked for it.
        case paying(Retry)
        /// It waits before another attempt. It has no slot, and is in no queue.
        case pausing(until: MonotonicInstant)
        /// The head has been judged: the caller gets this response.
        case receiving(TransportResponse, Reception)
        /// The outcome is known; the last event of the attempt may still have to give the slot back.
        case ended(Outcome, holdsSlot: Bool)
    }

    /// How the caller gets a response.
    enum Reception: Sendable, Equatable {
        /// As it is.
        case whole
        /// As an error, whatever becomes of its body.
        case unacceptable
        /// As an error, unless its body says that this token is not valid; the session waits to hear of an unproven one.
        /// A complete one has given its slot back: no further event of the attempt could.
        case judged(tokenNumber: Int, isUnproven: Bool, isComplete: Bool)
        /// As part of an error: the body of the request can't be read again for another attempt.
        case bodyNotRepeatable
        /// Through a file or a stream. If its reader doesn't keep up, silence is not the server's.
        case streamed(isPaused: Bool)
        /// As a 401 that nothing can be done about: the app hears of the session's end afterwards.
        case rejected

        /// Whether the status is the outcome, also if the body can't be read.
        var isError: Bool {
            switch self {
            case .unacceptable, .judged, .bodyNotRepeatable, .rejected: true
            case .whole, .streamed: false
            }
        }
    }

    /// What the head of a response says of the token that has signed its request.
    enum TokenVerdict: Sendable {
        /// It is rejected by a 401, and accepted by anything else.
        case byStatus
        case rejected
        /// It is rejected if the body says so.
        case byBody
        /// It is good, and the request needs more than it has.
        case accepted
        /// It is good, and the request needs another proof of who uses it.
        case wantsAnotherProof
    }

    /// What the caller gets.
    enum Outcome: Sendable {
        /// A response; the sink has its body.
        case response(TransportResponse)
        /// A 401 whose body was complete before the session refused a refresh.
        case rejection(TransportResponse, Data)
        /// An error whose body can't be read to its end, and why.
        case cut(TransportResponse, Reception, AtomError)
        case failure(AtomError)
    }

    /// A 401, or what means the same, that a refresh is asked for.
    struct Rejection: Sendable {
        let head: TransportResponse
        var body = Body.arriving(received: 0)

        /// The caller gets it if there is nothing to refresh with.
        enum Body: Sendable {
            case arriving(received: Int)
            case complete(Data)
            /// It was too long, or the connection was lost.
            case givenUp
        }
    }

    /// What doesn't change during an exchange.
    struct Terms: Sendable {
        let policy: ExchangePolicy
        /// Whether the service's authentication method signs the request.
        let isSigned: Bool
        /// Whether a session signs, and has to admit the request first.
        let hasSession: Bool
        let timeouts: RequestTimeouts
        let deadline: MonotonicInstant
        /// Whether the body is read while it is sent: the resource timeout counts from its last byte.
        var hasStreamedBody = false
        /// Whether what comes after its deadline is taken, once it has been sent: then the caller hears that it is overdue.
        var outlivesDeadline = false
    }
}

// MARK: - What an event comes to

extension ExchangeMachine {
    /// One thing that an exchange is to do.
    enum Command: Sendable, Equatable {
        case nothing

        // The session and its queue.
        /// Ask for admission anew: it joins the end of the queue.
        case askSession
        /// Ask for admission, and keep the slot and the place in the queue meanwhile.
        case askSessionWithSlot(place: Int)
        case leaveSession
        case tokenAccepted(tokenNumber: Int)
        case tokenRejected(tokenNumber: Int)
        /// The caller has been told: the app may hear of its session's end.
        case releaseNotice

        // The lane of the origin.
        /// - Parameter place: The one that it had before; `nil` for the end.
        case enterLane(place: Int?)
        case leaveLane(place: Int)
        case giveSlotBack

        // The attempt.
        /// Sign the attempt, with the slot in hand.
        case sign(place: Int)
        /// Hand the attempt to the transport.
        case send
        /// Let the transport hand over what has arrived; the answer is an event.
        case look
        /// Stop the attempt, and let go of it.
        case stop
        /// Read the rest of the response for a while only, so that its connection can be used again. The caller
        /// may get it after all; otherwise the exchange lets go of the attempt.
        case limitRest(isKept: Bool)

        // The response.
        case keepCookies
        /// Open the destination of the body.
        case openDestination
        /// Pass this part of the body to the sink.
        case keepPart
        case dropPart
        /// End the sink, and give its data to the machine.
        case keepBody
        case abandonBody
        /// End the sink, and tell the caller the response, or the error that the request's body can't be sent again.
        case deliver(isError: Bool)
        /// End the sink, and tell the caller the outcome with as much of the body as has come.
        case deliverPart
        /// Tell the caller the outcome.
        case tell
        /// Tell the caller that the outcome is overdue.
        case tellOverdue

        // Another attempt.
        /// Pay for the retry; the answer is an event.
        case payForRetry
        /// Give back what was paid for an attempt that is not made.
        case giveBack(Int)
        /// Tell the session and the network's monitor that the exchange pauses.
        case pause
        case leavePause

        // The deadline. If two changes are performed in the wrong order, the one with the higher number counts.
        case setDeadline(MonotonicInstant, number: Int)
        case removeDeadline(number: Int)

        // The observers.
        case noteRetry
        case noteRetryAfter(status: Int)
        case noteRedirect
    }

    /// What an event comes to, in order: of a fixed size and without references, as every event returns one, and
    /// inlined, as calls would cost 180 instructions a request.
    struct Commands: Sendable {
        /// No event comes to more; the table of all events in all states and the model show that.
        static let capacity = 6

        private(set) var count = 0
        /// Whether the exchange lets go of the attempt: no later command concerns it.
        private(set) var letGo = false
        private var commands: (Command, Command, Command, Command, Command, Command) = (
            .nothing, .nothing, .nothing, .nothing, .nothing, .nothing
        )

        init() {}

        @inline(__always)
        init(_ command: Command) { append(command) }

        @inline(__always)
        mutating func append(_ command: Command) {
            switch command {
            case .nothing: return
            case .stop, .limitRest(isKept: false): letGo = true
            default: break
            }
            switch count {
            case 0: commands.0 = command
            case 1: commands.1 = command
            case 2: commands.2 = command
            case 3: commands.3 = command
            case 4: commands.4 = command
            case 5: commands.5 = command
            default: preconditionFailure("an event comes to more than \(Self.capacity) commands")
            }
            count += 1
        }

        /// The last one; `nothing` if there is none.
        var last: Command { self[max(count - 1, 0)] }

        @inline(__always)
        subscript(index: Int) -> Command {
            switch index {
            case 0: commands.0
            case 1: commands.1
            case 2: commands.2
            case 3: commands.3
            case 4: commands.4
            default: commands.5
            }
        }
    }
}

// MARK: - The time

/// The time of an exchange: when it is over, and when the server has been silent for too long.
struct ExchangeClock: Sendable {
    let timeouts: RequestTimeouts
    /// When the time is over for an exchange that doesn't stream.
    let limit: MonotonicInstant
    /// When its time is over; `nil` if it has no end any more.
    var end: MonotonicInstant?
    /// The time of the last byte sent or received.
    var lastActivity = MonotonicInstant(nanoseconds: 0)
    /// The number of the last change of the deadline; 0 for none.
    private(set) var lastChange = 0

    init(_ timeouts: RequestTimeouts, until limit: MonotonicInstant) {
        (self.timeouts, self.limit, end) = (timeouts, limit, limit)
    }

    func isOver(at now: MonotonicInstant) -> Bool { end.map { now >= $0 } ?? false }

    /// When the server has been silent for too long.
    var silenceEnd: MonotonicInstant { lastActivity.advanced(byNanoseconds: timeouts.idleNanoseconds) }

    /// The time begins anew.
    mutating func restart(at now: MonotonicInstant) { end = now.advanced(byNanoseconds: timeouts.totalNanoseconds) }

    /// Sets the deadline: the end of the time, or this if it comes first.
    mutating func arm(_ other: MonotonicInstant?) -> ExchangeMachine.Command {
        guard let next = end.map({ end in other.map { min(end, $0) } ?? end }) ?? other else { return disarm() }
        return set(next)
    }

    mutating func set(_ deadline: MonotonicInstant) -> ExchangeMachine.Command {
        lastChange += 1
        return .setDeadline(deadline, number: lastChange)
    }

    mutating func disarm() -> ExchangeMachine.Command {
        guard lastChange > 0 else { return .nothing }
        lastChange += 1
        return .removeDeadline(number: lastChange)
    }
}
