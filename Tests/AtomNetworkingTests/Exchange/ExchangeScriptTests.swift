import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange from its beginning to its end, by what its machine hears and
/// says.
@Suite("An exchange's machine, story by story", .limited)
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

    @Test("A slot that comes when the time is over is given back, and nothing is sent")
    func late() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted])
        let commands = machine.slotGranted(place: 3, by: .signed(7, isUnproven: true), at: ExchangeFixture.instant(100))
        let said = ExchangeTable.describe(commands.all, machine)
        #expect(said.hasPrefix("ended -1001 notSent") && said.contains("giveSlotBack"), "\(said)")
        #expect(!said.contains("send"))
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
                    "head401: receiving 401 as an error",
                    "oldFinished: receiving 401 as an error, abandonBody",
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
                "refusedMissing: ended 401 cut, no deadline, tell, releaseNotice",
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

    @Test("Silence while a receiver holds up what has arrived is not the server's, which then gets its time")
    func behind() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        _ = machine.headArrived(TransportResponse(statusCode: 200), of: 1, at: ExchangeFixture.instant(1))
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(60), isBehind: true)
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(70))
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(79))
        #expect(machine.outcome == nil)
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(80))
        _ = machine.looked(of: 1, at: ExchangeFixture.instant(80))
        #expect(machine.outcome != nil)
    }

    @Test("What has arrived by the time a deadline is handled counts as arrived", arguments: [50, 100])
    func arrivedInTime(instant: Int) throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        let now = ExchangeFixture.instant(instant)
        #expect(machine.deadlinePassed(at: now).all.last == .look)
        _ = machine.headArrived(TransportResponse(statusCode: 200), of: 1, at: now)
        _ = machine.partArrived(1, of: 1, at: now)
        _ = machine.finished(1)
        guard case .response = machine.outcome else { throw Unexpected("\(machine.state)") }
        #expect(machine.looked(of: 1, at: now).count == 0)
    }

    @Test("Who looks has a moment for it, once, and a server that drips is over when its time is")
    func looksOnce() throws {
        let now = ExchangeFixture.instant(100)
        let moment = Duration.look
        for endsByItself in [true, false] {
            var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
            #expect(machine.deadlinePassed(at: now).all.last == .look)
            _ = machine.headArrived(TransportResponse(statusCode: 200), of: 1, at: now)
            // An older deadline, or another change of it.
            #expect(!machine.deadlinePassed(at: now).all.contains(.look))
            _ = machine.partArrived(1, of: 1, at: now)
            #expect(machine.outcome == nil)
            if endsByItself {
                _ = machine.looked(of: 1, at: now)
            } else {
                _ = machine.deadlinePassed(at: now.advanced(by: moment))
            }
            guard case .failure = machine.outcome else { throw Unexpected("\(machine.state)") }
        }
    }

    @Test("Only a request for a token that may have reached the server outlives its deadline")
    func outlives() throws {
        var machine = try ExchangeFixture.machine(isSigned: false, policy: .token, .slotUnsigned, .ringOver)
        #expect(machine.outcome != nil && machine.overdue == nil)
        machine = try ExchangeFixture.machine(isSigned: false, policy: .token, outlivesDeadline: true, .ringOver)
        #expect(machine.outcome != nil && machine.overdue == nil)
        machine = try ExchangeFixture.machine(
            isSigned: false, policy: .token, outlivesDeadline: true, .slotUnsigned, .ringOver)
        #expect(machine.outcome != nil && machine.overdue == nil, "it may still be connecting")
        for ring in [ExchangeEvent.ringSilent, .ringOver] {
            machine = try ExchangeFixture.machine(
                isSigned: false, policy: .token, outlivesDeadline: true, .slotUnsigned, .sent, ring)
            #expect(machine.outcome == nil && machine.overdue?.delivery == .maybeSent)
            #expect(!ExchangeEvent.ringOver.handled(by: &machine).contains(.tellOverdue))
            ExchangeEvent.head200.handled(by: &machine)
            ExchangeEvent.ringOver.handled(by: &machine)
            ExchangeEvent.finished.handled(by: &machine)
            guard case .response = machine.outcome else { throw Unexpected("\(machine.state)") }
        }
    }

    @Test("A request for a token is waited for an hour after its deadline, and not for ever")
    func outlivesForAnHour() throws {
        for event in [ExchangeEvent.ringOver, .head200] {
            var machine = try ExchangeFixture.machine(
                isSigned: false, policy: .token, outlivesDeadline: true, .slotUnsigned, .sent, .ringOver)
            event.handled(by: &machine)
            let end = try #require(machine.clock.end)
            #expect(end >= ExchangeFixture.instant(100).advanced(by: .seconds(3_600)))
            let early = machine.deadlinePassed(at: end.advanced(by: .nanoseconds(-1)))
            #expect(machine.outcome == nil && !early.all.contains(.look))
            let late = machine.deadlinePassed(at: end)
            guard case .failure = machine.outcome else { throw Unexpected("\(machine.state)") }
            #expect(late.all.contains(.tell) && late.all.contains(.stop))
        }
    }

    @Test("Silence is looked for each time, and what has arrived puts it off")
    func looksAgain() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        _ = machine.headArrived(TransportResponse(statusCode: 200), of: 1, at: ExchangeFixture.instant(1))
        for instant in [20, 40, 60] {
            let now = ExchangeFixture.instant(instant)
            #expect(machine.deadlinePassed(at: now).all.last == .look)
            _ = machine.partArrived(1, of: 1, at: now)
            let commands = machine.looked(of: 1, at: now).all.map { ExchangeTable.describe([$0], machine) }
            #expect(commands == ["receiving 200, deadline \(instant + 10)"])
        }
        // That of an attempt before doesn't count.
        #expect(machine.deadlinePassed(at: ExchangeFixture.instant(80)).all.last == .look)
        #expect(machine.looked(of: 0, at: ExchangeFixture.instant(80)).count == 0)
        #expect(machine.outcome == nil)
        _ = machine.looked(of: 1, at: ExchangeFixture.instant(80))
        #expect(machine.outcome != nil)
    }

    @Test("Silence while a file is being opened is not the server's")
    func opening() throws {
        var machine = try ExchangeFixture.machine(upTo: [.admitted, .slotSigned])
        let head = TransportResponse(statusCode: 200)
        _ = machine.headArrived(head, of: 1, .streamed(isPaused: false), at: ExchangeFixture.instant(1))
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(50))
        #expect(machine.outcome == nil)
        machine.partKept(of: 1, at: ExchangeFixture.instant(60))
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(69))
        #expect(machine.outcome == nil)
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(70))
        _ = machine.looked(of: 1, at: ExchangeFixture.instant(70))
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
                "cancelled: ended cancelled maybeSent holding a slot, no deadline, stop, tell",
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
        _ = machine.deadlinePassed(at: ExchangeFixture.instant(15))
        let late = machine.looked(of: 1, at: ExchangeFixture.instant(15))
        #expect(
            ExchangeTable.describe(late.all, machine) == "ended -1001 maybeSent holding a slot, no deadline, stop, tell"
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

    // MARK: The time

    /// A machine whose attempt is on the wire since the first second.
    private func sending(isStreamed: Bool = false) throws -> ExchangeMachine {
        try ExchangeFixture.machine(isStreamed: isStreamed, .admitted, .slotSigned)
    }

    private func at(_ seconds: Int) -> MonotonicInstant { ExchangeFixture.instant(seconds) }

    /// When the clock rings next, by the commands of an event.
    private func deadline(_ commands: ExchangeMachine.Commands) -> MonotonicInstant? {
        for case .setDeadline(let instant, _) in commands.all { return instant }
        return nil
    }

    @Test("Each part of a body that is read while it is sent starts the time anew, as long as the attempt goes on")
    func sentParts() throws {
        var streamed = try sending(isStreamed: true)
        let counts = [
            streamed.sent(2, by: 1, at: at(50)), streamed.sent(by: 1, at: at(51)), streamed.sent(0, by: 1, at: at(60)),
        ]
        #expect(counts == [true, true, true])
        #expect(streamed.clock.end == at(151))
        #expect(streamed.clock.lastActivity == at(60), "what was sent before counts against silence")
        let isOld = streamed.sent(by: 0, at: at(70))
        #expect(!isOld)
        #expect(streamed.clock.lastActivity == at(60))

        _ = streamed.headArrived(TransportResponse(statusCode: 401), of: 1, at: at(80))
        let isRejected = streamed.sent(by: 1, at: at(90))
        #expect(!isRejected, "a 401 lets go of the attempt")
        #expect(streamed.clock.end == at(151))

        var endless = try ExchangeFixture.machine(isStreamed: true, .admitted, .slotSigned, .streamed200)
        endless.sent(by: 1, at: at(50))
        #expect(endless.clock.end == nil, "a stream's head has ended the time for all")

        var whole = try sending()
        whole.sent(by: 1, at: at(50))
        #expect(whole.clock.end == at(100))
    }

    @Test("Whatever arrives counts against silence")
    func arrivals() throws {
        var machine = try sending()
        _ = machine.headArrived(TransportResponse(statusCode: 200), of: 1, at: at(5))
        #expect(deadline(machine.deadlinePassed(at: at(11))) == at(15))
        _ = machine.partArrived(1, of: 1, at: at(12))
        #expect(deadline(machine.deadlinePassed(at: at(15))) == at(22))

        var refused = try ExchangeFixture.machine(.head401)
        #expect(
            deadline(refused.refused(.missingCredential(delivery: .notSent), at: at(20))) == at(30),
            "the time that the session took is not the server's")

        var paused = try ExchangeFixture.machine(isStreamed: true, .admitted, .slotSigned, .streamed200, .paused)
        #expect(deadline(paused.pauseChanged(false, of: 1, at: at(40))) == at(50))
    }

    @Test("The body of a 401 is kept up to 65,536 bytes")
    func rest() throws {
        var machine = try ExchangeFixture.machine(.head401)
        let kept = [1, 65_534, 1].map { machine.partArrived($0, of: 1, at: at(2)).all }
        #expect(kept == [[.keepPart], [.keepPart], [.keepPart]])
        #expect(machine.partArrived(1, of: 1, at: at(2)).all == [.stop])
    }

    @Test("A redirect takes a body along that can be sent again, and one without a body is always followed")
    func redirectedBodies() throws {
        func head(_ status: Int) -> TransportResponse {
            TransportResponse(
                statusCode: status, headerFields: HeaderFields([HeaderItem(name: "Location", value: "/next")]))
        }
        var replayed = try sending()
        replayed.attempt.message.body = .data(Data("x".utf8))
        #expect(replayed.headArrived(head(307), of: 1, at: at(2)).all.contains(.noteRedirect))
        #expect(replayed.attempt.target.absoluteString == "https://api.example.com/next")

        var without = try sending()
        #expect(without.headArrived(head(302), of: 1, isBodySpent: true, at: at(2)).all.contains(.noteRedirect))
        #expect(without.attempt.redirects == 1)
    }

    // MARK: Retries

    @Test("What a retry has cost stays with the server that was asked", arguments: ["/next", "https://b.example.com/"])
    func costAfterRedirect(location: String) throws {
        var machine = try ExchangeFixture.machine(.busyAtOnce, .admitted, .slotSigned)
        let cost = try #require(machine.retries?.cost)
        #expect(cost > 0)
        let head = TransportResponse(
            statusCode: 302, headerFields: HeaderFields([HeaderItem(name: "Location", value: location)]))
        _ = machine.headArrived(head, of: 2, at: at(2))
        #expect(machine.retries?.cost == (location == "/next" ? cost : 0))
        #expect(machine.retries?.failures == [.status(503)])
    }

    @Test("A retry that waits for a network keeps what was paid for it, and all that went before is told")
    func costOfNetworkWait() throws {
        var machine = try ExchangeFixture.machine(.busyAtOnce)
        let cost = try #require(machine.retries?.cost)
        ExchangeEvent.refusedOffline.handled(by: &machine)
        #expect(machine.retries?.failures == [.status(503), .connection(.notConnectedToInternet)])
        #expect(machine.cancelled().all.contains(.giveBack(cost)))
    }

    @Test("A retry may cost as little as one")
    func costOfOne() throws {
        let policy = RetryPolicy(baseDelay: .seconds(5), throttledBaseDelay: .seconds(5), cost: 1)
        let question = RetryQuestion(
            after: RetryPolicy.Setback(.connection(.networkConnectionLost), delivery: .maybeSent), by: policy,
            isDeclaredIdempotent: true, chance: 1, isOffline: false)
        var machine = try sending()
        let failure = TransportFailure(URLError(.networkConnectionLost), delivery: .maybeSent)
        #expect(machine.failed(failure, 1, question, at: at(2)).all.contains(.payForRetry))
        let retry = try #require(machine.unpaidRetry)
        #expect(retry.cost == 1)
        _ = machine.paid(true, for: retry)
        #expect(machine.isPausing)
        #expect(machine.cancelled().all.contains(.giveBack(1)))
    }

    @Test("The waits for a network end together, and an earlier pause of another kind doesn't count")
    func networkDeadline() throws {
        func lose(_ machine: inout ExchangeMachine, _ number: Int, at second: Int) {
            let failure = TransportFailure(URLError(.notConnectedToInternet), delivery: .notSent)
            _ = machine.failed(
                failure, number,
                ExchangeFixture.question(.connection(.notConnectedToInternet), .notSent, true, true), at: at(second))
        }
        var machine = try ExchangeFixture.machine(.offline)
        for event in [ExchangeEvent.networkReturned, .admitted, .slotSigned] { event.handled(by: &machine) }
        lose(&machine, 2, at: 4)
        guard case .pausing(let until) = machine.state else { throw Unexpected("it doesn't wait again") }
        #expect(until == at(6))

        var busy = try ExchangeFixture.machine(.busy)
        for event in [ExchangeEvent.ringPause, .admitted, .slotSigned] { event.handled(by: &busy) }
        lose(&busy, 2, at: 20)
        guard case .pausing(let end) = busy.state else { throw Unexpected("it doesn't wait") }
        #expect(end == at(25))
    }

    @Test("Who waits for a network until the deadline is told what was missing")
    func deadlineWithoutNetwork() throws {
        var machine = try sending()
        let failure = TransportFailure(URLError(.dataNotAllowed), delivery: .notSent)
        let question = ExchangeFixture.question(.connection(.dataNotAllowed), .notSent, true, true)
        _ = machine.failed(failure, 1, question, at: at(97))
        #expect(machine.waitsForNetwork)
        _ = machine.deadlinePassed(at: at(100))
        guard case .failure(.session(let error as URLError))? = machine.outcome else {
            throw Unexpected("it ended with \(String(describing: machine.outcome))")
        }
        #expect(error.code == .dataNotAllowed)
    }

    @Test("The next attempt has the next number")
    func numbers() throws {
        #expect(try asking().nextAttempt(isSigned: true).number == 1)
        #expect(try sending().nextAttempt(isSigned: true).number == 2)
    }

    @Test("Whoever would wait until its deadline, or beyond the wait for a network, is told at once")
    func noTimeLeft() throws {
        let machine = try sending()
        let pausing = ExchangeFixture.question(.connection(.networkConnectionLost), .maybeSent, true, false)
        func retry(_ question: RetryQuestion, after made: Retries? = nil, until end: Int, at now: Int) -> Retry? {
            question.retry(
                of: machine.attempt, after: made, until: at(end), or: .failure(.unexpected), at: at(now))
        }
        #expect(retry(pausing, until: 7, at: 1)?.until == at(6))
        #expect(retry(pausing, until: 6, at: 1) == nil)

        let offline = ExchangeFixture.question(.connection(.notConnectedToInternet), .notSent, true, true)
        let made = Retries(
            failures: [], last: ExchangeFixture.oldRetry, cost: 0, lastNumber: 1, networkDeadline: at(6))
        func wait(at now: Int) -> Retry? { offline.networkWait(after: made, or: .failure(.unexpected), at: at(now)) }
        #expect(wait(at: 5)?.until == at(6))
        #expect(wait(at: 6) == nil)
    }

    @Test("A failure for want of a network costs nothing")
    func costOffline() throws {
        let question = RetryQuestion(
            after: RetryPolicy.Setback(.connection(.notConnectedToInternet), delivery: .notSent), by: RetryPolicy(),
            isDeclaredIdempotent: true, chance: 0, isOffline: true)
        let retry = question.retry(
            of: try sending().attempt, after: nil, until: at(100), or: .failure(.unexpected), at: at(1))
        #expect(retry?.cost == 0)
    }

    @Test("An exchange says whose head it awaits, what it waits for and which cost is unused")
    func questions() throws {
        let sending = try sending()
        #expect(sending.awaitsHead(of: 1))
        #expect(!sending.awaitsHead(of: 0))
        #expect(!sending.isWaitingForSession)
        #expect(!sending.waitsForNetwork)
        #expect(sending.unusedCost == 0)
        let asking = try asking()
        #expect(asking.isWaitingForSession)
        #expect(!asking.awaitsHead(of: 0))
        let again = try ExchangeFixture.machine(.busyAtOnce, .admitted, .slotSigned)
        #expect(again.unusedCost == 0, "it was made")
        #expect(ExchangeMachine.Commands(.send).last == .send)
        #expect(ExchangeMachine.Commands().last == .nothing)
    }

    @Test("What was spent is remembered of 1,000 servers, and where nothing is spent there is nothing to remember")
    func quotas() {
        func origin(_ port: Int) -> Origin { Origin(scheme: .http, host: "a", port: port) }
        let quotas = RetryQuotas()
        _ = quotas.pay(0, of: 1, at: origin(2_000))
        _ = quotas.pay(1, of: 1, at: origin(2_001))
        quotas.giveBack(1, at: origin(2_001))
        for port in 1...1_000 { _ = quotas.pay(1, of: 2, at: origin(port)) }
        _ = quotas.pay(1, of: 2, at: origin(2))
        #expect(quotas.spent(at: origin(1)) == 1)
        _ = quotas.pay(1, of: 2, at: origin(1_001))
        #expect(quotas.spent(at: origin(1)) == 0)
    }
}
