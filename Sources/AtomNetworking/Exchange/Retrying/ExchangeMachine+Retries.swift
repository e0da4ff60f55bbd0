// What follows a failed attempt that the policy sends again.
extension ExchangeMachine {
    /// Another attempt, as the policy has decided.
    ///
    /// The quota has to be paid before the machine gets it. It is an object,
    /// because nearly every event comes without one.
    final class Retry: Sendable {
        /// The attempt that it follows; it counts for no other one.
        let number: Int
        let setback: RetryPolicy.Setback
        /// When the pause before it ends; `nil` for no pause.
        let until: MonotonicInstant?
        /// What it costs.
        let cost: Int
        /// Whether the pause ends as soon as there is a network.
        let waitsForNetwork: Bool

        init(
            number: Int, setback: RetryPolicy.Setback, until: MonotonicInstant?, cost: Int,
            waitsForNetwork: Bool = false
        ) {
            self.number = number
            self.setback = setback
            self.until = until
            self.cost = cost
            self.waitsForNetwork = waitsForNetwork
        }
    }

    /// The retries of an exchange.
    ///
    /// An object, because nearly every exchange has none.
    final class Retries: Sendable {
        /// What the attempts met that were sent again, in order.
        let failures: [AttemptFailure]
        /// What the last retry has cost.
        let lastCost: Int
        /// The attempt that the last retry follows.
        let lastNumber: Int
        /// Whether the last one waits, or has waited, for a network.
        let waitsForNetwork: Bool
        /// When the exchange doesn't wait for a network any more; `nil` if it has
        /// not done so.
        let networkDeadline: MonotonicInstant?

        init(
            failures: [AttemptFailure], lastCost: Int, lastNumber: Int, waitsForNetwork: Bool = false,
            networkDeadline: MonotonicInstant? = nil
        ) {
            self.failures = failures
            self.lastCost = lastCost
            self.lastNumber = lastNumber
            self.waitsForNetwork = waitsForNetwork
            self.networkDeadline = networkDeadline
        }
    }

    /// Another attempt after this, if the policy and the state of the exchange
    /// allow one.
    ///
    /// - Parameters:
    ///   - setback: What the attempt with this number has met.
    ///   - isDeclaredIdempotent: Whether the endpoint declares that the request
    ///     may be sent twice.
    ///   - chance: A random number in 0..<1.
    ///   - isOffline: Whether the device is known to have no network.
    func retry(
        after setback: RetryPolicy.Setback, of number: Int, by policy: RetryPolicy,
        isDeclaredIdempotent: Bool = false, chance: Double, isOffline: Bool = false, at now: MonotonicInstant
    ) -> Retry? {
        guard number == self.number, canRepeat, attempt.body?.isSpent != true,
            setback.delivery == .notSent || isDeclaredIdempotent
                || Idempotency.allows(attempt.method, attempt.headerFields)
        else { return nil }
        if isOffline, let wait = networkWait(after: setback, by: policy, at: now) { return wait }
        guard
            let delay = policy.delay(
                after: setback, attempt: (retries?.failures.count ?? 0) + 1, chance: chance)
        else { return nil }
        let until = now.advanced(by: delay)
        // Whoever would wait until its deadline is told at once.
        if let deadline, until >= deadline { return nil }
        let isCharged = !(isOffline && setback.isOfflineFailure)
        return Retry(
            number: number, setback: setback, until: delay > .zero ? until : nil,
            cost: isCharged ? policy.cost(after: setback) : 0)
    }

    /// A wait for a network, if the policy has time for one.
    ///
    /// For an attempt, or for a refresh that has failed.
    func networkWait(after setback: RetryPolicy.Setback, by policy: RetryPolicy, at now: MonotonicInstant) -> Retry? {
        guard terms.policy.retries, setback.isOfflineFailure, let wait = policy.connectivityWait else { return nil }
        let end = retries?.networkDeadline ?? now.advanced(by: wait)
        guard now < end else { return nil }
        return Retry(number: number, setback: setback, until: end, cost: 0, waitsForNetwork: true)
    }

    /// The retry, if it is one of the current attempt.
    @inline(never)
    func current(_ retry: Retry?) -> Retry? {
        guard let retry, retry.number == number, canRepeat else { return nil }
        return retry
    }

    /// Whether there may be another attempt: nobody has seen anything of the
    /// current one's response.
    private var canRepeat: Bool {
        guard terms.policy.retries else { return false }
        switch state {
        case .sending:
            return true
        case .receiving(let transmission, _):
            return !transmission.isStreamed && !transmission.holdsNotice && !transmission.needsSpentBody
        case .waitingForSession, .waitingForSlot, .pausing, .ended:
            return false
        }
    }

    /// Goes on to another attempt: after a pause, or at once.
    ///
    /// Never inlined: the events would pay for it that come without a retry.
    @inline(never)
    mutating func sendAgain(_ retry: Retry, _ step: inout Step) {
        retries = Retries(
            failures: (retries?.failures ?? []) + [retry.setback.failure],
            // What was paid for an attempt that has not been made stays paid.
            lastCost: retry.cost + unusedCost, lastNumber: number,
            waitsForNetwork: retry.waitsForNetwork,
            networkDeadline: retries?.networkDeadline ?? (retry.waitsForNetwork ? retry.until : nil))
        if retry.setback.delivery == .maybeSent { reach = .maybeSent }
        step.effects.insert(.sendAgain)
        if let until = retry.until {
            state = .pausing(until: until)
            step.action = .pause
        } else {
            beginAgain(&step)
        }
    }

    /// Asks for what the next attempt needs.
    mutating func beginAgain(_ step: inout Step) {
        if isAttemptSigned, terms.hasSession {
            state = .waitingForSession(rejection: nil, keepsPlace: false)
            step.action = .askSession(isAnew: true)
        } else {
            state = .waitingForSlot(keepsPlace: false)
            step.action = .enterLane(keepsPlace: false)
        }
    }

    /// The session knows of the pause, or there is no session.
    mutating func pauseNoted() -> Step {
        switch state {
        case .pausing: Step(deadline: armed())
        // It was over before the session knew of it.
        case .waitingForSession, .waitingForSlot, .sending, .receiving, .ended: Step(effects: .leavePause)
        }
    }

    /// There is a network, for a pause that waits for one.
    ///
    /// - Parameter number: The attempt before the pause.
    mutating func networkReturned(after number: Int) -> Step {
        guard case .pausing = state, number == self.number, waitsForNetwork else { return Step() }
        var step = Step(effects: .leavePause)
        beginAgain(&step)
        return step
    }

    var isPausing: Bool { if case .pausing = state { true } else { false } }

    /// What was paid for a retry that has not been sent.
    var unusedCost: Int { retries.map { $0.lastNumber == number ? $0.lastCost : 0 } ?? 0 }

    /// Whether the pause ends as soon as there is a network.
    var waitsForNetwork: Bool { retries?.waitsForNetwork ?? false }

    /// Whether the attempt on the wire has been silent for too long, while the
    /// exchange still has time.
    func isSilent(at now: MonotonicInstant) -> Bool {
        if let deadline, now >= deadline { return false }
        switch state {
        case .sending(let transmission, _), .receiving(let transmission, _): return isSilent(transmission, at: now)
        case .waitingForSession, .waitingForSlot, .pausing, .ended: return false
        }
    }
}
