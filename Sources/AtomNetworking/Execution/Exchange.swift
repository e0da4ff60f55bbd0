import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One `resume`, from admission to its one outcome.
///
/// Whatever happens to it is an event that takes the lock, changes the phase
/// and returns an action; the action is performed outside the lock, after what
/// there is to log has been handed to the app's handler. What comes
/// after the outcome is dropped, except that a slot is always given back, by
/// the last event of the attempt that holds it.
final class Exchange: SlotWaiter, SessionWaiter, DeadlineBearer, @unchecked Sendable {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    private enum Phase {
        /// Asks the session, or waits for its refresh.
        case waitingForSession
        /// Asks for a slot, or waits for one.
        case waitingForSlot
        /// The transport is being called or has the request.
        case onWire
        /// The outcome is known.
        case ended
    }

    private enum Action {
        case nothing
        case askSession(anew: Bool)
        case takeSlot
        case giveSlotBack(Origin)
        case retry(rejectedVersion: Int)
        case send(TransportRequest, attemptNumber: Int)
        case end(Result<AtomResponse, AtomError>, Completion, stop: (any TransportExchange)?)
    }

    // These three belong to the deadline queue, the slots and the session, each under its owner's lock.
    // The constants aside, all the rest is touched under `lock` only.
    var deadlinePosition: Int?
    var slotTicket: Int?
    var sessionPlace: SessionPlace?

    let manager: RequestableQueueManager
    let totalDeadline: MonotonicInstant
    private let request: PreparedRequest
    private let startedAt: MonotonicInstant

    private let lock = NSLock()
    private var phase = Phase.waitingForSession
    /// What stops the attempt on the wire; none while the transport is being called.
    private var running: (any TransportExchange)?
    private var completion: Completion?
    private var attempt: Attempt
    /// Counts attempts; an event of an older one is dropped.
    private var attemptNumber = 0
    private var lastActivity: MonotonicInstant
    private var response: TransportResponse?
    private var body = Data()
    private var hasBeenAnswered = false
    /// The version of the credential that the attempt on the wire was signed with.
    private var signedVersion: Int?
    private var hasRetried = false
    /// What the event that is being handled says.
    private var lines: [String] = []

    init(_ request: PreparedRequest, manager: RequestableQueueManager, completion: @escaping Completion) {
        self.request = request
        self.manager = manager
        self.completion = completion
        attempt = Attempt(request)
        startedAt = manager.time.now
        lastActivity = startedAt
        totalDeadline = startedAt.advanced(by: request.totalTimeout)
    }

    /// Asks to be sent; called once, by the manager.
    func start() {
        handle { ask() }
    }

    /// The caller cancelled: it hears so at once, whatever the network does.
    func cancel() {
        handle { end(.failure(.cancelled(delivery))) }
    }

    func deadlinePassed(at now: MonotonicInstant) {
        handle {
            switch phase {
            case .ended:
                return .nothing
            case .waitingForSession:
                guard now >= totalDeadline else { return rearm() }
                return end(.failure(.authentication(.waitedTooLong(delivery: delivery))))
            case .waitingForSlot:
                guard now >= totalDeadline else { return rearm() }
                return end(
                    .failure(timedOut("The request waited for its turn until its time was up")))
            case .onWire:
                if now >= totalDeadline {
                    return end(.failure(timedOut("The request did not complete in \(request.totalTimeout)")))
                }
                if now >= lastActivity.advanced(by: request.idleTimeout) {
                    return end(.failure(timedOut("Nothing came or went for \(request.idleTimeout)")))
                }
                return rearm()
            }
        }
    }

    func released() {
        handle {
            guard case .waitingForSession = phase else { return .nothing }
            phase = .waitingForSlot
            return .takeSlot
        }
    }

    func refused(_ error: AuthenticationError) {
        handle {
            guard case .waitingForSession = phase else { return .nothing }
            // Nothing could be refreshed, so the server's 401 says more than that there is no credential.
            if case .missingCredential = error, let response, response.statusCode == 401 {
                return end(.failure(.response(answer(response))))
            }
            return end(.failure(.authentication(error.delivered(delivery))))
        }
    }

    func slotGranted() {
        while let attempt = lock.withLock({ isWaitingForSlot ? self.attempt : nil }) {
            // Asked here, since only what is signed in the moment of sending is signed with what is good.
            switch signature(for: attempt) {
            case .unsigned:
                return start(attempt, authorization: nil, version: nil)
            case .authorization(let value, let version):
                return start(attempt, authorization: value, version: version)
            case .notYet:
                // The token died while this waited for its slot. It asks again before it gives the slot back, or
                // somebody who came later could be sent in between.
                if !isAdmittedAgain() { return perform(.giveSlotBack(attempt.target.origin)) }
            }
        }
        perform(.giveSlotBack(origin))
    }

    private enum Signature {
        case unsigned
        case authorization(String, version: Int?)
        case notYet
    }

    private func signature(for attempt: Attempt) -> Signature {
        guard isSigned(attempt) else { return .unsigned }
        guard let session = manager.session else {
            return manager.basicAuthorization.map { .authorization($0, version: nil) } ?? .unsigned
        }
        return switch session.signature(for: self) {
        case .authorization(let value, let version): .authorization(value, version: version)
        case .none, .outdated: .notYet
        }
    }

    /// Asks the session again, a slot in hand.
    ///
    /// - Returns: Whether it goes on at once.
    private func isAdmittedAgain() -> Bool {
        let isWanted = lock.withLock { () -> Bool in
            guard isWaitingForSlot else { return false }
            phase = .waitingForSession
            return true
        }
        guard isWanted, let session = manager.session else { return false }
        switch session.admit(self, anew: false) {
        case .go:
            return lock.withLock {
                guard case .waitingForSession = phase else { return false }
                phase = .waitingForSlot
                return true
            }
        case .wait:
            handle { queued() }
            return false
        case .refuse(let error):
            refused(error)
            return false
        }
    }

    private func start(_ attempt: Attempt, authorization: String?, version: Int?) {
        // Cookies know no ports (RFC 6265 §8.5): the jar alone would take them to another origin of the same host.
        let wantsCookies =
            request.channel == .service && attempt.isAtHome && !attempt.headerFields.contains("Cookie")
        let cookie = wantsCookies ? manager.cookies.header(for: attempt.target) : nil
        handle {
            guard isWaitingForSlot else { return .giveSlotBack(attempt.target.origin) }
            signedVersion = version
            return send(attempt, authorization: authorization, cookie: cookie)
        }
    }

    private func receive(_ event: TransportEvent, attemptNumber number: Int, origin: Origin) {
        switch event {
        case .sent:
            lock.withLock { if number == attemptNumber { lastActivity = manager.time.now } }
        case .response(let head):
            lock.withLock {
                guard number == attemptNumber, !isEnded else { return }
                lastActivity = manager.time.now
                hasBeenAnswered = true
                response = head
            }
        case .data(let data):
            handle { number == attemptNumber ? collect(data) : .nothing }
        case .finished:
            handle { number == attemptNumber ? judge() : .nothing }
            perform(.giveSlotBack(origin))
        case .failed(let failure):
            handle { number == attemptNumber ? fail(failure) : .nothing }
            perform(.giveSlotBack(origin))
        }
    }

    /// Runs an event under the lock; what it says and asks for comes after.
    private func handle(_ event: () -> Action) {
        var lines: [String] = []
        let action = lock.withLock {
            let action = event()
            if manager.log.isEnabled { swap(&lines, &self.lines) }
            return action
        }
        // The handler is the app's code.
        for line in lines { manager.log(line) }
        perform(action)
    }

    private func perform(_ action: consuming Action) {
        switch consume action {
        case .nothing:
            break
        case .askSession(let isAnew):
            switch manager.session?.admit(self, anew: isAnew) {
            case .go, nil: released()
            case .wait: handle { queued() }
            case .refuse(let error): refused(error)
            }
        case .takeSlot:
            if request.channel == .refresh {
                slotGranted()
            } else if manager.slots.enter(self, origin: origin) {
                lock.withLock { if isWaitingForSlot { _ = rearm() } }
            }
        case .giveSlotBack(let origin):
            if request.channel == .service { manager.slots.release(origin: origin) }
        case .retry(let version):
            manager.session?.answered(version: version, isRejected: true)
            perform(.askSession(anew: true))
        case .send(let request, let number):
            let origin = request.target.origin
            let handle = manager.transport.start(request) { [self] event in
                receive(event, attemptNumber: number, origin: origin)
            }
            if lock.withLock({ keep(handle, of: number) }) == false { handle.cancel() }
        case .end(let result, let completion, let handle):
            completion(result)
            handle?.cancel()
        }
    }
}

// What follows is called under the lock.
extension Exchange {
    private var isWaitingForSlot: Bool { if case .waitingForSlot = phase { true } else { false } }
    private var isEnded: Bool { if case .ended = phase { true } else { false } }

    private func note(_ line: @autoclosure () -> String) {
        if manager.log.isEnabled { lines.append(line()) }
    }

    private var delivery: AtomError.Delivery {
        if case .onWire = phase { return response == nil ? .maybeSent : .answered }
        return hasBeenAnswered ? .answered : .notSent
    }

    private func timedOut(_ explanation: String) -> AtomError {
        .session(URLError(.timedOut, explanation, delivery: delivery))
    }

    private func isSigned(_ attempt: Attempt) -> Bool {
        request.isSigned && attempt.isAtHome
    }

    /// Asks the session if the attempt is signed by one, else for a slot.
    ///
    /// - Parameter isAnew: Whether the request has been sent before.
    private func ask(anew isAnew: Bool = false) -> Action {
        if isSigned(attempt), manager.session != nil {
            phase = .waitingForSession
            return .askSession(anew: isAnew)
        }
        phase = .waitingForSlot
        return .takeSlot
    }

    private func rearm() -> Action {
        var deadline = totalDeadline
        if case .onWire = phase { deadline = min(deadline, lastActivity.advanced(by: request.idleTimeout)) }
        manager.deadlines.set(deadline, for: self)
        return .nothing
    }

    /// It was queued by the session, and may have left the queue already.
    private func queued() -> Action {
        switch phase {
        case .waitingForSession: return rearm()
        case .waitingForSlot, .onWire: break
        // It ended while it was being admitted: nobody else would take it out of the queue.
        case .ended: manager.session?.left(self)
        }
        return .nothing
    }

    private func send(_ attempt: Attempt, authorization: String?, cookie: String?) -> Action {
        phase = .onWire
        running = nil
        attemptNumber += 1
        response = nil
        body = Data()
        lastActivity = manager.time.now
        _ = rearm()
        var fields = attempt.headerFields
        if let authorization { fields.append(name: "Authorization", value: authorization) }
        if let cookie { fields.append(name: "Cookie", value: cookie) }
        note("→ \(attempt.method) \(attempt.target)")
        return .send(
            TransportRequest(
                method: attempt.method, target: attempt.target, headerFields: fields, body: attempt.body,
                idleTimeout: request.idleTimeout, needsFreshConnection: request.channel == .refresh),
            attemptNumber: attemptNumber)
    }

    /// Notes the handle of an attempt that is still wanted.
    ///
    /// - Returns: `false` if the exchange ended while it was being started.
    private func keep(_ handle: any TransportExchange, of number: Int) -> Bool {
        guard number == attemptNumber else { return true }
        switch phase {
        case .onWire:
            running = handle
            return true
        case .waitingForSession, .waitingForSlot: return true
        case .ended: return false
        }
    }

    private func collect(_ data: Data) -> Action {
        guard !isEnded else { return .nothing }
        lastActivity = manager.time.now
        let limit = request.channel == .service ? manager.maximumResponseSize : TokenRequest.maximumAnswerSize
        guard body.count + data.count <= limit else {
            return end(
                .failure(
                    .session(
                        URLError(
                            .dataLengthExceedsMaximum,
                            "The body is larger than the \(limit) bytes that are collected in memory",
                            delivery: .answered))))
        }
        if body.isEmpty { body = data } else { body.append(data) }
        return .nothing
    }

    private func judge() -> Action {
        guard !isEnded else { return .nothing }
        // The attempt is over; there is nothing to stop.
        running = nil
        guard let response else {
            return end(
                .failure(
                    .session(
                        URLError(.badServerResponse, "The transport ended without a response", delivery: delivery))))
        }
        if request.channel == .service { manager.cookies.store(from: response, for: attempt.target) }
        if let signedVersion {
            if response.statusCode != 401 {
                manager.session?.answered(version: signedVersion, isRejected: false)
            } else if !hasRetried {
                note("← 401 \(attempt.target), to be sent again")
                hasRetried = true
                phase = .waitingForSession
                return .retry(rejectedVersion: signedVersion)
            }
        }
        let policy = request.channel == .service ? manager.redirectPolicy : .doNotFollow
        switch attempt.following(response, policy: policy) {
        case .redirected(let next):
            note("← \(response.statusCode) \(attempt.target), redirected")
            attempt = next
            return ask(anew: true)
        case .tooManyRedirects:
            return end(
                .failure(
                    .session(
                        URLError(
                            .httpTooManyRedirects, "The server redirected more than \(attempt.redirects) times",
                            delivery: .answered))))
        case .none:
            let answer = answer(response)
            let isAcceptable = request.acceptableStatusCodes.contains(response.statusCode)
            return end(isAcceptable ? .success(answer) : .failure(.response(answer)))
        }
    }

    private func answer(_ head: TransportResponse) -> AtomResponse {
        AtomResponse(
            data: body, statusCode: head.statusCode, headerFields: head.headerFields,
            address: attempt.target.absoluteString, decoder: manager.decoder)
    }

    private func fail(_ failure: TransportFailure) -> Action {
        guard !isEnded else { return .nothing }
        running = nil
        // What was answered before, by a redirect or a 401, was not lost; only this attempt can have been.
        let nothingWasSent = failure.delivery == .notSent && !hasBeenAnswered
        let delivery = failure.delivery == .notSent || response != nil ? .answered : failure.delivery
        return end(.failure(.session(failure.urlError(delivery: nothingWasSent ? .notSent : delivery))))
    }

    private func end(_ result: Result<AtomResponse, AtomError>) -> Action {
        guard let completion else { return .nothing }
        let handle = running
        running = nil
        phase = .ended
        self.completion = nil
        body = Data()
        manager.deadlines.remove(self)
        manager.slots.leave(self, origin: attempt.target.origin)
        manager.session?.left(self)
        note(line(for: result))
        return .end(result, completion, stop: handle)
    }

    private func line(for result: Result<AtomResponse, AtomError>) -> String {
        let elapsed = startedAt.duration(to: manager.time.now)
        return switch result {
        case .success(let response), .failure(.response(let response)):
            "← \(response.description) \(attempt.method) \(attempt.target) in \(elapsed)"
        case .failure(let error):
            "✗ \(attempt.method) \(attempt.target) in \(elapsed): \(error.description)"
        }
    }
}

extension Exchange {
    private var origin: Origin { lock.withLock { attempt.target.origin } }
}
