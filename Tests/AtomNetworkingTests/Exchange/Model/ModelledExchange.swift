import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An exchange's machine as it is, or with a bug.
struct ModelledExchange {
    typealias Command = ExchangeMachine.Command

    enum Event: Hashable, Sendable {
        case admitted(slot: Int?)
        case queuedBySession
        case refused(isMissing: Bool)
        case queuedForSlot(place: Int)
        case slotGranted(place: Int, isSigned: Bool, version: Int?, isUnproven: Bool)
        case cancelled
        case ring(at: Int, isBehind: Bool)
        case head(ExchangeModelSettings.Head, Int)
        case part(ExchangeModelSettings.Part, Int)
        case partKept(Int)
        case finished(Int)
        case bodyKept(Int)
        case failed(Int, isOffline: Bool = false)
        case restExpired(Int)
        case sinkFailed(Int)
        case refusedByDestination(Int)
        case pauseChanged(Bool, Int)
        case pauseNoted
        case paid(Bool, Int?)
        case networkReturned(Int)
        case looked(Int, at: Int)
    }

    /// When the exchange's time is up, and when the wire has been silent for
    /// too long.
    static let end = 100
    static let silence = 10
    /// When a pause between attempts ends: after a response, after a silence, and for want of a network.
    static let pauseEnd = 5
    static let pauseEnds: Set<Int> = [pauseEnd, silence + pauseEnd, 50]

    /// Two attempts, with five seconds between them.
    private static let policy = RetryPolicy(
        maximumAttempts: 2, baseDelay: .seconds(10), throttledBaseDelay: .seconds(10), cost: 1, throttledCost: 1,
        connectivityWait: .seconds(50))

    var machine: ExchangeMachine
    private let home: Origin
    /// The retry that is being paid for.
    private var paying: Retry?
    let bug: PlantedExchangeBug?
    let isStreamed: Bool
    private let retries: Bool

    init(
        _ settings: ExchangeModelSettings, isSigned: Bool, isStreamed: Bool, isIdempotent: Bool,
        bug: PlantedExchangeBug?
    ) throws {
        var endpoint = PathEndpoint(pathText: "/start")
        endpoint.requiresAuthorization = isSigned
        let request = try PreparedRequest(endpoint, timeout: ServiceTimeout(request: 10, resource: 100))
        retries = settings.quota > 0 || settings.offlineLeft > 0
        let policy = ExchangePolicy(
            takesSlot: settings.takesSlots, usesCookies: true, needsFreshConnection: false, retries: retries,
            redirectLimit: settings.redirectLimit, maximumBodySize: 1 << 20)
        machine = ExchangeMachine(
            Attempt(request),
            ExchangeMachine.Terms(
                policy: policy, isSigned: isSigned, hasSession: true, timeouts: request.timeouts,
                deadline: Self.instant(Self.end)))
        home = machine.attempt.target.origin
        if !isIdempotent { machine.attempt.message.method = "POST" }
        self.bug = bug
        self.isStreamed = isStreamed
    }

    static func instant(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    private static func head(_ head: ExchangeModelSettings.Head, _ number: Int) -> TransportResponse {
        var fields = HeaderFields([
            .init(name: "X-Attempt", value: "\(number)"), .init(name: "Set-Cookie", value: "a=b"),
        ])
        if head == .redirect { fields.append(name: "Location", value: "/next") }
        if head == .redirectElsewhere {
            // There and back again.
            let host = number.isMultiple(of: 2) ? "api" : "elsewhere"
            fields.append(name: "Location", value: "https://\(host).example.com/next")
        }
        return TransportResponse(statusCode: head.rawValue, headerFields: fields)
    }

    private func question(after setback: RetryPolicy.Setback, isOffline: Bool = false) -> RetryQuestion {
        RetryQuestion(
            after: setback, by: Self.policy, isDeclaredIdempotent: bug == .unsafeRequestRepeated, chance: 0.5,
            isOffline: isOffline)
    }

    private static let lost = TransportFailure(URLError(.networkConnectionLost))

    /// What the event comes to, and whether the exchange lets go of its attempt.
    mutating func take(_ event: Event) -> (commands: [Command], letsGo: Bool) {
        let before = machine
        let all = commands(for: event)
        var commands = (0..<all.count).map { all[$0] }
        if case .send = all.last, bug == .sentAfterItsEnd, before.hasEnded { commands = [.send] }
        plant(event, before, &commands)
        return (commands, commands.contains { [.stop, .limitRest(isKept: false)].contains($0) })
    }

    private mutating func commands(for event: Event) -> ExchangeMachine.Commands {
        let now = Self.instant(0)
        switch event {
        case .admitted(let slot): return machine.admitted(withSlotAt: slot)
        case .queuedBySession: return machine.queuedBySession()
        case .refused(let isMissing):
            return machine.refused(
                isMissing ? .missingCredential(delivery: .notSent) : .signedOut(delivery: .notSent), at: now)
        case .queuedForSlot(let place): return machine.queuedForSlot(place: place)
        case .slotGranted(let place, let isSigned, let version, let isUnproven):
            if bug == .sentAfterItsEnd, machine.hasEnded { return ExchangeMachine.Commands(.send) }
            let isSigned = isSigned || bug == .signedByWhoeverHasTheSlot
            return machine.slotGranted(
                place: place,
                by: Pass(
                    authorization: isSigned ? "Bearer a" : nil, tokenNumber: version, isUnproven: isUnproven,
                    tenure: .nobody), at: now)
        case .cancelled: return machine.cancelled()
        case .ring(let instant, let isBehind):
            let isEarly = bug == .pauseCutShort && instant == 1
            return machine.deadlinePassed(
                at: Self.instant(isEarly ? Self.pauseEnd : instant),
                isBehind: isBehind,
                question(after: RetryPolicy.Setback(.connection(.timedOut), delivery: .maybeSent)))
        case .head(let head, let number):
            if bug == .retriedTwice { machine.hasRetried = false }
            if bug == .retriedAfterTheDeadline { machine.clock.end = nil }
            if bug == .retriedForEver { machine.retries = nil }
            defer { if bug == .tokenGoesAlong { machine.attempt.hasLeftOrigin = false } }
            let setback = RetryPolicy.Setback(
                .status(head.rawValue), delivery: .answered, serverDelay: head == .busyForLong ? .seconds(1_000) : nil)
            let reception: ExchangeMachine.Reception =
                switch head {
                case .ok: isStreamed ? .streamed(isPaused: false) : .whole
                default: bug == .statusLost ? .whole : .unacceptable
                }
            return machine.headArrived(
                Self.head(head, number), of: number, reception,
                head.isBusy && retries ? question(after: setback) : nil, at: now)
        case .part(let part, let number):
            return machine.partArrived(part == .big ? ExchangeMachine.maximumRest + 1 : 1, of: number, at: now)
        case .partKept(let number):
            machine.partKept(of: number, at: now)
            return ExchangeMachine.Commands()
        case .finished(let number): return machine.finished(bug == .lateEventCounts ? machine.number : number)
        case .sinkFailed(let number):
            guard bug != .sinkFailureIgnored else { return ExchangeMachine.Commands() }
            return machine.sinkFailed(.session(URLError(.dataLengthExceedsMaximum)), of: number, at: now)
        case .refusedByDestination(let number):
            return machine.sinkFailed(
                .session(URLError(.cannotDecodeRawData)), of: number, asksAgain: true, at: now)
        case .restExpired(let number): return machine.restExpired(number)
        case .pauseChanged(let isPaused, let number):
            return machine.pauseChanged(isPaused && bug != .slowReaderCountsAsSilence, of: number, at: now)
        case .pauseNoted: return machine.pauseNoted()
        case .bodyKept(let number): return machine.bodyKept(Data([UInt8(number)]), of: number)
        case .failed(let number, let isOffline):
            if bug == .retriedForEver { machine.retries = nil }
            if bug == .streamRepeated, case .receiving(let head, .streamed) = machine.state {
                machine.state = .receiving(head, .whole)
            }
            let code = isOffline ? URLError.Code.notConnectedToInternet : .networkConnectionLost
            return machine.failed(
                Self.lost, bug == .lateEventCounts ? machine.number : number,
                retries
                    ? question(
                        after: RetryPolicy.Setback(.connection(code), delivery: isOffline ? .notSent : .maybeSent),
                        isOffline: isOffline) : nil, at: now)
        case .paid(let isPaid, _):
            guard let paying else { return ExchangeMachine.Commands() }
            return machine.paid(isPaid || bug == .retriedUnpaid, for: paying)
        case .networkReturned(let number): return machine.networkReturned(after: number)
        case .looked(let number, let instant):
            return machine.looked(
                of: number, at: Self.instant(instant),
                question(after: RetryPolicy.Setback(.connection(.timedOut), delivery: .maybeSent)))
        }
    }

    var isAtHome: Bool { machine.attempt.target.origin == home }

    func isPaying(_ retry: Retry) -> Bool { paying === retry }

    /// Notes what is being paid for.
    mutating func pays() -> Bool {
        paying = machine.unpaidRetry
        return paying != nil
    }

    private mutating func plant(_ event: Event, _ before: ExchangeMachine, _ commands: inout [Command]) {
        if let bug, let tampering = bug.tampering {
            guard bug.concerns(event, isEnded: before.hasEnded),
                let place = commands.firstIndex(where: { $0.kind == tampering.kind })
            else { return }
            switch tampering.manner {
            case .leftOut: commands.remove(at: place)
            case .doubled: commands.insert(commands[place], at: place)
            case .late: commands.append(commands.remove(at: place))
            }
            return
        }
        switch (bug, event) {
        case (.toldTwice, .cancelled) where before.hasEnded: commands = [.tell]
        case (.deadlineChangesUnnumbered, _):
            // Every change counts as later than all that were made before it is performed.
            commands = commands.map {
                switch $0 {
                case .setDeadline(let instant, _): .setDeadline(instant, number: .max)
                case .removeDeadline: .removeDeadline(number: .max)
                default: $0
                }
            }
        case (.signOutIgnoredInAPause, .refused):
            if case .pausing = before.state {
                machine = before
                commands = [.releaseNotice]
            }
        default: break
        }
    }
}

extension ExchangeMachine {
    /// Whether the outcome is known.
    var hasEnded: Bool { outcome != nil }
}

extension ExchangeMachine.Command {
    /// What is to be done, without its arguments.
    enum Kind: String, CaseIterable {
        case askSession, askSessionWithSlot, leaveSession, tokenAccepted, tokenRejected, releaseNotice
        case enterLane, leaveLane, giveSlotBack
        case sign, send, look, stop, limitRest
        case keepCookies, openDestination, keepPart, dropPart, keepBody, abandonBody, deliver, deliverPart, tell
        case payForRetry, giveBack, pause, leavePause
        case setDeadline, removeDeadline
        case noteRetry, noteRetryAfter, noteRedirect
    }

    var kind: Kind? {
        switch self {
        // Only a request for a token is overdue, and here is none.
        case .nothing, .tellOverdue: nil
        case .askSession: .askSession
        case .askSessionWithSlot: .askSessionWithSlot
        case .leaveSession: .leaveSession
        case .tokenAccepted: .tokenAccepted
        case .tokenRejected: .tokenRejected
        case .releaseNotice: .releaseNotice
        case .enterLane: .enterLane
        case .leaveLane: .leaveLane
        case .giveSlotBack: .giveSlotBack
        case .sign: .sign
        case .send: .send
        case .look: .look
        case .stop: .stop
        case .limitRest: .limitRest
        case .keepCookies: .keepCookies
        case .openDestination: .openDestination
        case .keepPart: .keepPart
        case .dropPart: .dropPart
        case .keepBody: .keepBody
        case .abandonBody: .abandonBody
        case .deliver: .deliver
        case .deliverPart: .deliverPart
        case .tell: .tell
        case .payForRetry: .payForRetry
        case .giveBack: .giveBack
        case .pause: .pause
        case .leavePause: .leavePause
        case .setDeadline: .setDeadline
        case .removeDeadline: .removeDeadline
        case .noteRetry: .noteRetry
        case .noteRetryAfter: .noteRetryAfter
        case .noteRedirect: .noteRedirect
        }
    }
}
