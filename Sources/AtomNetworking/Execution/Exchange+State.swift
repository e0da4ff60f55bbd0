import Foundation

extension Exchange {
    /// What an exchange does next, outside its lock.
    ///
    /// Small and without references, since every event returns one: what an
    /// action needs stays in the state.
    enum Action {
        case nothing
        case askSession(anew: Bool)
        case takeSlot
        case retry(rejectedVersion: Int)
        /// The outcome is in the state. On failure something may still run.
        case tell(UnsafeContinuation<Void, Never>?, isFailure: Bool)
    }

    /// What is known of an exchange; all of it changes under its lock.
    struct State {
        enum Phase {
            /// Asks the session, or waits for its refresh.
            case waitingForSession
            /// Asks for a slot, or waits for one.
            case waitingForSlot
            /// The transport is being called or has the request.
            case onWire
            /// The outcome is known.
            case ended
        }

        var attempt: Attempt
        // These four stand together, where the attempt's last byte leaves room for them.
        var phase = Phase.waitingForSession
        /// Whether the deadline queue has been asked to keep a deadline.
        var isArmed = false
        private var hasBeenAnswered = false
        var hasRetried = false
        /// Whether it has given up a slot because its token had died, and not
        /// been sent since.
        var hasGivenSlotUp = false
        /// Counts attempts; an event of an older one is dropped.
        private(set) var attemptNumber = 0
        /// What stops the attempt on the wire; none while the transport is being called.
        var running: (any TransportExchange)?
        var lastActivity: MonotonicInstant
        private(set) var response: TransportResponse?
        private(set) var body = Data()
        /// The version of the credential that the attempt on the wire was signed with.
        private(set) var signedVersion: Int?
        /// From the end on, until it is taken.
        var outcome: Result<AtomResponse, AtomError>?
        /// Who awaits the outcome: set once, and taken by the end, of which there is one.
        var awaiting: UnsafeContinuation<Void, Never>?
        /// What the event that is being handled says.
        var lines: [String] = []

        init(_ attempt: Attempt, at now: MonotonicInstant) {
            self.attempt = attempt
            lastActivity = now
        }
    }
}

extension Exchange.State {
    var isEnded: Bool { phase == .ended }

    var delivery: AtomError.Delivery {
        if phase == .onWire { return response == nil ? .maybeSent : .answered }
        return hasBeenAnswered ? .answered : .notSent
    }

    /// Begins an attempt.
    ///
    /// - Returns: What is sent.
    mutating func send(
        authorization: String?, version: Int?, cookie: String?, idleTimeout: Duration, isRefresh: Bool,
        at now: MonotonicInstant
    ) -> TransportRequest {
        phase = .onWire
        hasGivenSlotUp = false
        running = nil
        attemptNumber += 1
        response = nil
        body = Data()
        signedVersion = version
        lastActivity = now
        var fields = attempt.headerFields
        if let authorization { fields.append(name: "Authorization", value: authorization) }
        if let cookie { fields.append(name: "Cookie", value: cookie) }
        return TransportRequest(
            method: attempt.method, target: attempt.target, headerFields: fields, body: attempt.body,
            idleTimeout: idleTimeout, needsFreshConnection: isRefresh)
    }

    /// Notes the handle of an attempt that is still wanted.
    ///
    /// - Returns: `false` if the exchange ended while it was being started.
    mutating func keep(_ handle: any TransportExchange, of number: Int) -> Bool {
        guard number == attemptNumber else { return true }
        if phase == .onWire { running = handle }
        return phase != .ended
    }

    mutating func receive(_ head: TransportResponse, at now: MonotonicInstant) {
        guard !isEnded else { return }
        lastActivity = now
        hasBeenAnswered = true
        response = head
    }

    /// Adds a part of the body.
    ///
    /// - Returns: Whether it fits.
    mutating func receive(_ data: Data, limit: Int, at now: MonotonicInstant) -> Bool {
        lastActivity = now
        guard body.count + data.count <= limit else { return false }
        if body.isEmpty { body = data } else { body.append(data) }
        return true
    }

    /// Why the attempt on the wire was lost.
    func error(for failure: TransportFailure) -> AtomError {
        // What was answered before, by a redirect or a 401, was not lost; only this attempt can have been.
        let nothingWasSent = failure.delivery == .notSent && !hasBeenAnswered
        let delivery = failure.delivery == .notSent || response != nil ? .answered : failure.delivery
        return .session(failure.urlError(delivery: nothingWasSent ? .notSent : delivery))
    }

    /// Ends the exchange and lets go of what was collected.
    mutating func end(_ result: consuming Result<AtomResponse, AtomError>) {
        phase = .ended
        outcome = result
        body = Data()
        response = nil
    }
}
