import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An exchange's machine as it is, or with a bug.
struct ModelledExchange {
    enum Event: Hashable {
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
        case pauseChanged(Bool, Int)
    }

    /// When the exchange's time is up, and when the wire has been silent for
    /// too long.
    static let end = 100
    static let silence = 10

    var machine: ExchangeMachine
    let bug: PlantedExchangeBug?
    let isStreamed: Bool

    init(
        _ settings: ExchangeModelSettings, isSigned: Bool, isStreamed: Bool, bug: PlantedExchangeBug?
    ) throws {
        var endpoint = PathEndpoint(pathText: "/start")
        endpoint.requiresAuthorization = isSigned
        let request = try PreparedRequest(endpoint, timeout: ServiceTimeout(request: 10, resource: 100))
        let policy = ExchangePolicy(
            takesSlot: settings.takesSlots, usesCookies: true, needsFreshConnection: false,
            redirects: .follow(limit: settings.redirectLimit), maximumBodySize: 1 << 20)
        machine = ExchangeMachine(
            Attempt(request),
            ExchangeMachine.Terms(
                policy: policy, needsSignature: isSigned, hasSession: true, timeouts: request.timeouts,
                deadline: Self.instant(Self.end)))
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

    mutating func take(_ event: Event) -> ExchangeMachine.Step {
        let now = Self.instant(0)
        let before = machine
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
        case .ring(let instant): step = machine.deadlinePassed(at: Self.instant(instant))
        case .head(let head, let number):
            if bug == .retriedTwice { machine.hasRetried = false }
            step = machine.headArrived(
                Self.head(head, number), of: number, isStreamed: isStreamed && head == .ok, at: now)
        case .part(let part, let number):
            step = machine.partArrived(
                part == .big ? ExchangeMachine.maximumRest + 1 : 1, of: number, at: now)
        case .finished(let number):
            step = machine.finished(bug == .lateEventCounts ? machine.number : number)
        case .sinkFailed(let number):
            guard bug != .sinkFailureIgnored else { return ExchangeMachine.Step() }
            step = machine.sinkFailed(.session(URLError(.dataLengthExceedsMaximum)), of: number)
        case .restExpired(let number): step = machine.restExpired(number)
        case .pauseChanged(let isPaused, let number):
            step = machine.pauseChanged(
                isPaused && bug != .slowReaderCountsAsSilence, of: number, at: now)
            if !isPaused, bug == .silenceUnwatchedAfterAPause { step.deadline = .none }
        case .bodyKept(let number): step = machine.bodyKept(Data([UInt8(number)]), of: number)
        case .failed(let number):
            step = machine.failed(
                TransportFailure(URLError(.networkConnectionLost)),
                bug == .lateEventCounts ? machine.number : number)
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
