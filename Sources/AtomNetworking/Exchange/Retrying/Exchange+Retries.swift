import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Another attempt after a failure: the policy, the quota and the pause.
extension Exchange {
    /// Another attempt instead of a response, if there is to be one.
    ///
    /// Its quota has been paid: ``settleQuota(of:_:at:)`` follows.
    func retry(
        after head: TransportResponse, of wire: AttemptOnWire, at now: MonotonicInstant
    ) -> ExchangeMachine.Retry? {
        guard !acceptableStatusCodes.contains(head.statusCode) else { return nil }
        let serverDelay = RetryAfter.duration(in: head.headerFields, now: manager.time.date)
        return retry(
            after: RetryPolicy.Setback(.status(head.statusCode), delivery: .answered, serverDelay: serverDelay),
            of: wire, at: now)
    }

    /// Another attempt after a failure of the transport.
    func retry(after failure: TransportFailure, of wire: AttemptOnWire) -> ExchangeMachine.Retry? {
        // A body that could not be read, and the like.
        guard !(failure.error is AtomError) else { return nil }
        let code = (failure.error as? URLError)?.code ?? .unknown
        var setback = RetryPolicy.Setback(.connection(code), delivery: failure.delivery)
        setback.isOfKeptConnection = failure.isOfKeptConnection
        return retry(after: setback, of: wire, at: manager.time.now)
    }

    /// Another attempt after a silence, if there has been one.
    func retryAfterSilence(at now: MonotonicInstant) -> (ExchangeMachine.Retry, AttemptOnWire)? {
        let silent = content.withLock { $0.machine.isSilent(at: now) ? $0.wire : nil }
        guard let silent else { return nil }
        return retry(
            after: RetryPolicy.Setback(.connection(.timedOut), delivery: .maybeSent), of: silent, at: now
        ).map { ($0, silent) }
    }

    /// A wait for a network, if the session could not refresh without one.
    func networkWait(after error: AuthenticationError, at now: MonotonicInstant) -> ExchangeMachine.Retry? {
        guard retryPolicy.connectivityWait != nil, let code = AtomError.authentication(error).connectivityCode,
            manager.connectivity?.isOffline == true
        else { return nil }
        let setback = RetryPolicy.Setback(.connection(code), delivery: .notSent)
        return content.withLock { $0.machine.networkWait(after: setback, by: retryPolicy, at: now) }
    }

    private var retryPolicy: RetryPolicy { retrying?.policy ?? manager.retryPolicy }

    private func retry(
        after setback: RetryPolicy.Setback, of wire: AttemptOnWire, at now: MonotonicInstant
    ) -> ExchangeMachine.Retry? {
        let retryPolicy = retryPolicy
        let isDeclared = retrying?.idempotency == .declared
        let chance = manager.random()
        let isOffline = manager.connectivity?.isOffline == true
        let retry = content.withLock {
            $0.machine.retry(
                after: setback, of: wire.number, by: retryPolicy, isDeclaredIdempotent: isDeclared, chance: chance,
                isOffline: isOffline, at: now)
        }
        guard let retry else { return nil }
        manager.slots.noteRetry()
        guard manager.quotas.pay(retry.cost, of: retryPolicy.quota, at: wire.target.origin) else {
            return nil
        }
        return retry
    }

    /// Tells of an attempt that is sent again, or gives back what was paid for
    /// nothing: the exchange may have ended in the meantime.
    func settleQuota(of retry: ExchangeMachine.Retry, _ step: ExchangeMachine.Step, at wire: AttemptOnWire) {
        guard step.effects.contains(.sendAgain) else {
            return manager.quotas.giveBack(retry.cost, at: wire.target.origin)
        }
        tellRetry(retry)
    }

    func tellRetry(_ retry: ExchangeMachine.Retry) {
        guard observation != nil else { return }
        let now = manager.time.now
        let delay = retry.waitsForNetwork ? nil : retry.until.map { now.duration(to: $0) }
        withEvents { events in
            let setback = retry.setback
            events.append(.retried(after: setback.failure, delivery: setback.delivery, delay: delay), at: now)
            if retry.waitsForNetwork { events.queued(for: .network, at: now) }
        }
        deliver()
    }

    /// Gives back what was paid for an attempt that is not made, because the
    /// exchange has ended before.
    func giveBackUnusedRetry() {
        let (cost, origin) = content.withLock { content in
            (content.machine.unusedCost, content.machine.attempt.target.origin)
        }
        if cost > 0 { manager.quotas.giveBack(cost, at: origin) }
    }

    /// The session has to know of a pause, so that a sign-out ends it.
    func pause() {
        if isSigned, let session = manager.session, !session.pauses(self) {
            return refused(.signedOut(delivery: .notSent))
        }
        handle { $0.pauseNoted() }
        let (waits, number) = content.withLock { ($0.machine.waitsForNetwork, $0.machine.number) }
        guard waits, let connectivity = manager.connectivity else { return }
        connectivity.whenOnline(ObjectIdentifier(self)) { [self] in handle { $0.networkReturned(after: number) } }
        // It may have ended before it was entered there.
        if !content.withLock({ $0.machine.isPausing }) { connectivity.forget(ObjectIdentifier(self)) }
    }

    /// The pause is over: nobody has to wake this exchange any more.
    func pauseEnded() {
        manager.session?.pauseEnded(self)
        if content.withLock({ $0.machine.waitsForNetwork }) { manager.connectivity?.forget(ObjectIdentifier(self)) }
    }
}
