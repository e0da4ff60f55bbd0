import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One machine for each state that differs in what may follow.
enum ExchangeSample: String, CaseIterable, Sendable {
    case asksSession, rejectedAndArriving, rejectedAndComplete, rejectedAndGivenUp, keepsItsPlace, standsInLane
    case sendingSigned, sendingSignedAgain, sendingUnsigned, sendingToken, overdueToken, receiving, receivingRefused
    case sendingStream, receivingStream, receivingPaused, receivingSpent, receivingError, receivingJudged
    case judgedAndComplete, endedWhileJudged
    case payingAfterHead, payingAfterLoss
    case pausing, pausingUnsigned, pausingForNetwork
    case ended, endedHoldingSlot

    func machine() throws -> ExchangeMachine {
        switch self {
        case .asksSession: return try ExchangeFixture.machine(upTo: [])
        case .rejectedAndArriving: return try ExchangeFixture.machine(.head401)
        case .rejectedAndComplete: return try ExchangeFixture.machine(.head401, .bodyKept)
        case .rejectedAndGivenUp: return try ExchangeFixture.machine(.head401, .bigPart)
        case .keepsItsPlace: return try ExchangeFixture.machine(upTo: [.admitted, .slotUnsigned])
        case .standsInLane: return try ExchangeFixture.machine(upTo: [.admitted])
        case .sendingSigned: return try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        case .sendingSignedAgain: return try ExchangeFixture.machine(.head401, .admitted, .slotSigned)
        case .sendingUnsigned: return try ExchangeFixture.machine(isSigned: false, .slotUnsigned)
        case .sendingToken:
            return try ExchangeFixture.machine(
                isSigned: false, policy: .token, outlivesDeadline: true, .slotUnsigned, .sent)
        case .overdueToken:
            return try ExchangeFixture.machine(
                isSigned: false, policy: .token, outlivesDeadline: true, .slotUnsigned, .sent, .ringOver)
        case .receiving: return try ExchangeFixture.machine(.head200)
        case .receivingRefused: return try ExchangeFixture.machine(.head401, .refusedMissing)
        case .sendingStream: return try ExchangeFixture.machine(isStreamed: true, .admitted, .slotSigned)
        case .receivingStream:
            return try ExchangeFixture.machine(isStreamed: true, .admitted, .slotSigned, .streamed200)
        case .receivingPaused:
            return try ExchangeFixture.machine(isStreamed: true, .admitted, .slotSigned, .streamed200, .paused)
        case .receivingSpent: return try ExchangeFixture.machine(.spent307)
        case .receivingError: return try ExchangeFixture.machine(.head404)
        case .receivingJudged: return try ExchangeFixture.machine(.judged400)
        case .judgedAndComplete: return try ExchangeFixture.machine(.judged400, .finished)
        case .endedWhileJudged: return try ExchangeFixture.machine(.judged400, .finished, .cancelled)
        case .payingAfterHead: return try ExchangeFixture.machine(.busyOffered)
        case .payingAfterLoss: return try ExchangeFixture.machine(.lostOffered)
        case .pausing: return try ExchangeFixture.machine(.busy)
        case .pausingUnsigned: return try ExchangeFixture.machine(isSigned: false, .slotUnsigned, .busy)
        case .pausingForNetwork: return try ExchangeFixture.machine(.offline)
        case .ended: return try ExchangeFixture.machine(.head200, .finished)
        case .endedHoldingSlot: return try ExchangeFixture.machine(.head200, .cancelled)
        }
    }
}

/// All that a machine hears, by the name that the table uses.
enum ExchangeEvent: String, CaseIterable, Sendable {
    case admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, slotSigned, slotUnsigned
    case admittedWithSlot, cancelled, ringEarly, ringSilent, ringOver, ringLooks, ringOverLooks
    case sent, head200, head401, head404, head302, head302Last, headWithCookie, part, bigPart, sinkFailed, finished
    case bodyKept, restExpired, oldRestExpired, refusedByDestination
    case spent401, spent307, streamed200, paused, goesOn, oldPaused
    case rejected403, judged400, judgedSpent400, bodyRejected, unproven401, unprovenSpent401
    case lostUnsent, lost
    case offline, networkReturned
    case busy, busyUnpaid, busyAtOnce, lostAgain, lostUnpaid, lostUnsentAgain, ringSilentAgain, ringPause, pauseNoted
    case slotUseless, refusedOffline
    case busyOffered, lostOffered, paid, unpaid, oldPaid, oldUnpaid
    case oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead
    case whole, oldWhole

    @discardableResult
    func handled(by machine: inout ExchangeMachine) -> [ExchangeMachine.Command] {
        var commands = commands(of: &machine).all
        // The transport has nothing that a deadline could be too early for, unless the event says that it looks.
        if self != .ringLooks, self != .ringOverLooks, commands.last == .look, let end = machine.lookEnd {
            commands = machine.deadlinePassed(at: end, ringQuestion).all
        }
        // What a retry costs is paid at once, unless the event says something else.
        if self != .busyOffered, self != .lostOffered, let retry = machine.unpaidRetry, commands.contains(.payForRetry)
        {
            commands += machine.paid(self != .busyUnpaid && self != .lostUnpaid, for: retry).all
        }
        return commands
    }

    /// A ring that offers a retry.
    private var ringQuestion: RetryQuestion? {
        self == .ringSilentAgain
            ? ExchangeFixture.question(.connection(.timedOut), .maybeSent, true, false) : nil
    }

    private func commands(of machine: inout ExchangeMachine) -> ExchangeMachine.Commands {
        let now = ExchangeFixture.instant(1)
        let number = machine.number
        func head(_ status: Int, _ fields: [String: String] = [:]) -> TransportResponse {
            TransportResponse(
                statusCode: status,
                headerFields: HeaderFields(fields.map { HeaderItem(name: $0.key, value: $0.value) }))
        }
        func failure(_ code: URLError.Code, _ delivery: AtomError.Delivery = .maybeSent) -> TransportFailure {
            TransportFailure(URLError(code), delivery: delivery)
        }
        let tooLong = AtomError.session(URLError(.dataLengthExceedsMaximum))
        // Nothing that a token endpoint answers is an error by its status.
        let error = machine.terms.outlivesDeadline ? ExchangeMachine.Reception.whole : .unacceptable
        let question = ExchangeFixture.question
        switch self {
        case .admitted: return machine.admitted()
        case .queuedBySession: return machine.queuedBySession()
        case .refusedMissing: return machine.refused(.missingCredential(delivery: .notSent), at: now)
        case .refusedOver: return machine.refused(.signedOut(delivery: .notSent), at: now)
        case .refusedOffline:
            return machine.refused(
                .refreshFailed(cause: URLError(.notConnectedToInternet), retryAt: nil, delivery: .notSent),
                question(.connection(.notConnectedToInternet), .notSent, true, true), at: now)
        case .queuedForSlot: return machine.queuedForSlot(place: 3)
        case .slotSigned: return machine.slotGranted(place: 3, by: .signed(7, isUnproven: true), at: now)
        case .slotUnsigned:
            return machine.slotGranted(place: 3, by: Pass(tenure: .nobody), at: now)
        case .slotUseless: return machine.slotGranted(.signedOut(delivery: .notSent))
        case .admittedWithSlot: return machine.admitted(withSlotAt: 3)
        case .cancelled: return machine.cancelled()
        case .ringEarly: return machine.deadlinePassed(at: now)
        case .ringSilent, .ringLooks, .ringSilentAgain:
            return machine.deadlinePassed(at: ExchangeFixture.instant(50), ringQuestion)
        case .ringOver, .ringOverLooks: return machine.deadlinePassed(at: ExchangeFixture.instant(100))
        case .sent:
            machine.sent(by: number, at: now)
            return ExchangeMachine.Commands()
        case .head200: return machine.headArrived(head(200), of: number, at: now)
        case .head401: return machine.headArrived(head(401), of: number, error, at: now)
        case .head404: return machine.headArrived(head(404), of: number, error, at: now)
        case .rejected403: return machine.headArrived(head(403), of: number, error, verdict: .rejected, at: now)
        case .unproven401:
            return machine.headArrived(head(401), of: number, error, verdict: .wantsAnotherProof, at: now)
        case .unprovenSpent401:
            machine.attempt.message.body = .data(Data("x".utf8))
            return machine.headArrived(
                head(401), of: number, isBodySpent: true, error, verdict: .wantsAnotherProof, at: now)
        case .judged400: return machine.headArrived(head(400), of: number, error, verdict: .byBody, at: now)
        case .judgedSpent400:
            machine.attempt.message.body = .data(Data("x".utf8))
            return machine.headArrived(
                head(400), of: number, isBodySpent: true, error, verdict: .byBody, at: now)
        case .head302: return machine.headArrived(head(302, ["Location": "/next"]), of: number, error, at: now)
        case .head302Last:
            machine.attempt.redirects = 20
            return machine.headArrived(head(302, ["Location": "/next"]), of: number, error, at: now)
        case .streamed200:
            // The file is opened at once.
            defer { machine.partKept(of: number, at: now) }
            return machine.headArrived(head(200), of: number, .streamed(isPaused: false), at: now)
        case .spent401:
            machine.attempt.message.body = .data(Data("x".utf8))
            return machine.headArrived(head(401), of: number, isBodySpent: true, error, at: now)
        case .spent307:
            machine.attempt.message.body = .data(Data("x".utf8))
            return machine.headArrived(
                head(307, ["Location": "/next"]), of: number, isBodySpent: true, error, at: now)
        case .paused: return machine.pauseChanged(true, of: number, at: now)
        case .goesOn: return machine.pauseChanged(false, of: number, at: now)
        case .oldPaused: return machine.pauseChanged(true, of: number - 1, at: now)
        case .headWithCookie: return machine.headArrived(head(200, ["Set-Cookie": "a=b"]), of: number, at: now)
        case .part: return machine.partArrived(1, of: number, at: now)
        case .bigPart: return machine.partArrived(ExchangeMachine.maximumRest + 1, of: number, at: now)
        case .sinkFailed: return machine.sinkFailed(tooLong, of: number, at: now)
        case .refusedByDestination: return machine.sinkFailed(tooLong, of: number, asksAgain: true, at: now)
        case .restExpired: return machine.restExpired(number)
        case .oldRestExpired: return machine.restExpired(number - 1)
        case .finished: return machine.finished(number)
        case .bodyKept: return machine.bodyKept(Data("no".utf8), of: number)
        case .bodyRejected: return machine.bodyKept(Data("no".utf8), of: number, isRejection: true)
        case .lostUnsent: return machine.failed(failure(.cannotConnectToHost, .notSent), number, at: now)
        case .lost: return machine.failed(failure(.networkConnectionLost), number, at: now)
        case .busy, .busyUnpaid, .busyOffered:
            return machine.headArrived(
                head(503), of: number, error, question(.status(503), .answered, true, false), at: now)
        case .busyAtOnce:
            return machine.headArrived(
                head(503), of: number, error, question(.status(503), .answered, false, false), at: now)
        case .lostAgain, .lostUnpaid, .lostOffered:
            return machine.failed(
                failure(.networkConnectionLost), number,
                question(.connection(.networkConnectionLost), .maybeSent, true, false), at: now)
        case .lostUnsentAgain:
            return machine.failed(
                failure(.cannotConnectToHost, .notSent), number,
                question(.connection(.cannotConnectToHost), .notSent, false, false), at: now)
        case .offline:
            return machine.failed(
                failure(.notConnectedToInternet, .notSent), number,
                question(.connection(.notConnectedToInternet), .notSent, true, true), at: now)
        case .networkReturned: return machine.networkReturned(after: number)
        case .ringPause: return machine.deadlinePassed(at: ExchangeFixture.instant(6))
        case .pauseNoted: return machine.pauseNoted()
        case .oldPart: return machine.partArrived(1, of: number - 1, at: now)
        case .oldSinkFailed: return machine.sinkFailed(tooLong, of: number - 1, at: now)
        case .oldFinished: return machine.finished(number - 1)
        case .oldBodyKept: return machine.bodyKept(Data("no".utf8), of: number - 1)
        case .oldLost: return machine.failed(failure(.networkConnectionLost), number - 1, at: now)
        case .oldHead: return machine.headArrived(head(200), of: number - 1, at: now)
        case .whole: return machine.wholeArrived(head(200), of: number) ?? ExchangeMachine.Commands()
        case .oldWhole: return machine.wholeArrived(head(200), of: number - 1) ?? ExchangeMachine.Commands()
        case .paid: return machine.paid(true, for: machine.unpaidRetry ?? ExchangeFixture.oldRetry)
        case .unpaid: return machine.paid(false, for: machine.unpaidRetry ?? ExchangeFixture.oldRetry)
        case .oldPaid: return machine.paid(true, for: ExchangeFixture.oldRetry)
        case .oldUnpaid: return machine.paid(false, for: ExchangeFixture.oldRetry)
        }
    }
}

extension ExchangeMachine.Commands {
    var all: [ExchangeMachine.Command] { (0..<count).map { self[$0] } }
}

/// Machines as the tests need them: 10 s of silence are too many, and 100 s of
/// all.
enum ExchangeFixture {
    static func instant(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    /// A retry after this: after a pause until the sixth second, or at once.
    static func question(
        _ failure: AttemptFailure, _ delivery: AtomError.Delivery, _ pauses: Bool, _ isOffline: Bool
    ) -> RetryQuestion {
        let delay = pauses ? Duration.seconds(5) : .zero
        let policy = RetryPolicy(
            baseDelay: delay, throttledBaseDelay: delay, maximumDelay: delay, cost: 14,
            connectivityWait: isOffline ? delay : nil)
        return RetryQuestion(
            after: RetryPolicy.Setback(failure, delivery: delivery, serverDelay: pauses ? delay : nil),
            by: policy, isDeclaredIdempotent: true, chance: 0, isOffline: isOffline)
    }

    /// A retry that the machine doesn't wait for.
    static let oldRetry = Retry(
        after: RetryPolicy.Setback(.status(503), delivery: .answered), until: nil, cost: 14, of: 500,
        or: .failure(.unexpected))

    /// A machine that has heard these.
    static func machine(
        upTo events: [ExchangeEvent]
    ) throws -> ExchangeMachine {
        try machine(true, nil, events)
    }

    /// A machine that has been sent, as far as these need it, and has heard
    /// them.
    static func machine(
        isSigned: Bool = true, policy: ExchangePolicy? = nil, outlivesDeadline: Bool = false,
        _ events: ExchangeEvent...
    ) throws -> ExchangeMachine {
        let sending: [ExchangeEvent] = events.isEmpty || !isSigned ? [] : [.admitted, .slotSigned]
        return try machine(isSigned, policy, sending + events, outlivesDeadline: outlivesDeadline)
    }

    /// A machine whose body is read while it is sent, and whose response goes to
    /// a stream.
    static func machine(isStreamed: Bool, _ events: ExchangeEvent...) throws -> ExchangeMachine {
        try machine(true, nil, events, isStreamed: isStreamed)
    }

    private static func machine(
        _ isSigned: Bool, _ policy: ExchangePolicy?, _ events: [ExchangeEvent], isStreamed: Bool = false,
        outlivesDeadline: Bool = false
    ) throws -> ExchangeMachine {
        let endpoint = PathEndpoint(pathText: "/start", requiresAuthorization: isSigned)
        let request = try PreparedRequest(endpoint, timeout: ServiceTimeout(request: 10, resource: 100))
        let service = ExchangePolicy(
            takesSlot: true, usesCookies: true, needsFreshConnection: false, retries: true,
            redirectLimit: 20, maximumBodySize: 1 << 20)
        var machine = ExchangeMachine(
            Attempt(request),
            ExchangeMachine.Terms(
                policy: policy ?? service, isSigned: isSigned, hasSession: true, timeouts: request.timeouts,
                deadline: instant(100), hasStreamedBody: isStreamed, outlivesDeadline: outlivesDeadline))
        for event in events { event.handled(by: &machine) }
        return machine
    }
}

extension Pass {
    /// With the access token of this number.
    static func signed(_ number: Int, isUnproven: Bool = false) -> Pass {
        Pass(authorization: "Bearer a\(number)", tokenNumber: number, isUnproven: isUnproven, tenure: .nobody)
    }
}
