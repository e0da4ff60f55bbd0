import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One `resume`, from admission to its one outcome.
///
/// Whatever happens to it is an event that takes the lock, changes the phase
/// and returns an action; the action is performed outside the lock. What comes
/// after the outcome is dropped, except that a slot is always given back, by
/// the last event of the attempt that holds it.
final class Exchange: SlotWaiter, DeadlineBearer, @unchecked Sendable {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    private enum Phase {
        /// Not admitted yet, or waiting for a slot.
        case waiting
        /// The transport is being called (no handle yet) or has the request.
        case onWire((any TransportExchange)?)
        /// The outcome is known.
        case ended
    }

    private enum Action {
        case nothing
        case takeSlot
        case giveSlotBack(Origin)
        case send(TransportRequest, attemptNumber: Int)
        case end(Result<AtomResponse, AtomError>, Completion, stop: (any TransportExchange)?)
    }

    // `deadlinePosition` belongs to the deadline queue and `slotTicket` to the slots, each under its
    // owner's lock. The constants aside, all the rest is touched under `lock` only.
    var deadlinePosition: Int?
    var slotTicket: Int?

    let request: PreparedRequest
    private let manager: RequestableQueueManager
    private let startedAt: MonotonicInstant
    private let totalDeadline: MonotonicInstant

    private let lock = NSLock()
    private var phase = Phase.waiting
    private var completion: Completion?
    private var attempt: Attempt
    /// Counts attempts; an event of an older one is dropped.
    private var attemptNumber = 0
    private var lastActivity: MonotonicInstant
    private var response: TransportResponse?
    private var body = Data()
    private var hasBeenAnswered = false

    init(_ request: PreparedRequest, manager: RequestableQueueManager, completion: @escaping Completion) {
        self.request = request
        self.manager = manager
        self.completion = completion
        attempt = Attempt(request)
        startedAt = manager.time.now
        lastActivity = startedAt
        totalDeadline = startedAt.advanced(by: request.totalTimeout)
    }

    /// Takes a slot, or waits for one; called once, by the manager.
    func admit() {
        perform(.takeSlot)
    }

    /// The caller cancelled: it hears so at once, whatever the network does.
    func cancel() {
        perform(lock.withLock { end(.failure(.cancelled(delivery))) })
    }

    func deadlinePassed(at now: MonotonicInstant) {
        perform(
            lock.withLock {
                switch phase {
                case .ended:
                    return .nothing
                case .waiting:
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
            })
    }

    func slotGranted() {
        guard let attempt = lock.withLock({ isWaiting ? self.attempt : nil }) else {
            perform(.giveSlotBack(origin))
            return
        }
        // Asked here, since only what is signed in the moment of sending is signed with what is good.
        let isSigned = request.isSigned && attempt.isAtHome
        let authorization = isSigned ? manager.authorization() : .success(nil)
        let cookie = attempt.headerFields.contains("Cookie") ? nil : manager.cookies.header(for: attempt.target)
        switch authorization {
        case .failure(let error):
            perform(lock.withLock { end(.failure(error)) })
            perform(.giveSlotBack(attempt.target.origin))
        case .success(let value):
            perform(
                lock.withLock {
                    guard isWaiting else { return .giveSlotBack(attempt.target.origin) }
                    return start(attempt, authorization: value, cookie: cookie)
                })
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
            perform(lock.withLock { number == attemptNumber ? collect(data) : .nothing })
        case .finished:
            perform(lock.withLock { number == attemptNumber ? judge() : .nothing })
            manager.slots.release(origin: origin)
        case .failed(let failure):
            perform(lock.withLock { number == attemptNumber ? fail(failure) : .nothing })
            manager.slots.release(origin: origin)
        }
    }

    private func perform(_ action: Action) {
        switch action {
        case .nothing:
            break
        case .takeSlot:
            manager.slots.enter(self, origin: origin)
        case .giveSlotBack(let origin):
            manager.slots.release(origin: origin)
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
    private var isWaiting: Bool { if case .waiting = phase { true } else { false } }
    private var isEnded: Bool { if case .ended = phase { true } else { false } }

    private var delivery: AtomError.Delivery {
        if hasBeenAnswered { return .answered }
        return attemptNumber == 0 ? .notSent : .maybeSent
    }

    private func timedOut(_ explanation: String) -> AtomError {
        .session(URLError(.timedOut, explanation, delivery: delivery))
    }

    private func rearm() -> Action {
        var deadline = totalDeadline
        if case .onWire = phase { deadline = min(deadline, lastActivity.advanced(by: request.idleTimeout)) }
        manager.deadlines.set(deadline, for: self)
        return .nothing
    }

    private func start(_ attempt: Attempt, authorization: String?, cookie: String?) -> Action {
        phase = .onWire(nil)
        attemptNumber += 1
        response = nil
        body = Data()
        lastActivity = manager.time.now
        _ = rearm()
        var fields = attempt.headerFields
        if let authorization { fields.append(name: "Authorization", value: authorization) }
        if let cookie { fields.append(name: "Cookie", value: cookie) }
        manager.log("→ \(attempt.method) \(attempt.target)")
        return .send(
            TransportRequest(
                method: attempt.method, target: attempt.target, headerFields: fields, body: attempt.body,
                idleTimeout: request.idleTimeout),
            attemptNumber: attemptNumber)
    }

    /// Notes the handle of an attempt that is still wanted.
    ///
    /// - Returns: `false` if the exchange ended while it was being started.
    private func keep(_ handle: any TransportExchange, of number: Int) -> Bool {
        guard number == attemptNumber else { return true }
        switch phase {
        case .onWire:
            phase = .onWire(handle)
            return true
        case .waiting: return true
        case .ended: return false
        }
    }

    private func collect(_ data: Data) -> Action {
        guard !isEnded else { return .nothing }
        lastActivity = manager.time.now
        guard body.count + data.count <= manager.maximumResponseSize else {
            return end(
                .failure(
                    .session(
                        URLError(
                            .dataLengthExceedsMaximum,
                            "The body is larger than the \(manager.maximumResponseSize) bytes that are collected in memory",
                            delivery: .answered))))
        }
        if body.isEmpty { body = data } else { body.append(data) }
        return .nothing
    }

    private func judge() -> Action {
        guard !isEnded else { return .nothing }
        guard let response else {
            return end(
                .failure(
                    .session(
                        URLError(.badServerResponse, "The transport ended without a response", delivery: delivery))))
        }
        manager.cookies.store(from: response, for: attempt.target)
        switch attempt.following(response, policy: manager.redirectPolicy) {
        case .redirected(let next):
            manager.log("← \(response.statusCode) \(attempt.target), redirected")
            attempt = next
            phase = .waiting
            _ = rearm()
            return .takeSlot
        case .tooManyRedirects:
            return end(
                .failure(
                    .session(
                        URLError(
                            .httpTooManyRedirects, "The server redirected more than \(attempt.redirects) times",
                            delivery: .answered))))
        case .none:
            let answer = AtomResponse(
                data: body, statusCode: response.statusCode, headerFields: response.headerFields,
                address: attempt.target.absoluteString, decoder: manager.decoder)
            let isAcceptable = request.acceptableStatusCodes.contains(response.statusCode)
            return end(isAcceptable ? .success(answer) : .failure(.response(answer)))
        }
    }

    private func fail(_ failure: TransportFailure) -> Action {
        guard !isEnded else { return .nothing }
        return end(.failure(.session(failure.urlError(delivery: hasBeenAnswered ? .answered : failure.delivery))))
    }

    private func end(_ result: Result<AtomResponse, AtomError>) -> Action {
        guard let completion else { return .nothing }
        var handle: (any TransportExchange)?
        if case .onWire(let running) = phase { handle = running }
        phase = .ended
        self.completion = nil
        body = Data()
        manager.deadlines.remove(self)
        manager.slots.leave(self, origin: attempt.target.origin)
        manager.log(line(for: result))
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
