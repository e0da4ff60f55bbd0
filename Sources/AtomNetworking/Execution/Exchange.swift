import Foundation

/// One `resume`, from admission to its one outcome.
///
/// Whatever happens to it is an event that takes the lock, changes the state
/// and returns an action; the action is performed outside the lock, after what
/// there is to log has been handed to the app's handler. What comes
/// after the outcome is dropped, except that a slot is always given back, by
/// the last event of the attempt that holds it.
final class Exchange: SlotWaiter, SessionWaiter, DeadlineBearer, @unchecked Sendable {
    typealias Completion = @Sendable (Result<AtomResponse, AtomError>) -> Void

    /// Who hears the outcome.
    enum Listener {
        /// Somebody who asks for it with `wake` and `takeOutcome`.
        case awaiting
        /// A completion of the SDK's own, called wherever the outcome comes.
        case completion(Completion)
        /// A completion of the app's, called on the configuration's queue.
        case dispatched(Completion)
    }

    // These three belong to the deadline queue, the slots and the session, each under its owner's lock.
    // All the rest is constant.
    var deadlinePosition: Int?
    var slotPlace: SlotPlace?
    var sessionPlace: SessionPlace?

    let isSigned: Bool
    let isRefresh: Bool
    let manager: RequestableQueueManager
    var service: any RenewalService { manager }
    var renewalMeans: RenewalMeans { manager.renewalMeans }
    let totalDeadline: MonotonicInstant
    let acceptableStatusCodes: ClosedRange<Int>
    let timeouts: RequestTimeouts
    let startedAt: MonotonicInstant
    private let listener: Listener

    private let state: Guarded<State>

    init(_ request: consuming PreparedRequest, manager: RequestableQueueManager, listener: Listener) {
        self.manager = manager
        self.listener = listener
        isSigned = request.isSigned
        isRefresh = request.channel == .refresh
        acceptableStatusCodes = request.acceptableStatusCodes
        timeouts = request.timeouts
        startedAt = manager.time.now
        totalDeadline = startedAt.advanced(byNanoseconds: timeouts.totalNanoseconds)
        state = Guarded(State(Attempt(request), at: startedAt))
    }

    /// Asks to be sent; called once, by the manager.
    func start() {
        handle { ask(&$0) }
    }

    /// The caller cancelled: it hears so at once, whatever the network does.
    func cancel() {
        handle { state in
            let delivery = state.delivery
            return end(.failure(.cancelled(delivery)), &state)
        }
    }

    func deadlinePassed(at now: MonotonicInstant) {
        handle { expire(at: now, &$0) }
    }

    func released() {
        let next = state.withLock { state -> (origin: Origin, isBack: Bool)? in
            guard state.phase == .waitingForSession else { return nil }
            state.phase = .waitingForSlot
            return (state.attempt.target.origin, state.hasGivenSlotUp)
        }
        if let next { takeSlot(next.origin, isBack: next.isBack) }
    }

    func refused(_ error: AuthenticationError) {
        handle { state in
            guard state.phase == .waitingForSession else { return .nothing }
            // Nothing could be refreshed, so the server's 401 says more than that there is no credential.
            if case .missingCredential = error, let response = state.response, response.statusCode == 401 {
                let answer = answer(response, state)
                return end(.failure(.response(answer)), &state)
            }
            let delivery = state.delivery
            return end(.failure(.authentication(error.delivered(delivery))), &state)
        }
    }

    func slotGranted(of origin: Origin) {
        while let isSigned = state.withLock({ $0.phase == .waitingForSlot ? isSigned($0) : nil }) {
            // Asked here, since only what is signed in the moment of sending is signed with what is good.
            switch signature(isSigned: isSigned) {
            case .unsigned:
                return start(authorization: nil, version: nil, slotOf: origin)
            case .authorization(let value, let version):
                return start(authorization: value, version: version, slotOf: origin)
            case .notYet:
                // The token died while this waited for its slot. It asks again before it gives the slot back, or
                // somebody who came later could be sent in between.
                if !isAdmittedAgain() { return giveSlotBack(origin) }
            }
        }
        giveSlotBack(origin)
    }

    private enum Signature {
        case unsigned
        case authorization(String, version: Int?)
        case notYet
    }

    private func signature(isSigned: Bool) -> Signature {
        guard isSigned else { return .unsigned }
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
        let isWanted = state.withLock { state in
            guard state.phase == .waitingForSlot else { return false }
            state.phase = .waitingForSession
            state.hasGivenSlotUp = true
            return true
        }
        guard isWanted, let session = manager.session else { return false }
        switch session.admit(self, anew: false) {
        case .go:
            return state.withLock { state in
                guard state.phase == .waitingForSession else { return false }
                state.phase = .waitingForSlot
                return true
            }
        case .wait:
            handle { queued(&$0) }
            return false
        }
    }

    /// Hands the attempt to the transport, a slot in hand.
    private func start(authorization: String?, version: Int?, slotOf origin: Origin) {
        let cookie = cookie()
        let now = manager.time.now
        let sending = state.withLock { state -> (request: TransportRequest, number: Int)? in
            guard state.phase == .waitingForSlot else { return nil }
            let request = state.send(
                authorization: authorization, version: version, cookie: cookie, idleTimeout: timeouts.idle,
                isRefresh: isRefresh, at: now)
            rearm(&state)
            return (request, state.attemptNumber)
        }
        guard let sending else { return giveSlotBack(origin) }
        manager.log("→ \(sending.request.method) \(sending.request.target)")
        let number = sending.number
        let running = manager.transport.start(sending.request) { [self] event in
            receive(event, attemptNumber: number, origin: origin)
        }
        // It may have ended while it was being started.
        if !state.withLock({ $0.keep(running, of: number) }) { running.cancel() }
    }

    private func cookie() -> String? {
        guard !isRefresh, manager.cookies.mayHaveCookies else { return nil }
        let attempt = state.withLock { $0.attempt }
        // Cookies know no ports (RFC 6265 §8.5): the jar alone would take them to another origin of the same host.
        guard attempt.isAtHome, !attempt.headerFields.contains("Cookie") else { return nil }
        return manager.cookies.field(for: attempt.target.cookieAddress, at: manager.time.date)
    }

    private func receive(_ event: TransportEvent, attemptNumber number: Int, origin: Origin) {
        switch event {
        case .sent:
            state.withLock { if number == $0.attemptNumber { $0.lastActivity = manager.time.now } }
        case .response(let head):
            keepCookies(of: head, attemptNumber: number)
            let now = manager.time.now
            state.withLock { if number == $0.attemptNumber { $0.receive(head, at: now) } }
        case .data(let data):
            let now = manager.time.now
            handle { number == $0.attemptNumber ? collect(data, at: now, &$0) : .nothing }
        case .finished:
            handle { number == $0.attemptNumber ? judge(&$0) : .nothing }
            giveSlotBack(origin)
        case .failed(let failure):
            handle { number == $0.attemptNumber ? fail(failure, &$0) : .nothing }
            giveSlotBack(origin)
        }
    }

    /// Before the answer is judged, so that whatever is sent next carries them.
    private func keepCookies(of head: TransportResponse, attemptNumber number: Int) {
        guard !isRefresh, head.headerFields.contains("Set-Cookie") else { return }
        let target = state.withLock { number == $0.attemptNumber && !$0.isEnded ? $0.attempt.target : nil }
        guard let target else { return }
        manager.cookies.keep(head.headerFields, from: target.cookieAddress, at: manager.time.date)
    }

    private func giveSlotBack(_ origin: Origin) {
        if !isRefresh { manager.slots.release(origin: origin) }
    }

    private var origin: Origin { state.withLock { $0.attempt.target.origin } }

    /// Runs an event under the lock; what it says and asks for comes after.
    private func handle(_ event: (inout State) -> Action) {
        let action: Action
        if manager.log.isEnabled {
            let (lines, next) = state.withLock { state in
                let next = event(&state)
                defer { state.lines = [] }
                return (state.lines, next)
            }
            // The handler is the app's code.
            for line in lines { manager.log(line) }
            action = next
        } else {
            action = state.withLock { event(&$0) }
        }
        perform(action)
    }

    private func perform(_ action: Action) {
        switch action {
        case .nothing:
            break
        case .askSession(let isAnew):
            switch manager.session?.admit(self, anew: isAnew) {
            case .go, nil: released()
            case .wait: handle { queued(&$0) }
            }
        case .takeSlot:
            takeSlot(origin)
        case .retry(let version):
            manager.session?.answered(version: version, isRejected: true)
            perform(.askSession(anew: true))
        case .tell(let continuation, let isFailure):
            tell(continuation, isFailure: isFailure)
        }
    }

    /// Goes on at once or waits for its turn.
    private func takeSlot(_ origin: Origin, isBack: Bool = false) {
        if isRefresh {
            slotGranted(of: origin)
        } else if manager.slots.enter(self, origin: origin, isBack: isBack) {
            state.withLock { if $0.phase == .waitingForSlot { rearm(&$0) } }
        }
    }
}

// MARK: - The outcome

extension Exchange {
    /// Calls back or wakes who awaits; then stops what may still run.
    private func tell(_ continuation: UnsafeContinuation<Void, Never>?, isFailure: Bool) {
        switch listener {
        case .awaiting:
            continuation?.resume()
        case .completion(let completion):
            if let outcome = takeOutcome() { completion(outcome) }
        case .dispatched(let completion):
            // Taken here: there the lock could still be held by whoever started this.
            guard let outcome = takeOutcome() else { break }
            manager.dispatchQueue.async { [queue = manager.dispatchQueue] in
                completion(outcome)
                if case .failure(let error) = outcome { AtomNotification.announceRefusal(error, on: queue) }
            }
        }
        if isFailure { state.withLock { $0.running.take() }?.cancel() }
    }

    // These two are never inlined: an async frame would keep what the access needs.

    /// Whether the outcome is known.
    @inline(never)
    var hasEnded: Bool { state.withLock { $0.isEnded } }

    /// Resumes the continuation once the outcome is known; called once.
    @inline(never)
    func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        let isKnown = state.withLock { state in
            if !state.isEnded { state.awaiting = continuation }
            return state.isEnded
        }
        if isKnown { continuation.resume() }
    }

    /// The outcome, if it is known; what was received is there once.
    func takeOutcome() -> Result<AtomResponse, AtomError>? {
        state.withLock { $0.outcome.take() }
    }
}
