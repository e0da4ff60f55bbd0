/// A request whose events observers hear, as the events know it.
///
/// It doesn't know the observers: one that keeps events would keep itself.
final class RequestObservation: RequestEvent.Subject, @unchecked Sendable {
    // Unchecked, because the superclass is. All properties are constant and `Sendable`.
    /// When the request was described.
    let instant: MonotonicInstant

    /// The number of the last request.
    private static let lastID = Guarded<UInt64>(0)

    private static func nextID() -> UInt64 {
        lastID.withLock { last in
            last += 1
            return last
        }
    }

    /// A request that has been checked; `described` is to be told.
    init(_ request: borrowing PreparedRequest, time: any TimeSource) {
        let purpose: RequestEvent.Purpose =
            switch request.purpose {
            case .service: .service
            case .token: .token
            case .revocation: .revocation
            }
        instant = time.now
        super.init(
            requestID: Self.nextID(), purpose: purpose, endpoint: request.endpoint,
            request: DescribedRequest(request.message), startedAt: time.date)
    }

    /// Tells that an endpoint can't be sent.
    static func refuse(
        _ endpoint: Any.Type, _ error: AtomError, _ observers: ObserverChain, time: any TimeSource
    ) {
        let subject = RequestEvent.Subject(
            requestID: nextID(), purpose: .service, endpoint: endpoint, request: nil, startedAt: time.date)
        observers.tell(RequestEvent(.refused(RequestFailure(error)), of: subject))
    }

    /// Tells what has happened to the session.
    static func announce(_ event: SessionEvent, to observers: ObserverChain, time: any TimeSource) {
        let kind: RequestEvent.Kind
        switch event {
        case .refreshed: kind = .refreshed(failure: nil)
        case .refreshFailed(let error): kind = .refreshed(failure: RequestFailure(.authentication(error)))
        case .ended(let error): kind = .sessionEnded(RequestFailure(.authentication(error)))
        case .signedIn, .signedOut, .credentialChanged, .credentialNotStored, .credentialStored: return
        }
        let subject = RequestEvent.Subject(
            requestID: nil, purpose: .service, endpoint: nil, request: nil, startedAt: time.date)
        let event = RequestEvent(kind, of: subject)
        observers.tell(event)
    }
}

// MARK: - Telling

/// Tells the observers what happens to a request: an exchange, or a caller that shares one.
///
/// Events are told in their order, outside of every lock, by one thread at a time. Nearly always the thread in which
/// something happens tells it at once, and the event is nowhere but on its stack. Of a response that was taken whole the
/// caller's task tells.
protocol EventTeller: RunningRequest {
    /// `nil` if nobody observes the request.
    var observation: RequestObservation? { get }

    /// Runs the body under the lock that guards the events.
    func withEvents<T: Sendable>(_ body: (inout NotedEvents) -> T) -> T
}

extension RequestObservation {
    fileprivate func event(_ noted: consuming NotedEvents.Event) -> RequestEvent {
        event(noted.kind, at: noted.instant)
    }

    fileprivate func event(_ kind: consuming RequestEvent.Kind, at now: MonotonicInstant) -> RequestEvent {
        RequestEvent(kind, of: self, elapsedNanoseconds: now.nanoseconds - instant.nanoseconds)
    }
}

extension EventTeller {
    /// Tells the first event, while no other thread knows the request.
    func tellDescribed() {
        if let observation { hear(observation.event(.described, at: observation.instant)) }
    }

    private func hear(_ event: RequestEvent) { manager.observers?.tell(event) }

    /// Tells an event.
    func tell(_ kind: consuming RequestEvent.Kind, at now: MonotonicInstant) {
        guard let observation else { return }
        guard let turn = withEvents({ $0.turn(at: now) }) else {
            let kind = kind
            withEvents { $0.append(kind, at: now) }
            return deliver()
        }
        tell(kind, in: turn, observation)
    }

    /// Tells an event in its turn, and what was noted meanwhile.
    func tell(
        _ kind: consuming RequestEvent.Kind, in turn: NotedEvents.Turn, _ observation: RequestObservation
    ) {
        if turn.isAfterSending { tellSending(observation) }
        hear(observation.event(kind, at: turn.instant))
        tellRest(observation)
    }

    /// Tells the outcome: the last event.
    @inline(never)
    func tellEnd(
        _ outcome: Result<AtomResponse, AtomError>, _ observation: RequestObservation, at now: MonotonicInstant
    ) {
        let statusCode: Int?
        let failure: RequestFailure?
        switch outcome {
        case .success(let response): (statusCode, failure) = (response.statusCode, nil)
        case .failure(.response(let response)):
            (statusCode, failure) = (response.statusCode, RequestFailure(.response(response)))
        case .failure(let error): (statusCode, failure) = (nil, RequestFailure(error))
        }
        let duration = observation.instant.duration(to: now)
        let (turn, summary) = withEvents { events in
            let summary = RequestSummary(
                statusCode: statusCode, failure: failure, duration: duration, traffic: events.traffic)
            let turn = events.turn(at: now)
            if turn == nil { events.append(.finished(summary), at: now) }
            events.close()
            return (turn, summary)
        }
        guard let turn else { return deliver() }
        if turn.isAfterSending { tellSending(observation) }
        // The turn never ends: nothing comes after this event.
        hear(observation.event(.finished(summary), at: turn.instant))
    }

    /// Tells what has been noted, unless another thread is doing so.
    func deliver() {
        guard let observation, withEvents({ $0.beginsDelivery() }) else { return }
        tellNoted(observation)
    }

    /// Tells what has been noted, after `beginsDelivery`.
    func tellNoted(_ observation: RequestObservation) {
        tellSending(observation)
        tellRest(observation)
    }

    /// Tells the attempt that was noted, if there is one.
    private func tellSending(_ observation: RequestObservation) {
        var instant = observation.instant
        let request = withEvents { events in
            instant = events.sentAt
            return events.takeSending()
        }
        if let request { hear(observation.event(.sent(request), at: instant)) }
    }

    private func tellRest(_ observation: RequestObservation) {
        while let event = withEvents({ $0.next() }) { hear(observation.event(event)) }
    }
}
