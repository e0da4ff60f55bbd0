/// Another attempt, as the policy has decided.
///
/// An object, because nearly every event comes without one.
final class Retry: Sendable {
    /// What becomes of the exchange if the retry can't be paid for.
    enum Alternative: Sendable {
        /// The caller gets this response.
        case response(TransportResponse, ExchangeMachine.Reception)
        /// The attempt is over.
        case failure(AtomError)
        /// The attempt is being stopped.
        case silence(AtomError)
        /// None: it has been paid for.
        case none
    }

    let setback: RetryPolicy.Setback
    /// When the pause before it ends; `nil` for no pause.
    let until: MonotonicInstant?
    /// What it costs, of how much.
    let cost: Int
    let quota: Int
    /// Whether the pause ends as soon as there is a network.
    let waitsForNetwork: Bool
    let alternative: Alternative

    init(
        after setback: RetryPolicy.Setback, until: MonotonicInstant?, cost: Int, of quota: Int,
        waitsForNetwork: Bool = false, or alternative: Alternative
    ) {
        self.setback = setback
        self.until = until
        self.cost = cost
        self.quota = quota
        self.waitsForNetwork = waitsForNetwork
        self.alternative = alternative
    }
}

/// What an attempt has met, and what decides whether another one follows.
///
/// An object, because nearly every event comes without one.
final class RetryQuestion: Sendable {
    let setback: RetryPolicy.Setback
    let policy: RetryPolicy
    /// Whether the endpoint declares that the request may be sent twice.
    let isDeclaredIdempotent: Bool
    /// A random number in 0..<1.
    let chance: Double
    /// Whether the device is known to have no network.
    let isOffline: Bool
    /// Whether the body can't be read again.
    let isBodySpent: Bool

    init(
        after setback: RetryPolicy.Setback, by policy: RetryPolicy, isDeclaredIdempotent: Bool, chance: Double,
        isOffline: Bool, isBodySpent: Bool = false
    ) {
        self.setback = setback
        self.policy = policy
        self.isDeclaredIdempotent = isDeclaredIdempotent
        self.chance = chance
        self.isOffline = isOffline
        self.isBodySpent = isBodySpent
    }

    /// How often a request is sent again because the server has not processed it, whatever the policy says.
    private static let maximumRefusals = 10

    /// Another attempt, if the policy allows one before the exchange's time is over.
    func retry(
        of attempt: Attempt, after made: Retries?, until deadline: MonotonicInstant?, or alternative: Retry.Alternative,
        at now: MonotonicInstant
    ) -> Retry? {
        guard attempt.body == nil || !isBodySpent,
            setback.delivery == .notSent || isDeclaredIdempotent
                || Idempotency.allows(attempt.method, attempt.headerFields)
        else { return nil }
        if let wait = networkWait(after: made, or: alternative, at: now) { return wait }
        let refusals = min(made?.refusals ?? 0, Self.maximumRefusals)
        // What the server hasn't processed is no attempt for the policy, and is sent again for so long.
        let isFree = setback.isUnprocessed && refusals < Self.maximumRefusals
        let delay: Duration? =
            if !isFree {
                policy.delay(after: setback, attempt: (made?.failures.count ?? 0) + 1 - refusals, chance: chance)
            } else if refusals == 0 {
                .zero
            } else {
                .backOff(base: .milliseconds(50), doublings: refusals - 1, cap: .seconds(1), chance: chance)
            }
        guard let delay else { return nil }
        let until = now.advanced(by: delay)
        // Whoever would wait until its deadline is told at once.
        if let deadline, until >= deadline { return nil }
        let isCharged = !isFree && !(isOffline && setback.isOfflineFailure)
        return Retry(
            after: setback, until: delay > .zero ? until : nil, cost: isCharged ? policy.cost(after: setback) : 0,
            of: policy.quota, or: alternative)
    }

    /// A wait for a network, for an attempt or a failed refresh, if there is none and the policy has time for one.
    func networkWait(after made: Retries?, or alternative: Retry.Alternative, at now: MonotonicInstant) -> Retry? {
        guard isOffline, setback.isOfflineFailure, let wait = policy.connectivityWait else { return nil }
        let end = made?.networkDeadline ?? now.advanced(by: wait)
        guard now < end else { return nil }
        return Retry(after: setback, until: end, cost: 0, of: policy.quota, waitsForNetwork: true, or: alternative)
    }
}

/// The retries that an exchange has made.
///
/// An object, because nearly every exchange has none.
final class Retries: Sendable {
    /// What the attempts met that were sent again, in order.
    let failures: [AttemptFailure]
    /// The last one.
    let last: Retry
    /// What was paid for the next attempt; 0 once it belongs to another server.
    let cost: Int
    /// The attempt that the last one follows.
    let lastNumber: Int
    /// How many attempts the server has not processed.
    let refusals: Int
    /// When the exchange doesn't wait for a network any more; `nil` if it has not done so.
    let networkDeadline: MonotonicInstant?

    init(
        failures: [AttemptFailure], last: Retry, cost: Int, lastNumber: Int, refusals: Int = 0,
        networkDeadline: MonotonicInstant? = nil
    ) {
        self.failures = failures
        // Without the error, which is the app's, if the transport is: it is not to be let go of under a lock.
        self.last = Retry(
            after: last.setback, until: last.until, cost: last.cost, of: last.quota,
            waitsForNetwork: last.waitsForNetwork, or: .none)
        self.cost = cost
        self.lastNumber = lastNumber
        self.refusals = refusals
        self.networkDeadline = networkDeadline
    }
}
