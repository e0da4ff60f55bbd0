import Foundation
import Testing

@testable import AtomNetworking

/// One exchange from its beginning to its end, by what its machine hears and
/// says.
@Suite("An exchange's machine, story by story")
struct ExchangeScriptTests {
    /// Plays the events and says what each comes to.
    private func play(_ machine: ExchangeMachine, _ events: ExchangeEvent...) -> [String] {
        var machine = machine
        return events.map { event in
            let commands = event.handled(by: &machine)
            return "\(event): \(ExchangeTable.describe(commands, machine))"
        }
    }

    private func asking() throws -> ExchangeMachine { try ExchangeFixture.machine(upTo: []) }

    @Test("A signed request is admitted, gets a slot, is sent and answered")
    func answered() throws {
        #expect(
            play(try asking(), .admitted, .slotSigned, .head200, .part, .finished) == [
                "admitted: lane, enterLane",
                "slotSigned: sending 7, deadline 11, send",
                "head200: receiving 200, accepted 7",
                "part: receiving 200, keepPart",
                "finished: ended 200, no deadline, deliver, giveSlotBack",
            ])
    }

    @Test("A 401 is retried at its head, once, and what still comes of it is discarded")
    func retried() throws {
        #expect(
            play(
                try asking(), .admitted, .slotSigned, .head401, .queuedBySession, .part, .admitted, .slotSigned,
                .oldPart, .head401, .oldFinished, .finished) == [
                    "admitted: lane, enterLane",
                    "slotSigned: sending 7, deadline 11, send",
                    "head401: session after a 401 (0), noteRetryAfter 401, limitRest, rejected 7, askSession, giveSlotBack",
                    "queuedBySession: session after a 401 (0), deadline 100",
                    "part: session after a 401 (1), keepPart",
                    "admitted: lane, letGo, enterLane",
                    "slotSigned: sending 7, deadline 11, send",
                    "oldPart: sending 7, dropPart",
                    "head401: receiving 401",
                    "oldFinished: receiving 401, abandonBody",
                    "finished: ended 401, no deadline, deliver, giveSlotBack",
                ])
    }

    @Test("A 401 that nothing can be done about is the caller's, with its body")
    func refused() throws {
        let rejected = try ExchangeFixture.machine(.head401)
        #expect(
            play(rejected, .part, .refusedMissing, .part, .finished) == [
                "part: session after a 401 (1), keepPart",
                "refusedMissing: receiving 401 that was rejected, deadline 11",
                "part: receiving 401 that was rejected, keepPart",
                "finished: ended 401, no deadline, deliver, releaseNotice",
            ])
        #expect(
            play(rejected, .part, .finished, .bodyKept, .refusedMissing) == [
                "part: session after a 401 (1), keepPart",
                "finished: session after a 401 (1), keepBody",
                "bodyKept: session after a 401 (complete)",
                "refusedMissing: ended 401 with 2 bytes, no deadline, tell, releaseNotice",
            ])
        // Refused between the last event and what the sink has said.
        #expect(
            play(rejected, .finished, .refusedMissing, .bodyKept) == [
                "finished: session after a 401 (0), keepBody",
                "refusedMissing: receiving 401 that was rejected, deadline 11",
                "bodyKept: ended 401 with 2 bytes, no deadline, tell, releaseNotice",
            ])
    }

    @Test("A 401 whose body is too long is given up, and is the caller's without it")
    func tooLong() throws {
        #expect(
            play(try ExchangeFixture.machine(.head401), .bigPart, .part, .lost, .refusedMissing) == [
                "bigPart: session after a 401 (given up), stop",
                "part: session after a 401 (given up), dropPart",
                "lost: session after a 401 (given up), abandonBody",
                "refusedMissing: ended 401 with 0 bytes, no deadline, tell, releaseNotice",
            ])
    }

    @Test("A redirect is followed at its head, and the slot is free before its body has come")
    func redirected() throws {
        #expect(
            play(try asking(), .admitted, .slotSigned, .head302, .part, .finished, .admitted, .slotSigned) == [
                "admitted: lane, enterLane",
                "slotSigned: sending 7, deadline 11, send",
                "head302: session, accepted 7, noteRedirect, letGo, askSession, giveSlotBack",
                "part: session, dropPart",
                "finished: session, abandonBody",
                "admitted: lane, enterLane",
                "slotSigned: sending 7, deadline 11, send",
            ])
    }

    @Test("A token that dies in the lane is asked for again with the slot in hand")
    func asksAgain() throws {
        #expect(
            play(try asking(), .admitted, .queuedForSlot, .slotUnsigned, .admittedWithSlot, .slotSigned) == [
                "admitted: lane, enterLane",
                "queuedForSlot: lane in its place, deadline 100",
                "slotUnsigned: session in its place, askSessionWithSlot at 3",
                "admittedWithSlot: lane in its place, sign at 3",
                "slotSigned: sending 7, deadline 11, send",
            ])
        #expect(
            play(try asking(), .admitted, .slotUnsigned, .queuedBySession, .admitted, .slotSigned) == [
                "admitted: lane, enterLane",
                "slotUnsigned: session in its place, askSessionWithSlot at 3",
                "queuedBySession: session in its place, deadline 100",
                "admitted: lane in its place, enterLane at 3",
                "slotSigned: sending 7, deadline 11, send",
            ])
    }

    @Test("What is heard too late of a place in one lane doesn't hide the place in another")
    func placeInAnotherLane() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted])
        for place in [9, 3] { _ = machine.queuedForSlot(place: place) }
        let commands = machine.cancelled()
        #expect(commands.all.contains(.leaveLane(place: 9)))
    }

    @Test("Silence while a receiver holds up what has arrived is not the server's")
    func behind() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        let head = TransportResponse(statusCode: 200)
        _ = machine.headArrived(head, of: 1, isStreamed: true, at: ExchangeFixture.instant(1))
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(60), isBehind: true)
        #expect(machine.outcome == nil)
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(69))
        #expect(machine.outcome == nil)
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(70))
        #expect(machine.outcome != nil)
    }

    @Test("A cancelled exchange takes back what is performed too late, and gives its slot back at the last event")
    func cancelled() throws {
        #expect(
            play(try asking(), .cancelled, .queuedBySession, .admitted, .slotSigned) == [
                "cancelled: ended cancelled notSent, leaveSession, tell",
                "queuedBySession: ended cancelled notSent, leaveSession",
                "admitted: ended cancelled notSent",
                "slotSigned: ended cancelled notSent, giveSlotBack",
            ])
        #expect(
            play(try asking(), .admitted, .cancelled, .queuedForSlot) == [
                "admitted: lane, enterLane",
                "cancelled: ended cancelled notSent, tell",
                "queuedForSlot: ended cancelled notSent, leaveLane at 3",
            ])
        #expect(
            play(try asking(), .admitted, .slotSigned, .cancelled, .head200, .part, .lost, .lost) == [
                "admitted: lane, enterLane",
                "slotSigned: sending 7, deadline 11, send",
                "cancelled: ended cancelled maybeSent holding a slot, no deadline, tell, stop",
                "head200: ended cancelled maybeSent holding a slot",
                "part: ended cancelled maybeSent holding a slot, dropPart",
                "lost: ended cancelled maybeSent, abandonBody, giveSlotBack",
                "lost: ended cancelled maybeSent, abandonBody",
            ])
    }

    @Test("The silence counts from the last byte, and the clock that rings for an older one is set again")
    func silence() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        machine.sent(by: 1, at: ExchangeFixture.instant(5))
        let early = machine.deadlinePassed(at: ExchangeFixture.instant(11))
        #expect(ExchangeTable.describe(early.all, machine) == "sending 7, deadline 15")
        let late = machine.deadlinePassed(at: ExchangeFixture.instant(15))
        #expect(
            ExchangeTable.describe(late.all, machine) == "ended -1001 maybeSent holding a slot, no deadline, tell, stop"
        )
    }

    @Test("Every change of the deadline has a higher number than those before it")
    func deadlineNumbers() throws {
        var machine = try asking()
        var numbers: [Int] = []
        for event in [
            ExchangeEvent.queuedBySession, .admitted, .queuedForSlot, .slotSigned, .ringEarly, .head401,
            .queuedBySession, .ringEarly, .cancelled,
        ] {
            for command in event.handled(by: &machine) {
                switch command {
                case .setDeadline(_, let number), .removeDeadline(let number): numbers.append(number)
                default: break
                }
            }
        }
        #expect(numbers == Array(1...7))
    }
}
