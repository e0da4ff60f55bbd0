import Foundation

/// What happens to one `resume`, from admission to its outcome, as a pure
/// value.
///
/// An event changes the state and returns a ``Step``: one action, and effects
/// that go with it. ``Exchange`` keeps the machine under a lock and performs
/// the steps outside of it, so a step may be late: another thread may have
/// handled the next event by then. Every action tells the machine how it went,
/// and the machine takes back what has been overtaken.
///
/// An exchange makes one attempt, and another one after each redirect and after
/// a 401 to a first attempt. Attempts are numbered, and an event of an older
/// one changes nothing.
struct ExchangeMachine: Sendable {
    enum State: Sendable {
        /// Asks the session, or waits for its refresh.
        ///
        /// - Parameters:
        ///   - rejection: The 401 that brought it here.
        ///   - keepsPlace: Whether it was granted a slot and could not use it:
        ///     then it keeps its place in the lane.
        case waitingForSession(rejection: Rejection?, keepsPlace: Bool)
        /// Asks for a slot, or waits for one.
        case waitingForSlot(keepsPlace: Bool)
        /// The transport has the request; no head has come.
        ///
        /// - Parameter version: Of the credential that it was signed with, if
        ///   a session signed it.
        case sending(Transmission, version: Int?)
        /// The head has been judged: the answer is the caller's.
        case receiving(Transmission, TransportResponse)
        /// The outcome is decided.
        ///
        /// - Parameter holdsSlot: Whether the attempt's last event has still to
        ///   give its slot back.
        case ended(Outcome, holdsSlot: Bool)
    }

    /// What the caller is told.
    enum Outcome: Sendable {
        /// The answer with this head, whose body the sink has.
        case answer(TransportResponse)
        /// A 401 whose body had come before there was nothing to refresh with.
        case rejection(TransportResponse, Data)
        case failure(AtomError)
    }

    /// An attempt that is on the wire.
    struct Transmission: Sendable {
        /// When a byte last went or came.
        var lastActivity: MonotonicInstant
        /// Whether its slot has still to be given back.
        var holdsSlot: Bool
        /// Whether the app is not told of the end of its session before the
        /// caller has this answer.
        var holdsNotice = false
    }

    /// A 401 that a refresh may turn into something better.
    struct Rejection: Sendable {
        var head: TransportResponse
        var body: Body

        /// It is the caller's if nothing can be refreshed.
        enum Body: Sendable {
            case arriving(received: Int)
            case complete(Data)
            /// It was too long, or lost.
            case givenUp
        }
    }

    /// What holds for an exchange from its beginning to its end.
    struct Terms: Sendable {
        var policy: ExchangePolicy
        /// Whether the service's authentication method signs it.
        var needsSignature: Bool
        /// Whether a session has to admit it when it is signed.
        var hasSession: Bool
        var timeouts: RequestTimeouts
        var deadline: MonotonicInstant
    }

    /// How much of a 401's body is kept in case that it is the caller's, and
    /// how much of any answer is read that nobody wants: reading that is
    /// cheaper than a new connection.
    static let maximumRest = 1 << 16

    let terms: Terms
    var attempt: Attempt
    var state: State
    /// Of the attempt that is on the wire, or was last.
    var number = 0
    /// Whether a head has come for any attempt.
    var hasBeenAnswered = false
    /// Whether a 401 has been retried.
    var hasRetried = false
    /// The deadline queue goes by the highest of these; none if it has never
    /// been asked.
    var lastDeadline = 0

    init(_ attempt: consuming Attempt, _ terms: consuming Terms) {
        self.attempt = attempt
        state =
            terms.needsSignature && terms.hasSession
            ? .waitingForSession(rejection: nil, keepsPlace: false) : .waitingForSlot(keepsPlace: false)
        self.terms = terms
    }
}

// MARK: - Steps

extension ExchangeMachine {
    /// What follows from an event; small and without references, since every
    /// event returns one.
    struct Step {
        var action = Action.nothing
        var effects = Effects()
        /// What the deadline queue is told.
        var deadline = DeadlineChange.none
        /// The session learns that its token of this version was accepted.
        var acceptedVersion: Int?
    }

    /// What the exchange does next.
    enum Action {
        case nothing
        /// Ask the session for admission.
        ///
        /// - Parameter isAnew: Whether it has been sent before.
        case askSession(isAnew: Bool)
        /// Tell the session that the token of this version was rejected, then
        /// ask it for admission anew.
        case retry(rejectedVersion: Int)
        /// Ask for a slot.
        case enterLane(keepsPlace: Bool)
        /// Ask the session for another signature. The slot is in hand.
        case askSessionWithSlot
        /// Sign again. The slot is in hand.
        case sign
        /// Hand the attempt to the transport.
        case send
        /// Give this part of the body to the sink.
        case keepPart
        /// Finish the sink, and tell the machine what it held.
        case keepBody
        /// Finish the sink: its answer is the outcome.
        case deliver
        /// Tell the outcome: it is complete.
        case tell
    }

    /// What is done beside the action.
    struct Effects: OptionSet {
        let rawValue: UInt8

        // Done before the action.
        /// Keep the cookies that the head sets.
        static let keepCookies = Effects(rawValue: 1 << 0)
        /// Leave the session's queue.
        static let leaveSession = Effects(rawValue: 1 << 1)
        /// Leave the lane.
        static let leaveLane = Effects(rawValue: 1 << 2)

        // Done after it.
        /// Give the slot back. After the action: whoever gets it must find the session's token rejected by then.
        static let giveSlotBack = Effects(rawValue: 1 << 3)
        /// Stop the attempt that is on the wire.
        static let stop = Effects(rawValue: 1 << 4)
        /// Read the rest of the answer up to a bound: nobody wants it.
        static let discardRest = Effects(rawValue: 1 << 5)
        /// Go on holding back what the app is told of the end of its session: the caller comes first, and its answer
        /// is incomplete.
        static let keepNotice = Effects(rawValue: 1 << 6)
        /// Stop holding it back: the caller has been told.
        static let releaseNotice = Effects(rawValue: 1 << 7)
    }

    /// A change of the deadline, numbered: of two that are performed in the
    /// wrong order the higher counts.
    enum DeadlineChange {
        case none
        case set(MonotonicInstant, Int)
        case removed(Int)
    }
}

extension ExchangeMachine {
    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// What the caller is told, once that is decided.
    var outcome: Outcome? { if case .ended(let outcome, _) = state { outcome } else { nil } }

    /// How far the request has got, for an error.
    var delivery: AtomError.Delivery {
        switch state {
        case .sending: .maybeSent
        case .receiving: .answered
        case .waitingForSession, .waitingForSlot, .ended: hasBeenAnswered ? .answered : .notSent
        }
    }

    /// Sets the deadline to the end of the exchange's time, or of its silence.
    mutating func armed() -> DeadlineChange {
        var deadline = terms.deadline
        switch state {
        case .sending(let transmission, _), .receiving(let transmission, _):
            deadline = min(deadline, silenceEnd(transmission))
        case .waitingForSession, .waitingForSlot, .ended: break
        }
        lastDeadline += 1
        return .set(deadline, lastDeadline)
    }

    mutating func disarmed() -> DeadlineChange {
        guard lastDeadline > 0 else { return .none }
        lastDeadline += 1
        return .removed(lastDeadline)
    }

    func silenceEnd(_ transmission: Transmission) -> MonotonicInstant {
        transmission.lastActivity.advanced(byNanoseconds: terms.timeouts.idleNanoseconds)
    }

    /// Ends the exchange with an error.
    mutating func fail(_ error: AtomError) -> Step {
        var step = Step(action: .tell)
        var holdsSlot = false
        switch state {
        case .ended: return Step()
        case .waitingForSession(let rejection, _):
            step.effects = .leaveSession
            if case .arriving? = rejection?.body { step.effects.insert(.stop) }
        case .waitingForSlot:
            step.effects = .leaveLane
        case .sending(let transmission, _), .receiving(let transmission, _):
            step.effects = .stop
            if transmission.holdsNotice { step.effects.insert(.releaseNotice) }
            holdsSlot = transmission.holdsSlot
        }
        step.deadline = disarmed()
        state = .ended(.failure(error), holdsSlot: holdsSlot)
        return step
    }
}
