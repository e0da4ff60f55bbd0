import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An exchange's machine as it is, or with a bug.
struct ModelledExchange {
    enum Event: Hashable, Sendable {
        case admitted
        case queuedBySession
        case refused(isMissing: Bool)
        case queuedForSlot
        case slotGranted(isSigned: Bool, version: Int?)
        case admittedWithSlot
        case cancelled
        case ring(at: Int)
        case head(ExchangeModelSettings.Head, Int)
        case part(ExchangeModelSettings.Part, Int)
        case finished(Int)
        case bodyKept(Int)
        case failed(Int)
        case restExpired(Int)
        case sinkFailed(Int)
        case refusedByDestination(Int)
        case pauseChanged(Bool, Int)
        case pauseNoted
        /// This, with another attempt after the one with this number; it has
        /// been paid for.
        indirect case again(Event, Int)

        /// The event itself.
        var plain: Event { if case .again(let event, _) = self { event } else { self } }
    }

    /// When the exchange's time is up, and when the wire has been silent for
    /// too long.
    static let end = 100
    static let silence = 10
    /// When a pause between attempts ends.
    static let pauseEnd = 5

    /// Two attempts, with five seconds between them.
    private static let policy = RetryPolicy(
        maximumAttempts: 2, baseDelay: .seconds(10), throttledBaseDelay: .seconds(10), cost: 1, throttledCost: 1)

    var machine: ExchangeMachine
    let bug: PlantedExchangeBug?
    let isStreamed: Bool

    init(
        _ settings: ExchangeModelSettings, isSigned: Bool, isStreamed: Bool, isIdempotent: Bool,
        bug: PlantedExchangeBug?
    ) throws {
        var endpoint = PathEndpoint(pathText: "/start")
        endpoint.requiresAuthorization = isSigned
        let request = try PreparedRequest(endpoint, timeout: ServiceTimeout(request: 10, resource: 100))
        let policy = ExchangePolicy(
            takesSlot: settings.takesSlots, usesCookies: true, needsFreshConnection: false, retries: true,
            redirectLimit: settings.redirectLimit, maximumBodySize: 1 << 20)
        machine = ExchangeMachine(
            Attempt(request),
            ExchangeMachine.Terms(
                policy: policy, isSigned: isSigned, hasSession: true, timeouts: request.timeouts,
                deadline: Self.instant(Self.end)))
        if !isIdempotent { machine.attempt.method = "POST" }
        self.bug = bug
        self.isStreamed = isStreamed
    }

    static func instant(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    private static func head(_ head: ExchangeModelSettings.Head, _ number: Int) -> TransportResponse {
        var fields = HeaderFields([.init(name: "X-Attempt", value: "\(number)")])
        if head == .redirect { fields.append(name: "Location", value: "/next") }
        return TransportResponse(statusCode: head.rawValue, headerFields: fields)
    }

    /// Whether this would be followed by another attempt.
    func isRepeated(after event: Event) -> Bool {
        let setback: RetryPolicy.Setback
        var number = machine.number
        switch event {
        case .head(.busy, let attempt):
            setback = RetryPolicy.Setback(.status(503), delivery: .answered)
            number = attempt
        case .head(.busyForLong, let attempt):
            setback = RetryPolicy.Setback(.status(429), delivery: .answered, serverDelay: .seconds(1_000))
            number = attempt
        case .failed(let attempt):
            setback = RetryPolicy.Setback(.connection(.networkConnectionLost), delivery: .maybeSent)
            number = attempt
        case .ring(let instant) where machine.isSilent(at: Self.instant(instant)):
            setback = RetryPolicy.Setback(.connection(.timedOut), delivery: .maybeSent)
        default:
            return false
        }
        var machine = machine
        if bug == .retriedAfterTheDeadline { machine.deadline = nil }
        if bug == .retriedForEver { machine.retries = nil }
        if bug == .unsafeRequestRepeated { machine.attempt.method = "GET" }
        if bug == .streamRepeated, case .receiving(var transmission, let head) = machine.state {
            transmission.isStreamed = false
            machine.state = .receiving(transmission, head)
        }
        return machine.retry(after: setback, of: number, by: Self.policy, chance: 0.5, at: Self.instant(0)) != nil
    }

    private func retry(_ event: Event) -> ExchangeMachine.Retry? {
        guard case .again(let plain, let attempt) = event else { return nil }
        let number = bug == .retryOfAnOlderAttempt ? machine.number : attempt
        let setback: RetryPolicy.Setback
        switch plain {
        case .head(let head, _): setback = RetryPolicy.Setback(.status(head.rawValue), delivery: .answered)
        default: setback = RetryPolicy.Setback(.connection(.networkConnectionLost), delivery: .maybeSent)
        }
        return ExchangeMachine.Retry(
            number: number, setback: setback, until: Self.instant(Self.pauseEnd), cost: 1)
    }

    mutating func take(_ event: Event) -> ExchangeMachine.Step {
        let now = Self.instant(0)
        let before = machine
        let retry = retry(event)
        if bug == .streamRepeated, retry != nil, case .receiving(var transmission, let head) = machine.state {
            transmission.isStreamed = false
            machine.state = .receiving(transmission, head)
        }
        let event = event.plain
        var step: ExchangeMachine.Step
        switch event {
        case .admitted: step = machine.admitted()
        case .queuedBySession: step = machine.queuedBySession()
        case .refused(let isMissing):
            step = machine.refused(
                isMissing ? .missingCredential(delivery: .notSent) : .signedOut(delivery: .notSent), at: now)
        case .queuedForSlot: step = machine.queuedForSlot()
        case .slotGranted(let isSigned, let version):
            step = machine.slotGranted(
                isSigned: isSigned || bug == .signedByWhoeverHasTheSlot, version: version, at: now)
            if bug == .sentAfterItsEnd, before.hasEnded { step = ExchangeMachine.Step(action: .send) }
        case .admittedWithSlot: step = machine.admittedWithSlot()
        case .cancelled: step = machine.cancelled()
        case .ring(let instant):
            let isEarly = bug == .pauseCutShort && instant == 1
            step = machine.deadlinePassed(at: Self.instant(isEarly ? Self.pauseEnd : instant), retry: retry)
        case .head(let head, let number):
            if bug == .retriedTwice { machine.hasRetried = false }
            step = machine.headArrived(
                Self.head(head, number), of: number, isStreamed: isStreamed && head == .ok, retry: retry,
                at: now)
        case .part(let part, let number):
            step = machine.partArrived(
                part == .big ? ExchangeMachine.maximumRest + 1 : 1, of: number, at: now)
        case .finished(let number):
            step = machine.finished(bug == .lateEventCounts ? machine.number : number)
        case .sinkFailed(let number):
            guard bug != .sinkFailureIgnored else { return ExchangeMachine.Step() }
            step = machine.sinkFailed(.session(URLError(.dataLengthExceedsMaximum)), of: number)
        case .refusedByDestination(let number): step = machine.responseRefused(of: number, at: now)
        case .restExpired(let number): step = machine.restExpired(number)
        case .pauseChanged(let isPaused, let number):
            step = machine.pauseChanged(
                isPaused && bug != .slowReaderCountsAsSilence, of: number, at: now)
            if !isPaused, bug == .silenceUnwatchedAfterAPause { step.deadline = .none }
        case .pauseNoted: step = machine.pauseNoted()
        case .bodyKept(let number): step = machine.bodyKept(Data([UInt8(number)]), of: number)
        case .failed(let number):
            step = machine.failed(
                TransportFailure(URLError(.networkConnectionLost)),
                bug == .lateEventCounts ? machine.number : number, retry: retry)
        case .again: step = ExchangeMachine.Step()
        }
        plant(event, before, &step)
        return step
    }

    private mutating func plant(
        _ event: Event, _ before: ExchangeMachine, _ step: inout ExchangeMachine.Step
    ) {
        switch (bug, event) {
        case (.slotKeptByAStream, .head(.ok, _)) where isStreamed: step.effects.remove(.giveSlotBack)
        case (.slotGivenBackTwice, .finished): step.effects.insert(.giveSlotBack)
        case (.slotKeptAtTheHead, .head): step.effects.remove(.giveSlotBack)
        case (.slotKeptAtTheEnd, .finished), (.slotKeptAtTheEnd, .failed): step.effects.remove(.giveSlotBack)
        case (.slotKeptByWhoHasLeft, .slotGranted) where before.hasEnded: step.effects.remove(.giveSlotBack)
        case (.toldTwice, .cancelled) where before.hasEnded: step.action = .tell
        case (.deadlineLeftArmed, _): if case .removed = step.deadline { step.deadline = .none }
        case (.deadlineNeverArmed, .slotGranted): step.deadline = .none
        case (.deadlineChangesUnnumbered, _):
            // Every change counts as later than all that were made before it is performed.
            switch step.deadline {
            case .set(let instant, _): step.deadline = .set(instant, .max)
            case .removed: step.deadline = .removed(.max)
            case .none: break
            }
        case (.slotKeptInAPause, .head(.busy, _)): step.effects.remove(.giveSlotBack)
        case (.pauseNeverEnds, .pauseNoted): step.deadline = .none
        case (.pauseEndKept, .ring): step.effects.remove(.leavePause)
        case (.signOutIgnoredInAPause, .refused):
            if case .pausing = before.state {
                machine = before
                step = ExchangeMachine.Step()
            }
        case (.queuedAfterItsEnd, .queuedBySession): step.effects.remove(.leaveSession)
        case (.standsInTheLaneAfterItsEnd, .queuedForSlot): step.effects.remove(.leaveLane)
        case (.restReadForEver, .head): step.effects.remove(.limitRest)
        case (.notStopped, .cancelled): step.effects.remove(.stop)
        case (.noticeKept, _): step.effects.remove(.releaseNotice)
        case (.noticeTooEarly, .refused): step.effects.remove(.keepNotice)
        case (.bodyOfTheRejectionLost, .finished):
            if case .keepBody = step.action { step.action = .nothing }
        default: break
        }
    }
}

extension ExchangeMachine {
    /// Whether the outcome is known.
    var hasEnded: Bool { outcome != nil }
}
