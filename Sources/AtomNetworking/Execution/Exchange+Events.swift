import Foundation

// Events, under the exchange's lock: each changes the state and says what to do next.
extension Exchange {
    func isSigned(_ state: State) -> Bool {
        isSigned && state.attempt.isAtHome
    }

    /// Asks the session if the attempt is signed by one, else for a slot.
    ///
    /// - Parameter isAnew: Whether the request has been sent before.
    func ask(anew isAnew: Bool = false, _ state: inout State) -> Action {
        if isSigned(state), manager.session != nil {
            state.phase = .waitingForSession
            return .askSession(anew: isAnew)
        }
        state.phase = .waitingForSlot
        return .takeSlot
    }

    /// It was queued by the session, and may have left the queue already.
    func queued(_ state: inout State) -> Action {
        switch state.phase {
        case .waitingForSession: rearm(&state)
        case .waitingForSlot, .onWire: break
        // It ended while it was being admitted: nobody else would take it out of the queue.
        case .ended: manager.session?.left(self)
        }
        return .nothing
    }

    func rearm(_ state: inout State) {
        var deadline = totalDeadline
        if state.phase == .onWire { deadline = min(deadline, idleDeadline(state)) }
        state.isArmed = true
        manager.deadlines.set(deadline, for: self)
    }

    private func idleDeadline(_ state: State) -> MonotonicInstant {
        state.lastActivity.advanced(byNanoseconds: timeouts.idleNanoseconds)
    }

    func expire(at now: MonotonicInstant, _ state: inout State) -> Action {
        let delivery = state.delivery
        if now >= totalDeadline {
            switch state.phase {
            case .ended:
                return .nothing
            case .waitingForSession:
                return end(.failure(.authentication(.waitedTooLong(delivery: delivery))), &state)
            case .waitingForSlot:
                let explanation = "The request waited for its turn until its time was up"
                return end(failure(.timedOut, explanation, delivery), &state)
            case .onWire:
                return end(failure(.timedOut, "The request did not complete in \(timeouts.total)", delivery), &state)
            }
        }
        guard !state.isEnded else { return .nothing }
        if state.phase == .onWire, now >= idleDeadline(state) {
            return end(failure(.timedOut, "Nothing came or went for \(timeouts.idle)", delivery), &state)
        }
        rearm(&state)
        return .nothing
    }

    func collect(_ data: Data, at now: MonotonicInstant, _ state: inout State) -> Action {
        guard !state.isEnded else { return .nothing }
        let limit = isRefresh ? TokenRequest.maximumAnswerSize : manager.maximumResponseSize
        guard state.receive(data, limit: limit, at: now) else {
            return end(
                failure(
                    .dataLengthExceedsMaximum,
                    "The body is larger than the \(limit) bytes that are collected in memory", .answered), &state)
        }
        return .nothing
    }

    func judge(_ state: inout State) -> Action {
        guard !state.isEnded else { return .nothing }
        // The attempt is over; there is nothing to stop.
        state.running = nil
        guard let response = state.response else {
            let delivery = state.delivery
            return end(failure(.badServerResponse, "The transport ended without a response", delivery), &state)
        }
        if let signedVersion = state.signedVersion {
            if response.statusCode != 401 {
                manager.session?.answered(version: signedVersion, isRejected: false)
            } else if !state.hasRetried {
                note({ "← 401 \($0.attempt.target), to be sent again" }, &state)
                state.hasRetried = true
                state.phase = .waitingForSession
                return .retry(rejectedVersion: signedVersion)
            }
        }
        switch state.attempt.following(response, policy: isRefresh ? .doNotFollow : manager.redirectPolicy) {
        case .redirected(let next):
            note({ "← \(response.statusCode) \($0.attempt.target), redirected" }, &state)
            state.attempt = next
            return ask(anew: true, &state)
        case .tooManyRedirects:
            let explanation = "The server redirected more than \(state.attempt.redirects) times"
            return end(failure(.httpTooManyRedirects, explanation, .answered), &state)
        case .none:
            let answer = answer(response, state)
            let isAcceptable = acceptableStatusCodes.contains(response.statusCode)
            return end(isAcceptable ? .success(answer) : .failure(.response(answer)), &state)
        }
    }

    func fail(_ failure: TransportFailure, _ state: inout State) -> Action {
        guard !state.isEnded else { return .nothing }
        state.running = nil
        return end(.failure(state.error(for: failure)), &state)
    }

    func end(_ result: consuming Result<AtomResponse, AtomError>, _ state: inout State) -> Action {
        guard !state.isEnded else { return .nothing }
        // Only who waits can be in a queue; who is queued after this leaves it again.
        switch state.phase {
        case .waitingForSession: manager.session?.left(self)
        case .waitingForSlot: manager.slots.leave(self, origin: state.attempt.target.origin)
        case .onWire, .ended: break
        }
        if state.isArmed { manager.deadlines.remove(self) }
        if manager.log.isEnabled { state.lines.append(line(for: result, state)) }
        let isFailure = if case .failure = result { true } else { false }
        state.end(result)
        return .tell(state.awaiting.take(), isFailure: isFailure)
    }

    func answer(_ head: TransportResponse, _ state: State) -> AtomResponse {
        AtomResponse(
            data: state.body, statusCode: head.statusCode, headerFields: head.headerFields,
            address: state.attempt.target.absoluteString, decoder: manager.decoder)
    }

    private func failure(
        _ code: URLError.Code, _ explanation: String, _ delivery: AtomError.Delivery
    ) -> Result<AtomResponse, AtomError> {
        .failure(.session(URLError(code, explanation, delivery: delivery)))
    }

    private func note(_ line: (State) -> String, _ state: inout State) {
        if manager.log.isEnabled { state.lines.append(line(state)) }
    }

    private func line(for result: Result<AtomResponse, AtomError>, _ state: State) -> String {
        let elapsed = startedAt.duration(to: manager.time.now)
        return switch result {
        case .success(let response), .failure(.response(let response)):
            "← \(response.description) \(state.attempt.method) \(state.attempt.target) in \(elapsed)"
        case .failure(let error):
            "✗ \(state.attempt.method) \(state.attempt.target) in \(elapsed): \(error.description)"
        }
    }
}
