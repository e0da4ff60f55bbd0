import Foundation

// The values of which an exchange's machine is made, and what they say.
extension ExchangeMachine {
    enum State: Sendable {
        /// It asks the session, or waits for a refresh, perhaps after a 401; its place in the lane, if it could
        /// not use its slot.
        case waitingForSession(rejection: Rejection?, place: Int?)
        /// It asks for a slot, or waits in the lane, at a place as soon as that is known.
        case waitingForSlot(place: Int?)
        /// The transport has the request, signed by this version of the session's credential, if by any; the
        /// session waits to hear of an unproven one. No head has arrived.
        case sending(version: Int?, isUnproven: Bool)
        /// It pays for another attempt, in the thread of the event that asked for it.
        case paying(Retry)
        /// It waits before another attempt. It has no slot, and is in no queue.
        case pausing(until: MonotonicInstant)
        /// The head has been judged: the caller gets this response.
        case receiving(TransportResponse, Reception)
        /// The outcome is known; the last event of the attempt may still have to give the slot back.
        case ended(Outcome, holdsSlot: Bool)
    }

    /// How the caller gets a response.
    enum Reception: Sendable, Equatable {
        /// As it is.
        case whole
        /// As an error, whatever becomes of its body.
        case unacceptable
        /// As part of an error: the body of the request can't be read again for another attempt.
        case bodyNotRepeatable
        /// Through a file or a stream. If its reader doesn't keep up, silence is not the server's.
        case streamed(isPaused: Bool)
        /// As a 401 that nothing can be done about: the app hears of the session's end afterwards.
        case rejected

        /// Whether the status is the outcome, also if the body can't be read.
        var isError: Bool { [.unacceptable, .bodyNotRepeatable, .rejected].contains(self) }
    }

    /// What the caller gets.
    enum Outcome: Sendable {
        /// A response; the sink has its body.
        case response(TransportResponse)
        /// A 401 whose body was complete before the session refused a refresh.
        case rejection(TransportResponse, Data)
        /// An error whose body can't be read to its end, and why.
        case cut(TransportResponse, Reception, AtomError)
        case failure(AtomError)
    }

    /// A 401 that a refresh is asked for.
    struct Rejection: Sendable {
        let head: TransportResponse
        var body = Body.arriving(received: 0)

        /// The caller gets it if there is nothing to refresh with.
        enum Body: Sendable {
            case arriving(received: Int)
            case complete(Data)
            /// It was too long, or the connection was lost.
            case givenUp
        }
    }

    /// What doesn't change during an exchange.
    struct Terms: Sendable {
        let policy: ExchangePolicy
        /// Whether the service's authentication method signs the request.
        let isSigned: Bool
        /// Whether a session signs, and has to admit the request first.
        let hasSession: Bool
        let timeouts: RequestTimeouts
        let deadline: MonotonicInstant
        /// Whether the body is read while it is sent: the resource timeout counts from its last byte.
        var hasStreamedBody = false
        /// Whether what comes after its deadline is taken, once it has been sent: then the caller hears that it is overdue.
        var outlivesDeadline = false
    }
}

extension ExchangeMachine {
    /// The outcome, if it is known.
    var outcome: Outcome? { if case .ended(let outcome, _) = state { outcome } else { nil } }

    var unpaidRetry: Retry? { if case .paying(let retry) = state { retry } else { nil } }

    var isPausing: Bool { if case .pausing = state { true } else { false } }

    var isWaitingForSession: Bool { if case .waitingForSession = state { true } else { false } }

    var isWaitingForSlot: Bool { if case .waitingForSlot = state { true } else { false } }

    var isOnWire: Bool {
        switch state {
        case .sending, .receiving: true
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: false
        }
    }

    /// Whether the next head of this attempt counts.
    func awaitsHead(of number: Int) -> Bool {
        if case .sending = state { number == self.number } else { false }
    }

    /// How far the request got, for an error.
    var delivery: AtomError.Delivery {
        switch state {
        case .sending: .maybeSent
        case .receiving: .answered
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: reach
        }
    }

    /// What an outcome tells of the exchange.
    var story: ExchangeStory {
        ExchangeStory(
            asked: attempt.asked, attempts: number, hasLeftOrigin: attempt.hasLeftOrigin,
            hasChanged: hasRetried || attempt.redirects > 0, failures: retries?.failures ?? [])
    }

    /// What was paid for a retry that has not been sent.
    var unusedCost: Int { retries.map { $0.lastNumber == number ? $0.cost : 0 } ?? 0 }

    /// Whether the last retry waits, or has waited, for a network.
    var waitsForNetwork: Bool { retries?.last.waitsForNetwork ?? false }

    /// Whether the attempt is signed.
    ///
    /// After a redirect to another origin it never is.
    var isAttemptSigned: Bool { terms.isSigned && !attempt.hasLeftOrigin }

    /// Whether a slot sends the attempt.
    func isReadyToSend(isSigned: Bool) -> Bool { isWaitingForSlot && (isSigned || !isAttemptSigned) }

    /// The next attempt, if there is a signature or not.
    func nextAttempt(isSigned: Bool) -> NextAttempt {
        NextAttempt(
            attempt: attempt, number: number + 1, isSigned: isAttemptSigned, isReady: isReadyToSend(isSigned: isSigned))
    }

    /// Whether the attempt on the wire still has to give its slot back.
    var holdsSlot: Bool {
        guard terms.policy.takesSlot else { return false }
        return switch state {
        case .sending, .receiving(_, .whole), .receiving(_, .unacceptable), .receiving(_, .bodyNotRepeatable): true
        case .paying(let retry): if case .response = retry.alternative { true } else { false }
        case .ended(_, let holdsSlot): holdsSlot
        case .receiving, .waitingForSession, .waitingForSlot, .pausing: false
        }
    }
}
