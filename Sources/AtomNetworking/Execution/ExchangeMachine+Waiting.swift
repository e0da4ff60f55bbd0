import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// From `resume` to the wire: the session, the lane, the signature. And what ends a wait from outside.
extension ExchangeMachine {
    /// The session says that it may go on, at once or after a wait.
    mutating func admitted() -> Step {
        guard case .waitingForSession(let rejection, let keepsPlace) = state else { return Step() }
        state = .waitingForSlot(keepsPlace: keepsPlace)
        var step = Step(action: .enterLane(keepsPlace: keepsPlace))
        // The 401 is not the outcome any more.
        if case .arriving? = rejection?.body { step.effects = .discardRest }
        return step
    }

    /// The session has queued it, and may have let it go again by now.
    mutating func queuedBySession() -> Step {
        switch state {
        case .waitingForSession: Step(deadline: armed())
        case .waitingForSlot, .sending, .receiving: Step()
        // It ended while it was being queued: nobody else takes it out.
        case .ended: Step(effects: .leaveSession)
        }
    }

    /// The session can't let it go on.
    mutating func refused(_ error: AuthenticationError, at now: MonotonicInstant) -> Step {
        guard case .waitingForSession(let rejection, _) = state else { return Step() }
        // There is nothing to refresh with, so the server's 401 says more than that.
        if let rejection, case .missingCredential = error {
            switch rejection.body {
            case .arriving:
                let transmission = Transmission(lastActivity: now, holdsSlot: false, holdsNotice: true)
                state = .receiving(transmission, rejection.head)
                return Step(effects: .keepNotice, deadline: armed())
            case .complete(let body):
                return deliver(rejection.head, body)
            case .givenUp:
                return deliver(rejection.head, Data())
            }
        }
        return fail(.authentication(error.delivered(delivery)))
    }

    private mutating func deliver(_ head: TransportResponse, _ body: Data) -> Step {
        let deadline = disarmed()
        state = .ended(.rejection(head, body), holdsSlot: false)
        return Step(action: .tell, deadline: deadline)
    }

    /// It stands in the lane, and may have left it again by now.
    mutating func queuedForSlot() -> Step {
        switch state {
        case .waitingForSlot: Step(deadline: armed())
        case .waitingForSession, .sending, .receiving: Step()
        case .ended: Step(effects: .leaveLane)
        }
    }

    /// A slot is in hand, or none is needed, and the session has been asked for
    /// a signature.
    ///
    /// - Parameters:
    ///   - isSigned: Whether there is a signature, where one is needed.
    ///   - version: Of the credential that signs it, if a session does.
    mutating func slotGranted(isSigned: Bool, version: Int?, at now: MonotonicInstant) -> Step {
        guard case .waitingForSlot = state else {
            return Step(effects: terms.policy.takesSlot ? .giveSlotBack : [])
        }
        if needsSignature, !isSigned {
            // The token died while this waited for its slot. It asks again before it gives the slot back, or
            // somebody who came later could be sent in between.
            state = .waitingForSession(rejection: nil, keepsPlace: true)
            return Step(action: .askSessionWithSlot)
        }
        number += 1
        let transmission = Transmission(lastActivity: now, holdsSlot: terms.policy.takesSlot)
        state = .sending(transmission, version: needsSignature ? version : nil)
        return Step(action: .send, deadline: armed())
    }

    /// The session has let it go on while its slot was in hand.
    mutating func admittedWithSlot() -> Step {
        guard case .waitingForSession(_, let keepsPlace) = state else { return Step(effects: .giveSlotBack) }
        state = .waitingForSlot(keepsPlace: keepsPlace)
        return Step(action: .sign)
    }

    /// Whether the attempt is signed: never once a redirect has led to another
    /// origin.
    var needsSignature: Bool { terms.needsSignature && !attempt.hasLeftOrigin }

    /// The caller cancelled.
    mutating func cancelled() -> Step { fail(.cancelled(delivery)) }

    /// The deadline that was set last has passed, or one before it.
    mutating func deadlinePassed(at now: MonotonicInstant) -> Step {
        let isOver = now >= terms.deadline
        switch state {
        case .ended:
            return Step()
        case .waitingForSession where isOver:
            return fail(.authentication(.waitedTooLong(delivery: delivery)))
        case .waitingForSlot where isOver:
            return timedOut("The request waited for its turn until its time was up")
        case .sending where isOver, .receiving where isOver:
            return timedOut("The request did not complete in \(terms.timeouts.total)")
        case .sending(let transmission, _) where now >= silenceEnd(transmission),
            .receiving(let transmission, _) where now >= silenceEnd(transmission):
            return timedOut("Nothing came or went for \(terms.timeouts.idle)")
        case .waitingForSession, .waitingForSlot, .sending, .receiving:
            return Step(deadline: armed())
        }
    }

    private mutating func timedOut(_ explanation: String) -> Step {
        fail(.session(URLError(.timedOut, explanation, delivery: delivery)))
    }
}
