import Foundation

/// Tells the observers what happens to one request.
///
/// Events are noted in their order, also under the exchange's lock, and told
/// outside of every lock, by one thread at a time.
final class RequestObservation: Sendable {
    private let observers: ObserverChain
    private let time: any TimeSource
    private let subject: RequestEvent.Subject
    private let startedAt: MonotonicInstant

    private struct Content {
        /// Noted, and not told yet, in order.
        var pending: RequestEvent?
        var morePending: [RequestEvent] = []
        /// Whether a thread is telling events.
        var isDelivering = false
        var isOver = false
        /// Whether it has been queued, and not admitted since.
        var isQueued = false
        var sendings = 0
        var bytesSent: Int64 = 0
        var bytesReceived: Int64 = 0
        /// Of the sendings after the first, in their order.
        var receivedLater: [Int64] = []

        mutating func append(_ event: RequestEvent) {
            guard !isOver else { return }
            if pending == nil { pending = event } else { morePending.append(event) }
        }

        /// Takes what is to be told by this thread now, which tells it and comes
        /// back for more.
        mutating func take(goesOn: Bool) -> Batch? {
            if isDelivering, !goesOn { return nil }
            guard let first = pending.take() else {
                isDelivering = false
                return nil
            }
            isDelivering = true
            guard !morePending.isEmpty else { return Batch(first: first, others: []) }
            defer { morePending = [] }
            return Batch(first: first, others: morePending)
        }
    }

    private struct Batch: Sendable {
        let first: RequestEvent
        let others: [RequestEvent]
    }

    private let content = Guarded(Content())

    /// The number of the request.
    var requestID: UInt64? { subject.requestID }

    /// The number of the last request.
    private static let lastID = Guarded<UInt64>(0)

    private static func nextID() -> UInt64 {
        lastID.withLock { last in
            last += 1
            return last
        }
    }

    /// A request that has been checked; its first event is noted.
    init(_ request: borrowing PreparedRequest, observers: ObserverChain, time: any TimeSource) {
        self.observers = observers
        self.time = time
        let purpose: RequestEvent.Purpose =
            switch request.purpose {
            case .service: .service
            case .token: .token
            case .revocation: .revocation
            }
        startedAt = time.now
        subject = RequestEvent.Subject(
            requestID: Self.nextID(), purpose: purpose,
            request: DescribedRequest(
                endpoint: request.endpoint, method: request.method, target: request.target, body: request.body),
            startedAt: time.date)
        note(.described)
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

// MARK: - Noting

extension RequestObservation {
    private func event(_ kind: consuming RequestEvent.Kind) -> RequestEvent {
        RequestEvent(kind, of: subject, elapsed: startedAt.duration(to: time.now))
    }

    /// Notes an event; ``deliver()`` follows, outside of the exchange's lock.
    func note(_ kind: consuming RequestEvent.Kind) {
        let event = event(kind)
        content.withLock { $0.append(event) }
    }

    /// Notes that the request waits.
    func noteQueued(for reason: RequestEvent.QueueReason) {
        let event = event(.queued(reason))
        content.withLock { content in
            content.isQueued = true
            content.append(event)
        }
    }

    /// Notes that the request goes on, if it has waited.
    func noteAdmitted() {
        guard content.withLock({ $0.isQueued }) else { return }
        let event = event(.admitted)
        content.withLock { content in
            content.isQueued = false
            content.append(event)
        }
    }

    /// Notes a sending.
    func noteSent(_ request: TransportRequest, number: Int) {
        let event = event(.sent(SentRequest(request, number: number)))
        let wasQueued = content.withLock { content in
            content.sendings = number
            if !content.isQueued { content.append(event) }
            return content.isQueued
        }
        guard wasQueued else { return }
        noteAdmitted()
        content.withLock { $0.append(event) }
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

// MARK: - Telling

extension RequestObservation {
    /// Notes and tells an event.
    func tell(_ kind: consuming RequestEvent.Kind) {
        note(kind)
        deliver()
    }

    /// Tells the outcome: the last event.
    func finish(_ outcome: borrowing Result<AtomResponse, AtomError>) {
        let statusCode: Int?
        let failure: RequestFailure?
        switch copy outcome {
        case .success(let response): (statusCode, failure) = (response.statusCode, nil)
        case .failure(.response(let response)):
            (statusCode, failure) = (response.statusCode, RequestFailure(.response(response)))
        case .failure(let error): (statusCode, failure) = (nil, RequestFailure(error))
        }
        let duration = startedAt.duration(to: time.now)
        let batch = content.withLock { content -> Batch? in
            let summary = RequestSummary(
                statusCode: statusCode, failure: failure, duration: duration, sendings: content.sendings,
                bytesSent: content.bytesSent, bytesReceived: content.bytesReceived,
                receivedLater: content.receivedLater)
            content.append(RequestEvent(.finished(summary), of: subject, elapsed: duration))
            content.isOver = true
            return content.take(goesOn: false)
        }
        if let batch { deliver(batch) }
    }

    /// Tells what has been noted, unless another thread is doing so.
    func deliver() {
        if let batch = content.withLock({ $0.take(goesOn: false) }) { deliver(batch) }
    }

    private func deliver(_ batch: Batch) {
        var next: Batch? = batch
        while let batch = next {
            observers.tell(batch.first)
            for event in batch.others { observers.tell(event) }
            next = content.withLock { $0.take(goesOn: true) }
        }
    }
}
