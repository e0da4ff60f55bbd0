import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The result of each event in each state.
///
/// A cell lists the state after the event, the action, the deadline and the
/// effects. A list of events may continue in the next line.
enum ExchangeTable {
    static let rows: [ExchangeSample: String] = [:]

    /// What a step is, in the table's words.
    static func describe(_ commands: [ExchangeMachine.Command], _ machine: ExchangeMachine) -> String {
        ([describe(machine)] + commands.map(describe)).joined(separator: ", ")
    }

    private static func describe(_ command: ExchangeMachine.Command) -> String {
        switch command {
        case .askSession(let isAnew): isAnew ? "askSession anew" : "askSession"
        case .tokenAccepted(let version): "accepted \(version)"
        case .tokenRejected(let version): "rejected \(version)"
        case .enterLane(let place): place.map { "enterLane at \($0)" } ?? "enterLane"
        case .leaveLane(let place): "leaveLane at \(place)"
        case .sign(let place): "sign at \(place)"
        case .limitRest(let isKept): isKept ? "limitRest" : "letGo"
        case .giveBack(let cost): "giveBack \(cost)"
        case .setDeadline(let instant, _): "deadline \(instant.nanoseconds / 1_000_000_000)"
        case .removeDeadline: "no deadline"
        case .noteRetryAfter(let status): "noteRetryAfter \(status)"
        default: "\(command)"
        }
    }

    /// What is always done to undo a command that came too late.
    static func remedy(_ event: ExchangeEvent) -> String? {
        switch event {
        case .slotSigned, .slotUnsigned, .slotUseless, .admittedWithSlot, .queuedWithSlot: "giveSlotBack"
        case .pauseNoted: "leavePause"
        case .part, .bigPart, .oldPart: "dropPart"
        case .finished, .oldFinished, .lost, .lostUnsent, .lostAgain, .lostUnpaid, .lostUnsentAgain, .offline,
            .oldLost:
            "abandonBody"
        case .refusedMissing, .refusedOver, .refusedOffline: "releaseNotice"
        case .oldPaid: "giveBack 14"
        default: nil
        }
    }

    static func describe(_ machine: ExchangeMachine) -> String {
        switch machine.state {
        case .waitingForSession(let rejection, let place):
            let body =
                switch rejection?.body {
                case nil: ""
                case .arriving(let received): " after a 401 (\(received))"
                case .complete: " after a 401 (complete)"
                case .givenUp: " after a 401 (given up)"
                }
            return "session\(body)\(place == nil ? "" : " in its place")"
        case .waitingForSlot(let place): return place == nil ? "lane" : "lane in its place"
        case .paying: return "paying"
        case .pausing(let until): return "pausing until \(until.nanoseconds / 1_000_000_000)"
        case .sending(let version): return "sending\(version.map { " \($0)" } ?? "")"
        case .receiving(let head, .whole): return "receiving \(head.statusCode)"
        case .receiving(let head, .bodyNotRepeatable): return "receiving \(head.statusCode) spent"
        case .receiving(let head, .rejected): return "receiving \(head.statusCode) that was rejected"
        case .receiving(let head, .streamed(let isPaused)):
            return "streaming \(head.statusCode)\(isPaused ? " paused" : "")"
        case .ended(let outcome, let holdsSlot):
            return "ended \(describe(outcome))\(holdsSlot ? " holding a slot" : "")"
        }
    }

    private static func describe(_ outcome: ExchangeMachine.Outcome) -> String {
        switch outcome {
        case .response(let head): "\(head.statusCode)"
        case .rejection(let head, let body): "\(head.statusCode) with \(body.count) bytes"
        case .bodyNotRepeatable(let head): "\(head.statusCode) with a spent body"
        case .failure(.cancelled(let delivery)): "cancelled \(delivery)"
        case .failure(.authentication(let error)): "authentication \(error.delivery)"
        case .failure(.session(let error as URLError)): "\(error.code.rawValue) \(AtomError.session(error).delivery)"
        case .failure: "failure"
        }
    }
}
