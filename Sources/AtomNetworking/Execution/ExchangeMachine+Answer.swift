import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Events of the transport, with the number of their attempt.
extension ExchangeMachine {
    /// Bytes of the request's body were sent.
    mutating func sent(by number: Int, at now: MonotonicInstant) {
        guard number == self.number else { return }
        touch(at: now)
    }

    /// The head of a response has arrived.
    ///
    /// It decides how the exchange goes on.
    mutating func headArrived(_ head: TransportResponse, of number: Int, at now: MonotonicInstant) -> Step {
        guard number == self.number, case .sending(var transmission, let version) = state else {
            if number == self.number { touch(at: now) }
            return Step()
        }
        hasBeenAnswered = true
        var step = Step()
        if terms.policy.usesCookies, head.headerFields.contains("Set-Cookie") { step.effects = .keepCookies }
        if let version {
            if head.statusCode != 401 {
                step.acceptedVersion = version
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
        switch attempt.following(head, policy: terms.policy.redirects) {
        case .none:
            transmission.lastActivity = now
            state = .receiving(transmission, head)
        case .redirected(let next):
            attempt = next
            step.effects.formUnion(slotGivenBack(by: transmission))
            step.effects.formUnion([.letGo, .limitRest])
            if attemptNeedsSignature, terms.hasSession {
                state = .waitingForSession(rejection: nil, keepsPlace: false)
                step.action = .askSession(isAnew: true)
            } else {
                state = .waitingForSlot(keepsPlace: false)
                step.action = .enterLane(keepsPlace: false)
            }
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
        case .waitingForSession, .waitingForSlot, .ended:
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

    /// The attempt is complete; this is its last event.
    mutating func finished(_ number: Int) -> Step {
        guard number == self.number else { return Step() }
        switch state {
        case .receiving(let transmission, let head):
            return end(.answer(head), .deliver, effects: ended(transmission))
        case .sending(let transmission, _):
            let explanation = "The transport ended without a response"
            let error = AtomError.session(URLError(.badServerResponse, explanation, delivery: delivery))
            return end(.failure(error), effects: ended(transmission))
        case .waitingForSession(let rejection?, _):
            if case .arriving = rejection.body { return Step(action: .keepBody) }
            return Step()
        case .waitingForSession, .waitingForSlot, .ended:
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
        case .waitingForSession, .waitingForSlot, .sending, .ended:
            return Step()
        }
    }

    /// The attempt has failed; this is its last event.
    mutating func failed(_ failure: TransportFailure, _ number: Int) -> Step {
        guard number == self.number else { return Step() }
        switch state {
        case .sending(let transmission, _):
            // Earlier attempts were answered, by a redirect or a 401. Only this one can be lost.
            let delivery: AtomError.Delivery =
                failure.delivery == .notSent ? (hasBeenAnswered ? .answered : .notSent) : failure.delivery
            return end(.failure(.session(failure.urlError(delivery: delivery))), effects: ended(transmission))
        case .receiving(let transmission, _):
            return end(.failure(.session(failure.urlError(delivery: .answered))), effects: ended(transmission))
        case .waitingForSession:
            // It has stopped by itself.
            _ = giveRestUp()
            return Step()
        case .waitingForSlot, .ended:
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

    private func slotGivenBack(by transmission: Transmission) -> Effects {
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
        case .waitingForSession, .waitingForSlot, .ended:
            break
        }
    }
}
