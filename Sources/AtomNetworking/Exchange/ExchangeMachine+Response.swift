import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Events of the transport, with the number of their attempt.
extension ExchangeMachine {
    /// Bytes of the request's body were sent.
    mutating func sent(_ count: Int = 1, by number: Int, at now: MonotonicInstant) {
        guard number == self.number else { return }
        touch(at: now)
        guard count > 0, terms.hasStreamedBody, deadline != nil else { return }
        // A body may be as large as it likes, also after an early response; the deadline queue asks again.
        switch state {
        case .sending, .receiving: deadline = now.advanced(byNanoseconds: terms.timeouts.totalNanoseconds)
        case .waitingForSession, .waitingForSlot, .pausing, .ended: break
        }
    }

    /// Whether the next head of this attempt counts.
    func awaitsHead(of number: Int) -> Bool {
        if case .sending = state { number == self.number } else { false }
    }

    /// The head of a response has arrived.
    ///
    /// It decides how the exchange goes on.
    ///
    /// - Parameters:
    ///   - isBodySpent: Whether the request's body has been read and can't be read again.
    ///   - isStreamed: Whether the response goes to a file or a stream. Then it
    ///     has its own pace: the head ends the resource timeout, and gives the
    ///     slot back.
    ///   - retry: Another attempt instead of this response, never for a 401.
    mutating func headArrived(
        _ head: TransportResponse, of number: Int, isBodySpent: Bool = false, isStreamed: Bool = false,
        retry: Retry? = nil, at now: MonotonicInstant
    ) -> Step {
        guard number == self.number, case .sending(var transmission, let version) = state else {
            if number == self.number { touch(at: now) }
            return Step()
        }
        reach = .answered
        var step = Step()
        if terms.policy.usesCookies, head.headerFields.contains("Set-Cookie") { step.effects = .keepCookies }
        if let version {
            if head.statusCode != 401 {
                step.acceptedVersion = version
            } else if !hasRetried, isBodySpent {
                // The session has to know, and the caller gets the 401.
                step.rejectedVersion = version
                transmission.needsSpentBody = true
                receive(head, transmission, step: &step, at: now)
                return step
            } else if !hasRetried {
                hasRetried = true
                step.effects.insert(.limitRest)
                step.effects.formUnion(slotGivenBack(by: transmission))
                let rejection = Rejection(head: head, body: .arriving(received: 0))
                state = .waitingForSession(rejection: rejection, keepsPlace: false)
                step.action = .retry(rejectedVersion: version)
                return step
            }
        }
        if retry != nil, let retry = current(retry) {
            step.effects.formUnion(slotGivenBack(by: transmission))
            step.effects.formUnion([.letGo, .limitRest])
            sendAgain(retry, &step)
            return step
        }
        switch attempt.following(head, limit: terms.policy.redirectLimit) {
        case .none:
            receive(head, transmission, isStreamed: isStreamed, step: &step, at: now)
        case .redirected(let next) where next.body != nil && isBodySpent:
            transmission.needsSpentBody = true
            receive(head, transmission, step: &step, at: now)
        case .redirected(let next):
            // What a retry has cost belongs to the server that was asked.
            if let made = retries, next.target.origin != attempt.target.origin {
                retries = Retries(failures: made.failures, lastCost: 0, lastNumber: made.lastNumber)
            }
            attempt = next
            step.effects.formUnion(slotGivenBack(by: transmission))
            step.effects.formUnion([.letGo, .limitRest])
            beginAgain(&step)
        case .tooManyRedirects:
            let explanation = "The server redirected more than \(attempt.redirects) times"
            state = .receiving(transmission, head)
            let failure = fail(.session(URLError(.httpTooManyRedirects, explanation, delivery: .answered)))
            step.action = failure.action
            step.effects.formUnion(failure.effects)
            step.deadline = failure.deadline
        }
        return step
    }

    /// The caller gets this response.
    private mutating func receive(
        _ head: TransportResponse, _ transmission: consuming Transmission, isStreamed: Bool = false,
        step: inout Step, at now: MonotonicInstant
    ) {
        transmission.lastActivity = now
        if isStreamed {
            step.effects.formUnion(slotGivenBack(by: transmission))
            transmission.holdsSlot = false
            transmission.isStreamed = true
            deadline = nil
        }
        state = .receiving(transmission, head)
        if isStreamed { step.deadline = armed() }
    }

    /// The reader of a streamed response doesn't keep up, or wants more.
    mutating func pauseChanged(_ isPaused: Bool, of number: Int, at now: MonotonicInstant) -> Step {
        guard number == self.number, case .receiving(var transmission, let head) = state else { return Step() }
        transmission.isPaused = isPaused
        transmission.lastActivity = now
        state = .receiving(transmission, head)
        return Step(deadline: armed())
    }

    /// A part of the response's body has arrived.
    mutating func partArrived(_ count: Int, of number: Int, at now: MonotonicInstant) -> Step {
        guard number == self.number else { return Step() }
        switch state {
        case .receiving:
            touch(at: now)
            return Step(action: .keepPart)
        case .waitingForSession(var rejection?, let keepsPlace):
            guard case .arriving(let received) = rejection.body else { return Step() }
            guard count <= Self.maximumRest - received else { return giveRestUp() }
            rejection.body = .arriving(received: received + count)
            state = .waitingForSession(rejection: rejection, keepsPlace: keepsPlace)
            return Step(action: .keepPart)
        case .sending:
            // A body before its head is an error of the transport, but no silence.
            touch(at: now)
            return Step()
        case .waitingForSession, .waitingForSlot, .pausing, .ended:
            return Step()
        }
    }

    /// The rest of an attempt's response took too long.
    mutating func restExpired(_ number: Int) -> Step {
        number == self.number ? giveRestUp() : Step()
    }

    /// Stops reading the body of a 401.
    private mutating func giveRestUp() -> Step {
        guard case .waitingForSession(var rejection?, let keepsPlace) = state, case .arriving = rejection.body
        else { return Step() }
        rejection.body = .givenUp
        state = .waitingForSession(rejection: rejection, keepsPlace: keepsPlace)
        return Step(effects: .stop)
    }

    /// The sink could not take a part of the body.
    mutating func sinkFailed(_ error: AtomError, of number: Int) -> Step {
        guard number == self.number else { return Step() }
        if case .receiving = state { return fail(error) }
        return giveRestUp()
    }

    /// The destination can't use the response that has begun to go there, and
    /// asks for another one.
    ///
    /// It does so once, at the same place and without a part of the response.
    mutating func responseRefused(of number: Int, at now: MonotonicInstant) -> Step {
        guard number == self.number, case .receiving(let transmission, _) = state, transmission.isStreamed
        else { return Step() }
        // The head has ended the time for all, and another one is waited for.
        deadline = now.advanced(byNanoseconds: terms.timeouts.totalNanoseconds)
        var step = Step(effects: .stop)
        beginAgain(&step)
        step.deadline = armed()
        return step
    }

    /// The attempt is complete; this is its last event.
    mutating func finished(_ number: Int) -> Step {
        guard number == self.number else { return Step() }
        switch state {
        case .receiving(let transmission, let head):
            let outcome = transmission.needsSpentBody ? Outcome.bodyNotRepeatable(head) : .answer(head)
            return end(outcome, .deliver, effects: ended(transmission))
        case .sending(let transmission, _):
            let explanation = "The transport ended without a response"
            let error = AtomError.session(URLError(.badServerResponse, explanation, delivery: delivery))
            return end(.failure(error), effects: ended(transmission))
        case .waitingForSession(let rejection?, _):
            if case .arriving = rejection.body { return Step(action: .keepBody) }
            return Step()
        case .waitingForSession, .waitingForSlot, .pausing, .ended:
            return slotOfEnded()
        }
    }

    /// The sink has returned the complete body of a 401.
    mutating func bodyKept(_ body: Data, of number: Int) -> Step {
        guard number == self.number else { return Step() }
        switch state {
        case .waitingForSession(var rejection?, let keepsPlace):
            guard case .arriving = rejection.body else { return Step() }
            rejection.body = .complete(body)
            state = .waitingForSession(rejection: rejection, keepsPlace: keepsPlace)
            return Step()
        case .receiving(let transmission, let head):
            // The session has refused between `finished` and this event.
            return end(.rejection(head, body), effects: ended(transmission))
        case .waitingForSession, .waitingForSlot, .pausing, .sending, .ended:
            return Step()
        }
    }

    /// The attempt has failed; this is its last event.
    ///
    /// - Parameter retry: Another attempt.
    mutating func failed(_ failure: TransportFailure, _ number: Int, retry: Retry? = nil) -> Step {
        guard number == self.number else { return Step() }
        let again = current(retry)
        switch state {
        case .sending(let transmission, _) where again != nil, .receiving(let transmission, _) where again != nil:
            var step = Step(effects: ended(transmission))
            if let again { sendAgain(again, &step) }
            return step
        case .sending(let transmission, _):
            // Nothing more is known of this attempt than of the earlier ones.
            let delivery = failure.delivery == .notSent ? reach : failure.delivery
            return end(.failure(failure.atomError(delivery: delivery)), effects: ended(transmission))
        case .receiving(let transmission, _):
            return end(.failure(failure.atomError(delivery: .answered)), effects: ended(transmission))
        case .waitingForSession:
            // It has stopped by itself.
            _ = giveRestUp()
            return Step()
        case .waitingForSlot, .pausing, .ended:
            return slotOfEnded()
        }
    }

    /// The last event of an attempt whose exchange has ended before.
    private mutating func slotOfEnded() -> Step {
        guard case .ended(let outcome, holdsSlot: true) = state else { return Step() }
        state = .ended(outcome, holdsSlot: false)
        return Step(effects: .giveSlotBack)
    }

    private func ended(_ transmission: Transmission) -> Effects {
        var effects = slotGivenBack(by: transmission)
        if transmission.holdsNotice { effects.insert(.releaseNotice) }
        return effects
    }

    func slotGivenBack(by transmission: Transmission) -> Effects {
        transmission.holdsSlot ? .giveSlotBack : []
    }

    /// Restarts the idle time.
    private mutating func touch(at now: MonotonicInstant) {
        switch state {
        case .sending(var transmission, let version):
            transmission.lastActivity = now
            state = .sending(transmission, version: version)
        case .receiving(var transmission, let head):
            transmission.lastActivity = now
            state = .receiving(transmission, head)
        case .waitingForSession, .waitingForSlot, .pausing, .ended:
            break
        }
    }
}
