import Foundation

/// Tells the observers what happens to one request.
///
/// Events are told in their order, outside of every lock, by one thread at a
/// time. Nearly always the thread in which something happens tells it at once,
/// and the event is nowhere but on its stack.
final class RequestObservation: RequestEvent.Subject, @unchecked Sendable {
    // Unchecked, because the superclass is. All properties are constant and `Sendable`.
    private let observers: ObserverChain
    /// When the request was described.
    let instant: MonotonicInstant
    private let content = Guarded(Content())

    fileprivate struct Content {
        /// A sending that has not been told yet; it comes before the events.
        var sending: Sending?
        /// Noted, and not told yet.
        var events: [RequestEvent] = []
        /// Whether a thread is telling events.
        var isTelling = false
        var isOver = false
        /// Whether it has been queued, and not admitted since.
        var isQueued = false
        var sendings = 0
        var bytesSent: Int64 = 0
        var bytesReceived: Int64 = 0
        /// Of the sendings after the first, in their order.
        var receivedLater: [Int64] = []
    }

    fileprivate struct Sending {
        let request: SentRequest
        let instant: MonotonicInstant
    }

    /// The right to tell an event now.
    enum Turn {
        case direct
        /// The sending that was noted comes before it.
        case afterSending
    }

    /// The number of the last request.
    private static let lastID = Guarded<UInt64>(0)

    private static func nextID() -> UInt64 {
        lastID.withLock { last in
            last += 1
            return last
        }
    }

    /// A request that has been checked; `described` is to be told.
    init(_ request: borrowing PreparedRequest, observers: ObserverChain, time: any TimeSource) {
        self.observers = observers
        let purpose: RequestEvent.Purpose =
            switch request.purpose {
            case .service: .service
            case .token: .token
            case .revocation: .revocation
            }
        instant = time.now
        super.init(
            requestID: Self.nextID(), purpose: purpose,
            request: DescribedRequest(
                endpoint: request.endpoint, method: request.method, target: request.target, body: request.body),
            startedAt: time.date)
    }

    /// Tells that an endpoint can't be sent.
    static func refuse(
        _ endpoint: Any.Type, _ error: AtomError, _ observers: ObserverChain, time: any TimeSource
    ) {
        let request = RefusedRequest(endpoint: endpoint, failure: RequestFailure(error))
        let subject = RequestEvent.Subject(
            requestID: nextID(), purpose: .service, request: nil, startedAt: time.date)
        let event = RequestEvent(.refused(request), of: subject)
        observers.tell(event)
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
        let subject = RequestEvent.Subject(requestID: nil, purpose: .service, request: nil, startedAt: time.date)
        let event = RequestEvent(kind, of: subject)
        observers.tell(event)
    }
}

// MARK: - Under the exchange's lock

extension RequestObservation {
    /// The turn to tell an event as soon as the lock is free; `nil` if the event
    /// has to be noted, because others come first.
    func turn() -> Turn? { content.withLock { $0.turn() } }

    /// Notes an event; ``deliver()`` follows.
    func note(_ kind: consuming RequestEvent.Kind, at now: MonotonicInstant) {
        let event = event(kind, at: now)
        content.withLock { $0.append(event) }
    }

    /// Notes that the request waits; ``deliver()`` follows.
    func noteQueued(for reason: RequestEvent.QueueReason, at now: MonotonicInstant) {
        let event = event(.queued(reason), at: now)
        content.withLock { content in
            content.isQueued = true
            content.append(event)
        }
    }

    /// Notes a sending; ``deliver()`` follows.
    func noteSent(_ request: SentRequest, at now: MonotonicInstant) {
        let wasQueued = content.withLock { content in
            content.sendings = request.number
            guard !content.isQueued, content.sending == nil, content.events.isEmpty, !content.isOver else {
                return true
            }
            content.sending = Sending(request: request, instant: now)
            return false
        }
        guard wasQueued else { return }
        let (admitted, sent) = (event(.admitted, at: now), event(.sent(request), at: now))
        content.withLock { content in
            if content.isQueued { content.append(admitted) }
            content.isQueued = false
            content.append(sent)
        }
    }

    /// Counts bytes of the request's body.
    func sent(_ count: Int) { content.withLock { $0.bytesSent += Int64(count) } }

    /// Counts bytes of a response's body.
    func received(_ count: Int, by number: Int) {
        content.withLock { content in
            content.bytesReceived += Int64(count)
            // Nearly every request is sent once, and needs no list.
            guard number > 1 else { return }
            while content.receivedLater.count < number - 1 { content.receivedLater.append(0) }
            content.receivedLater[number - 2] += Int64(count)
        }
    }
}

extension RequestObservation.Content {
    fileprivate mutating func append(_ event: RequestEvent) { if !isOver { events.append(event) } }

    /// The turn to tell an event that has not been noted.
    fileprivate mutating func turn() -> RequestObservation.Turn? {
        guard !isTelling, !isOver, events.isEmpty else { return nil }
        isTelling = true
        return sending == nil ? .direct : .afterSending
    }

    /// Whether this thread tells what has been noted.
    fileprivate mutating func beginsDelivery() -> Bool {
        guard !isTelling, sending != nil || !events.isEmpty else { return false }
        isTelling = true
        return true
    }

    /// The next event that was noted; `nil` ends the turn.
    fileprivate mutating func next(of observation: RequestObservation) -> RequestEvent? {
        if let sending = sending.take() { return observation.event(sending) }
        guard events.isEmpty else { return events.removeFirst() }
        isTelling = false
        return nil
    }
}

// MARK: - Telling

extension RequestObservation {
    fileprivate func event(_ kind: consuming RequestEvent.Kind, at now: MonotonicInstant) -> RequestEvent {
        RequestEvent(kind, of: self, elapsedNanoseconds: now.nanoseconds - instant.nanoseconds)
    }

    fileprivate func event(_ sending: Sending) -> RequestEvent { event(.sent(sending.request), at: sending.instant) }

    /// Tells the first event, while no other thread knows the request.
    func tellDescribed() { observers.tell(event(.described, at: instant)) }

    /// Tells that the request goes on, if it has waited.
    func tellAdmitted(at now: @autoclosure () -> MonotonicInstant) {
        let wasQueued = content.withLock { content in
            defer { content.isQueued = false }
            return content.isQueued
        }
        if wasQueued { tell(.admitted, at: now()) }
    }

    /// Tells an event.
    func tell(_ kind: consuming RequestEvent.Kind, at now: MonotonicInstant) {
        if let turn = turn() { return tell(kind, at: now, in: turn) }
        note(kind, at: now)
        deliver()
    }

    /// Tells an event in its turn, and what was noted meanwhile.
    func tell(_ kind: consuming RequestEvent.Kind, at now: MonotonicInstant, in turn: Turn) {
        if turn == .afterSending { tellSending() }
        observers.tell(event(kind, at: now))
        tellRest()
    }

    /// Tells the outcome: the last event.
    func finish(_ outcome: Result<AtomResponse, AtomError>, at now: MonotonicInstant) {
        let statusCode: Int?
        let failure: RequestFailure?
        switch outcome {
        case .success(let response): (statusCode, failure) = (response.statusCode, nil)
        case .failure(.response(let response)):
            (statusCode, failure) = (response.statusCode, RequestFailure(.response(response)))
        case .failure(let error): (statusCode, failure) = (nil, RequestFailure(error))
        }
        let (turn, summary) = content.withLock { content in
            let summary = RequestSummary(
                statusCode: statusCode, failure: failure, duration: instant.duration(to: now),
                sendings: content.sendings, bytesSent: content.bytesSent, bytesReceived: content.bytesReceived,
                receivedLater: content.receivedLater)
            let turn = content.turn()
            if turn == nil { content.append(self.event(.finished(summary), at: now)) }
            content.isOver = true
            return (turn, summary)
        }
        guard let turn else { return deliver() }
        if turn == .afterSending { tellSending() }
        // The turn never ends: nothing comes after this event.
        observers.tell(event(.finished(summary), at: now))
    }

    /// Tells what has been noted, unless another thread is doing so.
    func deliver() {
        guard content.withLock({ $0.beginsDelivery() }) else { return }
        tellSending()
        tellRest()
    }

    private func tellRest() {
        while let event = content.withLock({ $0.next(of: self) }) { observers.tell(event) }
    }

    /// Tells the sending that was noted, if there is one.
    private func tellSending() {
        if let sending = content.withLock({ $0.sending.take() }) { observers.tell(event(sending)) }
    }
}
