import Foundation

/// The decisions of one exchange, from admission to its outcome, as a pure
/// value.
///
/// An event changes the state and returns a ``Step``: one action and a set of
/// effects. ``Exchange`` keeps the machine under a lock and performs each step
/// outside the lock. So another thread may handle an event before a step has
/// been performed. Each action therefore ends with an event, and the machine
/// answers with the effect that undoes an action that came too late.
///
/// An exchange makes one attempt. It makes another one after each redirect,
/// after a 401 for its first attempt, and where a ``RetryPolicy`` says so.
/// Attempts are numbered; events of an older attempt change nothing.
struct ExchangeMachine: Sendable {
    enum State: Sendable {
        /// It asks the session, or waits for a refresh.
        ///
        /// - Parameters:
        ///   - rejection: The 401 that a refresh was asked for.
        ///   - keepsPlace: Whether it got a slot and could not use it. Then it
        ///     keeps its place in the lane.
        case waitingForSession(rejection: Rejection?, keepsPlace: Bool)
        /// It asks for a slot, or waits in the lane.
        case waitingForSlot(keepsPlace: Bool)
        /// It waits before another attempt. It has no slot, and is in no queue.
        case pausing(until: MonotonicInstant)
        /// The transport has the request; no head has arrived.
        ///
        /// - Parameter version: The version of the session's credential that
        ///   signed it; `nil` if no session did.
        case sending(Transmission, version: Int?)
        /// The head has been judged: the caller gets this response.
        case receiving(Transmission, TransportResponse)
        /// The outcome is known.
        ///
        /// - Parameter holdsSlot: Whether the last event of the attempt still has
        ///   to give the slot back.
        case ended(Outcome, holdsSlot: Bool)
    }

    /// What the caller gets.
    enum Outcome: Sendable {
        /// A response; the sink has its body.
        case answer(TransportResponse)
        /// A 401 whose body was complete before the session refused a refresh.
        case rejection(TransportResponse, Data)
        /// A response after which the body had to be sent again, but can't be
        /// read again; the sink has the response's body.
        case bodyNotRepeatable(TransportResponse)
        case failure(AtomError)
    }

    /// An attempt that is on the wire.
    struct Transmission: Sendable {
        /// The time of the last byte sent or received.
        var lastActivity: MonotonicInstant
        /// Whether its slot still has to be given back.
        var holdsSlot: Bool
        /// Whether the notification of the session's end waits for this
        /// response.
        var holdsNotice = false
        /// Whether the body of the response is held back, because its reader
        /// doesn't keep up.
        ///
        /// Then silence is not the server's.
        var isPaused = false
        /// Whether the response goes to a file or a stream.
        var isStreamed = false
        /// Whether the response would have been followed by another attempt,
        /// for which the body can't be read again.
        var needsSpentBody = false
    }

    /// A 401 that a refresh is asked for.
    struct Rejection: Sendable {
        var head: TransportResponse
        var body: Body

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
        var policy: ExchangePolicy
        /// Whether the service's authentication method signs the request.
        var isSigned: Bool
        /// Whether a session signs, and has to admit the request first.
        var hasSession: Bool
        var timeouts: RequestTimeouts
        var deadline: MonotonicInstant
        /// Whether the body is read while it is sent.
        ///
        /// Then the resource timeout counts from the last byte that was sent.
        var hasStreamedBody = false
    }

    /// The size up to which the body of a 401 is kept during a refresh, and up
    /// to which an unwanted body is read, in bytes.
    ///
    /// Reading that much is cheaper than a new connection.
    static let maximumRest = 1 << 16

    let terms: Terms
    var attempt: Attempt
    var state: State
    /// The number of the current attempt, or of the last one.
    var number = 0
    /// How far the earlier attempts got.
    var reach = AtomError.Delivery.notSent
    /// What a policy has sent again; `nil` for nothing.
    var retries: Retries?
    /// Whether a 401 has been retried.
    var hasRetried = false
    /// The number of the last change of the deadline; 0 for none.
    var lastDeadline = 0
    /// The end of the exchange's time; `nil` if it has no end any more.
    var deadline: MonotonicInstant?

    @inline(__always)
    init(_ attempt: consuming Attempt, _ terms: consuming Terms) {
        self.attempt = attempt
        state =
            terms.isSigned && terms.hasSession
            ? .waitingForSession(rejection: nil, keepsPlace: false) : .waitingForSlot(keepsPlace: false)
        deadline = terms.deadline
        self.terms = terms
    }
}

// MARK: - Steps

extension ExchangeMachine {
    /// The result of an event.
    ///
    /// It is small and holds no references, because every event returns one.
    struct Step {
        var action = Action.nothing
        var effects = Effects()
        /// The change for the deadline queue.
        var deadline = DeadlineChange.none
        /// The version of the session's credential that the server has accepted.
        var acceptedVersion: Int?
        /// The version of the session's credential that the server has rejected,
        /// for a request that is not sent again.
        var rejectedVersion: Int?
    }

    /// The next thing to do.
    enum Action {
        case nothing
        /// Ask the session for admission.
        ///
        /// - Parameter isAnew: Whether it has been sent before.
        case askSession(isAnew: Bool)
        /// Tell the session that the token of this version was rejected, then
        /// ask it for admission anew.
        case retry(rejectedVersion: Int)
        /// Tell the session that the exchange pauses.
        case pause
        /// Ask for a slot.
        case enterLane(keepsPlace: Bool)
        /// Ask the session for admission and keep the slot meanwhile.
        case askSessionWithSlot
        /// Sign again, with the same slot.
        case sign
        /// Hand the attempt to the transport.
        case send
        /// Pass this part of the body to the sink.
        case keepPart
        /// End the sink, and give its data to the machine.
        case keepBody
        /// End the sink, and tell the caller the response.
        case deliver
        /// Tell the caller the outcome in the state.
        case tell
    }

    /// What is done besides the action.
    struct Effects: OptionSet {
        let rawValue: UInt16

        // Before the action:
        /// Keep the cookies that the head sets.
        static let keepCookies = Effects(rawValue: 1 << 0)
        /// Leave the session's queue.
        static let leaveSession = Effects(rawValue: 1 << 1)
        /// Leave the lane.
        static let leaveLane = Effects(rawValue: 1 << 2)
        /// Tell the session that the pause is over.
        static let leavePause = Effects(rawValue: 1 << 9)

        // After the action:
        /// Give the slot back.
        ///
        /// The session must know of a rejected token before the next request
        /// gets the slot.
        static let giveSlotBack = Effects(rawValue: 1 << 3)
        /// Stop the attempt on the wire.
        static let stop = Effects(rawValue: 1 << 4)
        /// Let go of the attempt: its response is not needed any more.
        static let letGo = Effects(rawValue: 1 << 5)
        /// Keep the notification of the session's end back: the caller comes first, and its response is incomplete.
        static let keepNotice = Effects(rawValue: 1 << 6)
        /// Release this notification: the caller has been told.
        static let releaseNotice = Effects(rawValue: 1 << 7)
        /// Limit the time for which the rest of this response is read.
        static let limitRest = Effects(rawValue: 1 << 8)

        /// The retry that was offered is used.
        static let sendAgain = Effects(rawValue: 1 << 10)
    }

    /// A change of the deadline, with a number.
    ///
    /// If two changes are performed in the wrong order, the one with the higher
    /// number counts.
    enum DeadlineChange {
        case none
        case set(MonotonicInstant, Int)
        case removed(Int)
    }
}

extension ExchangeMachine {
    /// The outcome, if it is known.
    var outcome: Outcome? { if case .ended(let outcome, _) = state { outcome } else { nil } }

    /// Whether the caller gets the response whose head has arrived.
    var deliversHead: Bool {
        if case .receiving(let transmission, _) = state { !transmission.needsSpentBody } else { false }
    }

    /// How far the request got, for an error.
    var delivery: AtomError.Delivery {
        switch state {
        case .sending: .maybeSent
        case .receiving: .answered
        case .waitingForSession, .waitingForSlot, .pausing, .ended: reach
        }
    }

    /// Sets the deadline: the end of the exchange's time, or of its idle time.
    mutating func armed() -> DeadlineChange {
        var next = deadline
        switch state {
        case .sending(let transmission, _), .receiving(let transmission, _):
            if let end = silenceEnd(transmission) { next = next.map { min($0, end) } ?? end }
        case .pausing(let until): next = next.map { min($0, until) } ?? until
        case .waitingForSession, .waitingForSlot, .ended: break
        }
        guard let next else { return disarmed() }
        lastDeadline += 1
        return .set(next, lastDeadline)
    }

    mutating func disarmed() -> DeadlineChange {
        guard lastDeadline > 0 else { return .none }
        lastDeadline += 1
        return .removed(lastDeadline)
    }

    /// When the server has been silent for too long; `nil` while it is made to
    /// wait.
    func silenceEnd(_ transmission: Transmission) -> MonotonicInstant? {
        transmission.isPaused
            ? nil : transmission.lastActivity.advanced(byNanoseconds: terms.timeouts.idleNanoseconds)
    }

    /// Ends the exchange with an attempt that needs no stopping, or with none.
    mutating func end(_ outcome: Outcome, _ action: Action = .tell, effects: Effects = []) -> Step {
        let deadline = disarmed()
        state = .ended(outcome, holdsSlot: false)
        return Step(action: action, effects: effects, deadline: deadline)
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
        case .pausing:
            step.effects = .leavePause
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
