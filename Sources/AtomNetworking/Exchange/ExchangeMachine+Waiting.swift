import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Events before an attempt is on the wire, cancellation and deadlines.
extension ExchangeMachine {
    /// The session admits the request, at once or after a wait.
    mutating func admitted() -> Step {
        guard case .waitingForSession(let rejection, let keepsPlace) = state else { return Step() }
        state = .waitingForSlot(keepsPlace: keepsPlace)
        var step = Step(action: .enterLane(keepsPlace: keepsPlace))
        // The 401 can't be the outcome any more.
        if case .arriving? = rejection?.body { step.effects = [.letGo, .limitRest] }
        return step
    }

    /// The session has queued the request, and may have released it already.
    mutating func queuedBySession() -> Step {
        switch state {
        case .waitingForSession: Step(deadline: armed())
        case .waitingForSlot, .pausing, .sending, .receiving: Step()
        // It ended before it was queued, and must not stay in the queue.
        case .ended: Step(effects: .leaveSession)
        }
    }

    /// The session doesn't admit the request.
    ///
    /// - Parameter networkWait: A pause after which it asks again.
    mutating func refused(
        _ error: AuthenticationError, networkWait: Retry? = nil, at now: MonotonicInstant
    ) -> Step {
        let rejection: Rejection?
        switch state {
        case .waitingForSession(let waiting, _) where networkWait?.number == number:
            var step = Step()
            // The 401 can't be the outcome any more.
            if case .arriving? = waiting?.body { step.effects = .stop }
            if let networkWait { sendAgain(networkWait, &step) }
            return step
        case .waitingForSession(let waiting, _): rejection = waiting
        case .pausing: rejection = nil
        case .waitingForSlot, .sending, .receiving, .ended: return Step()
        }
        // There is nothing to refresh with. The server's 401 says more than that.
        if let rejection, case .missingCredential = error {
            switch rejection.body {
            case .arriving:
                let transmission = Transmission(lastActivity: now, holdsSlot: false, holdsNotice: true)
                state = .receiving(transmission, rejection.head)
                return Step(effects: .keepNotice, deadline: armed())
            case .complete(let body):
                return end(.rejection(rejection.head, body))
            case .givenUp:
                return end(.rejection(rejection.head, Data()))
            }
        }
        return fail(.authentication(error.delivered(.init(delivery))))
    }

    /// The request is in the lane, or has left it already.
    mutating func queuedForSlot() -> Step {
        switch state {
        case .waitingForSlot: Step(deadline: armed())
        case .waitingForSession, .pausing, .sending, .receiving: Step()
        case .ended: Step(effects: .leaveLane)
        }
    }

    /// The request has a slot, or needs none, and was signed if possible.
    ///
    /// - Parameters:
    ///   - isSigned: Whether there is a signature.
    ///   - version: The version of the session's credential that signed it;
    ///     `nil` if no session did.
    mutating func slotGranted(isSigned: Bool, version: Int?, at now: MonotonicInstant) -> Step {
        guard case .waitingForSlot = state else {
            return Step(effects: terms.policy.takesSlot ? .giveSlotBack : [])
        }
        if !isReadyToSend(isSigned: isSigned) {
            // The token expired or was rejected while this waited for its slot. It asks again before it gives the slot
            // back, else a later request could be sent first.
            state = .waitingForSession(rejection: nil, keepsPlace: true)
            return Step(action: .askSessionWithSlot)
        }
        number += 1
        let transmission = Transmission(lastActivity: now, holdsSlot: terms.policy.takesSlot)
        state = .sending(transmission, version: isAttemptSigned ? version : nil)
        return Step(action: .send, deadline: armed())
    }

    /// Whether the next event, a slot, sends the attempt.
    func isReadyToSend(isSigned: Bool) -> Bool {
        guard case .waitingForSlot = state else { return false }
        return isSigned || !isAttemptSigned
    }

    /// The session admits a request that has kept its slot.
    mutating func admittedWithSlot() -> Step {
        guard case .waitingForSession(_, let keepsPlace) = state else { return Step(effects: .giveSlotBack) }
        state = .waitingForSlot(keepsPlace: keepsPlace)
        return Step(action: .sign)
    }

    /// Whether the attempt is signed.
    ///
    /// After a redirect to another origin it never is.
    var isAttemptSigned: Bool { terms.isSigned && !attempt.hasLeftOrigin }

    /// The caller has cancelled.
    mutating func cancelled() -> Step { fail(.cancelled(delivery)) }

    /// A deadline has passed; it may be an older one.
    ///
    /// - Parameter retry: Another attempt, if the server has been silent for too
    ///   long.
    mutating func deadlinePassed(at now: MonotonicInstant, retry: Retry? = nil) -> Step {
        let isOver = deadline.map { now >= $0 } ?? false
        switch state {
        case .ended:
            return Step()
        case .waitingForSession where isOver:
            return fail(.authentication(.waitedTooLong(delivery: .init(delivery))))
        case .waitingForSlot where isOver:
            return timedOut("The request timed out while it waited for its turn")
        case .pausing where isOver && waitsForNetwork:
            // The reason is the missing network, not the time.
            let code = retries?.failures.last?.connectionCode ?? .notConnectedToInternet
            let explanation = "There was no network until the request's deadline"
            return fail(.session(URLError(code, explanation, delivery: delivery)))
        case .pausing where isOver:
            return timedOut("The request timed out while it waited to be sent again")
        case .pausing(let until) where now >= until:
            var step = Step(effects: .leavePause)
            beginAgain(&step)
            return step
        case .sending where isOver, .receiving where isOver:
            return timedOut("The request did not complete in \(terms.timeouts.total)")
        case .sending(let transmission, _) where isSilent(transmission, at: now),
            .receiving(let transmission, _) where isSilent(transmission, at: now):
            if let retry = current(retry) {
                // Its connection is closed at once, so the slot doesn't wait for the last event.
                var step = Step(effects: .stop)
                step.effects.formUnion(slotGivenBack(by: transmission))
                sendAgain(retry, &step)
                return step
            }
            return timedOut("Nothing came or went for \(terms.timeouts.idle)")
        case .waitingForSession, .waitingForSlot, .pausing, .sending, .receiving:
            return Step(deadline: armed())
        }
    }

    func isSilent(_ transmission: Transmission, at now: MonotonicInstant) -> Bool {
        silenceEnd(transmission).map { now >= $0 } ?? false
    }

    private mutating func timedOut(_ explanation: String) -> Step {
        fail(.session(URLError(.timedOut, explanation, delivery: delivery)))
    }
}
