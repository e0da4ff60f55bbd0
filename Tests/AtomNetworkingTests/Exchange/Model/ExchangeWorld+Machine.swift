@testable import AtomNetworking

// What the exchange does with its machine's steps, as operations.
extension ExchangeWorld {
    mutating func handle(_ event: Event, of index: Int) throws(Violation) -> [Operation] {
        noteLastEvent(event, of: index)
        let before = exchanges[index].sut.machine
        let wasPaused = isPaused(index)
        let (commands, letsGo) = exchanges[index].sut.take(event)
        guard commands.count <= ExchangeMachine.Commands.capacity + 1 else { throw Violation("too many commands") }
        let goesOn = commands.firstIndex { [.askSession, .enterLane, .pause].contains($0.kind) }
        let note = commands.lastIndex { [.noteRetry, .noteRetryAfter, .noteRedirect].contains($0.kind) }
        if let goesOn, let note, goesOn < note {
            throw Violation("the observers are told of another attempt after it has begun")
        }
        let machine = exchanges[index].sut.machine
        if case .receiving(let head, _) = before.state, head.statusCode != 200,
            case .failure(let error)? = machine.outcome, !error.isCancelled
        {
            throw Violation("the caller of exchange \(index) isn't told the status that it has (G12)")
        }
        let letGo = letsGo ? letGo(of: index) : nil
        if before.lookEnd == nil, machine.lookEnd != nil { exchanges[index].looksOwed += 1 }
        if case .ring(let instant, let isBehind) = event {
            let hasLooked = before.lookEnd.map { ModelledExchange.instant(instant) >= $0 } ?? false
            if !hasLooked, isOnWire(before), !isOnWire(machine) {
                throw Violation("exchange \(index) ends before its transport has looked for what has arrived (G14)")
            }
            if isBehind, instant == ModelledExchange.silence, machine.hasEnded || machine.unpaidRetry != nil,
                isOnWire(before)
            {
                throw Violation("exchange \(index) runs out of time while a receiver is slow (G14)")
            }
            if case .pausing = before.state, instant < ModelledExchange.pauseEnd, !isPausing(index) {
                throw Violation("exchange \(index) goes on before its pause is over")
            }
        }
        if event.isOfTime {
            if wasPaused, machine.hasEnded, !before.hasEnded {
                throw Violation("exchange \(index) runs out of time while its reader is slow (G14)")
            }
            if !machine.hasEnded, let letGo { exchanges[index].wires[letGo - 1].isPassed = true }
        }
        if case .pauseChanged(let isPaused, let number) = event {
            exchanges[index].wires[number - 1].isPaused = isPaused
        }
        if case .part(.big, let number) = event, !isWanted(index, number) {
            exchanges[index].wires[number - 1].isTooLong = true
        }
        if case .refusedByDestination = event, !before.hasEnded, !machine.hasEnded, letGo != nil {
            exchanges[index].restarts += 1
        }
        if case .head(let head, let number) = event {
            if case .sending = before.state, number == before.number {
                exchanges[index].wires[number - 1].isJudged = true
            }
            if exchanges[index].sut.isStreamed, head == .ok, !before.hasEnded {
                exchanges[index].wires[number - 1].isStreaming = true
            }
            if !machine.hasEnded, !isReceiving(index), machine.unpaidRetry == nil, number == current(index), head != .ok
            {
                exchanges[index].wires[number - 1].isPassed = true
            }
        }
        if case .paid = event, !machine.hasEnded, !isReceiving(index), let letGo {
            exchanges[index].wires[letGo - 1].isPassed = true
        }
        let number = letGo ?? event.attempt
        var operations: [Operation] = []
        for command in commands { operations += try self.operations(for: command, event, index, number, before) }
        return operations
    }

    /// What the exchange does with a command.
    private mutating func operations(
        for command: ModelledExchange.Command, _ event: Event, _ index: Int, _ number: Int?,
        _ before: ExchangeMachine
    ) throws(Violation) -> [Operation] {
        switch command {
        case .nothing, .tellOverdue: return []
        case .keepCookies: return number.map { [.keepCookies(index, $0)] } ?? []
        case .noteRetryAfter, .noteRedirect: return [.note(index)]
        case .openDestination:
            guard let number else { return [] }
            exchanges[index].wires[number - 1].openings += 1
            guard exchanges[index].wires[number - 1].openings == 1 else {
                throw Violation("the destination of attempt \(index).\(number) is opened twice")
            }
            return [.event(index, .partKept(number))]
        case .askSession: return [.askSession(index)]
        case .askSessionWithSlot(let place): return [.askWithSlot(index, place: place, origin: origin(of: index))]
        case .leaveSession: return [.leaveSession(index)]
        case .tokenAccepted(let version): return number.map { [.accepted(version: version, index, $0)] } ?? []
        case .tokenRejected(let version):
            exchanges[index].retries += 1
            return [.rejected(version: version)]
        case .releaseNotice: return [.releaseNotice]
        case .enterLane(let place): return [.enterLane(index, place: place)]
        case .leaveLane(let place): return [.leaveLane(index, place: place)]
        case .giveSlotBack: return [.releaseSlot(index, slotOf: nil, number)]
        case .sign(let place): return [.sign(index, place: place)]
        case .send:
            guard !before.hasEnded else { throw Violation("exchange \(index) is sent after its end (G5)") }
            try checkSending(index)
            if case .sending(let version?, _) = exchanges[index].sut.machine.state,
                version == exchanges[index].rejectedVersion
            {
                throw Violation("exchange \(index) is sent with a token that the server has rejected (G2)")
            }
            var wire = Wire(origin: origin(of: index))
            if case .sending(let version, let isUnproven) = exchanges[index].sut.machine.state {
                (wire.version, wire.isUnproven) = (version, isUnproven)
            }
            exchanges[index].wires.append(wire)
            let number = exchanges[index].wires.count
            exchanges[index].wire = number
            return [.hand(index, number), .started(index, number)]
        case .look:
            guard case .ring(let instant, _) = event else { throw Violation("nothing has rung") }
            return [.look(index, at: instant)]
        case .stop: return number.map { [.stop(index, $0)] } ?? []
        case .limitRest(let isKept): return number.map { [.limitRest(index, $0, order: isKept ? 1 : 2)] } ?? []
        case .keepPart:
            guard case .part(let part, let number) = event else { return [] }
            exchanges[index].wires[number - 1].partsKept += 1
            switch part {
            case .ofAnotherFile: return [.abandon(index, number), .event(index, .refusedByDestination(number))]
            case .refused:
                let fails = Operation.event(index, .sinkFailed(number))
                // What memory has may be told.
                return exchanges[index].wires[number - 1].isStreaming ? [.abandon(index, number), fails] : [fails]
            case .small, .big:
                return exchanges[index].wires[number - 1].isStreaming ? [.event(index, .partKept(number))] : []
            }
        case .dropPart:
            guard case .part(.big, let number) = event else { return [] }
            return [.stop(index, number)]
        case .keepBody: return number.map { [.keepBody(index, $0)] } ?? []
        case .abandonBody: return number.map { [.abandon(index, $0)] } ?? []
        case .deliver: return number.map { [.deliver(index, $0)] } ?? []
        case .deliverPart: return number.map { [.deliverPart(index, $0)] } ?? []
        case .tell: return [.tell(index)]
        case .payForRetry: return [.pay(index, number)]
        case .giveBack(let cost):
            if case .paid = event {} else { exchanges[index].paid[origin(of: index)] -= cost }
            return [.refund(index, cost)]
        case .pause: return [.notePause(index), .watchNetwork(index), .lookAgain(index)]
        case .leavePause: return [.leavePause(index)]
        case .setDeadline(let instant, let number):
            // The end of a look is no whole second: it rings after what it looks for.
            return [.setDeadline(index, number: number, at: Int((instant.nanoseconds + 999_999_999) / 1_000_000_000))]
        case .removeDeadline(let number): return [.removeDeadline(index, number: number)]
        case .noteRetry:
            exchanges[index].paid[origin(of: index)] += exchanges[index].sut.machine.retries?.last.cost ?? 0
            try checkRepetition(of: index, from: before)
            return [.note(index)]
        }
    }

    private func isPausing(_ index: Int) -> Bool {
        if case .pausing = exchanges[index].sut.machine.state { true } else { false }
    }

    /// What must hold when an exchange is sent, or sent again.
    private func checkSending(_ index: Int) throws(Violation) {
        let machine = exchanges[index].sut.machine
        if case .sending(let version, _) = machine.state {
            if machine.isAttemptSigned, version == nil {
                throw Violation("exchange \(index) is sent without its signature (G2)")
            }
            if origin(of: index) != 0, version != nil {
                throw Violation("the token of exchange \(index) goes to another origin (G7)")
            }
        }
        // A thread may be held up between a decision and what it tells of it, for as long as a pause.
        let untold = threads.reduce(0) { sum, thread in sum + thread.operations.count { $0 == .note(index) } }
        try checkNotes(of: index, untold: untold)
        try checkJudgements(of: index)
    }

    private func checkNotes(of index: Int, untold: Int = 0) throws(Violation) {
        let (exchange, machine) = (exchanges[index], exchanges[index].sut.machine)
        let further =
            (machine.hasRetried ? 1 : 0) + (machine.retries?.failures.count ?? 0) + machine.attempt.redirects
            + exchange.restarts
        guard exchange.notes + untold == further else {
            throw Violation("the observers are told \(exchange.notes) times of \(further) further attempts")
        }
    }

    /// What must have been done before an exchange is sent again, or its caller is told.
    func checkJudgements(of index: Int) throws(Violation) {
        let exchange = exchanges[index]
        for (place, wire) in exchange.wires.enumerated() where wire.isJudged {
            guard wire.cookiesKept == 1 else {
                throw Violation("the cookies of attempt \(index).\(place + 1) are kept \(wire.cookiesKept) times")
            }
            if wire.version != nil, wire.head != .unauthorized, wire.acceptances != (wire.isUnproven ? 1 : 0) {
                throw Violation(
                    "the session hears \(wire.acceptances) times that attempt \(index).\(place + 1)'s token is good")
            }
        }
    }

    /// What must hold when an exchange goes on to another attempt.
    private func checkRepetition(of index: Int, from before: ExchangeMachine) throws(Violation) {
        guard let retries = exchanges[index].sut.machine.retries else { return }
        if retries.failures.count > 1, settings.offlineLeft == 0 {
            throw Violation("exchange \(index) is sent again too often")
        }
        if !settings.idempotent[index], retries.last.setback.delivery != .notSent {
            throw Violation("exchange \(index) must not be sent twice")
        }
        if case .receiving = before.state, exchanges[index].wires[before.number - 1].isStreaming {
            throw Violation("exchange \(index) is sent again after its reader has the head")
        }
        if exchanges[index].wires[before.number - 1].head == .busyForLong {
            throw Violation("exchange \(index) waits for a time after its deadline")
        }
    }

    /// Whether the reader of its response doesn't keep up.
    private func isPaused(_ index: Int) -> Bool {
        isReceiving(index) && exchanges[index].wires[current(index) - 1].isPaused
    }

    private func current(_ index: Int) -> Int { exchanges[index].sut.machine.number }

    private func isReceiving(_ index: Int) -> Bool {
        if case .receiving = exchanges[index].sut.machine.state { true } else { false }
    }

    /// The last event of an attempt, before the machine hears of it.
    private mutating func noteLastEvent(_ event: Event, of index: Int) {
        guard let number = event.endedAttempt else { return }
        // Its deadline is taken away with a number above those that set it.
        exchanges[index].wires[number - 1].isOver = true
        exchanges[index].wires[number - 1].isDraining = false
        exchanges[index].wires[number - 1].drainNumber = 3
        if exchanges[index].wire == number { exchanges[index].wire = nil }
    }

    private mutating func letGo(of index: Int) -> Int? {
        guard let number = exchanges[index].wire else { return nil }
        exchanges[index].wire = nil
        exchanges[index].wires[number - 1].isLetGo = true
        return number
    }

    // MARK: Rules

    /// What must hold whenever no thread is at work.
    func checkAtRest() throws(Violation) {
        var holders = [0, 0]
        for (index, exchange) in exchanges.enumerated() {
            let machine = exchange.sut.machine
            if exchange.retries > 1 { throw Violation("exchange \(index) is retried twice (G6)") }
            try checkNotes(of: index)
            guard exchange.looksOwed == 0 else { throw Violation("exchange \(index) looks not once for a deadline") }
            if machine.hasEnded {
                if exchange.deadline != nil { throw Violation("a deadline of exchange \(index) is left armed") }
                if exchange.tellings == 0 { throw Violation("exchange \(index) has ended and nobody was told (G5)") }
                if queue.contains(index) { throw Violation("exchange \(index) is queued after its end") }
                if lanes[0].contains(index) || lanes[1].contains(index) {
                    throw Violation("exchange \(index) stands in the lane after its end")
                }
            } else if exchange.hasBegun {
                if exchange.deadline == nil, !isPaused(index) {
                    throw Violation("exchange \(index) goes on without a deadline (G14)")
                }
                if isOnWire(index), !exchange.isSilenceWatched, !isPaused(index) {
                    throw Violation("nobody watches for silence on exchange \(index)'s wire (G14)")
                }
                if isOnWire(index), machine.isKeeping {
                    throw Violation("silence on exchange \(index)'s wire counts as a slow disk's (G14)")
                }
            }
            for (place, wire) in exchange.wires.enumerated() {
                if !wire.isOver, settings.takesSlots, !wire.isPassed, !wire.isStreaming {
                    holders[wire.origin] += 1
                }
                try check(wire, index, place + 1)
            }
        }
        for (caller, count) in told.enumerated() where exchanges[0].tellings > 0 && count != 1 {
            throw Violation("caller \(caller) is told \(count) times (G5)")
        }
        try checkPauses()
        guard taken == holders else { throw Violation("\(taken) slots are taken by \(holders) attempts") }
        if isNoticeHeld, self.holders == 0 { throw Violation("the app is never told of its session's end") }
        let waiting = exchanges.contains { exchange in
            if case .receiving(_, .rejected) = exchange.sut.machine.state { true } else { false }
        }
        if self.holders > 0, !waiting { throw Violation("the app is never told of its session's end") }
    }

    private func checkPauses() throws(Violation) {
        for (index, exchange) in exchanges.enumerated() {
            guard isPausing(index) else {
                if network[index] != nil { throw Violation("exchange \(index) still waits for a network") }
                if pausing.contains(index) { throw Violation("the session thinks that exchange \(index) pauses") }
                continue
            }
            if exchange.sut.machine.waitsForNetwork {
                guard network[index] != nil else { throw Violation("exchange \(index) isn't told of the network") }
            }
            if exchange.deadline == nil || !ModelledExchange.pauseEnds.contains(exchange.alarm) {
                throw Violation("the pause of exchange \(index) never ends")
            }
            if isSigned(index), exchange.generation != generation {
                throw Violation("exchange \(index) is not told that its session is over (G9)")
            }
            if isSigned(index), !pausing.contains(index) {
                throw Violation("the session doesn't know that exchange \(index) pauses")
            }
        }
        for origin in 0...1 {
            let (spent, paid) = (spent[origin], exchanges.reduce(0) { $0 + $1.paid[origin] })
            guard spent == paid else { throw Violation("retries have cost \(spent), and \(paid) were paid for") }
        }
    }

    private func isOnWire(_ index: Int) -> Bool { isOnWire(exchanges[index].sut.machine) }

    private func isOnWire(_ machine: ExchangeMachine) -> Bool {
        switch machine.state {
        case .sending, .receiving: true
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: false
        }
    }

    private func check(_ wire: Wire, _ index: Int, _ number: Int) throws(Violation) {
        if wire.isOver {
            guard wire.sink != .open else { throw Violation("the sink of attempt \(index).\(number) never ends") }
            return
        }
        if wire.isTooLong, !wire.isCancelled {
            throw Violation("more of attempt \(index).\(number) is read than is worth a connection")
        }
        guard !isWanted(index, number), !wire.isCancelled, !wire.isDraining else { return }
        throw Violation("attempt \(index).\(number) is read for ever")
    }

    private func isWanted(_ index: Int, _ number: Int) -> Bool {
        let machine = exchanges[index].sut.machine
        guard machine.number == number else { return false }
        switch machine.state {
        case .sending, .receiving: return true
        case .waitingForSession(let rejection?, _):
            if case .arriving = rejection.body { return true }
            return false
        case .waitingForSession, .waitingForSlot, .paying, .pausing, .ended: return false
        }
    }
}

extension ModelledExchange.Event {
    var isOfTime: Bool {
        switch self {
        case .ring, .looked: true
        default: false
        }
    }

    /// The attempt that this is the last event of.
    var endedAttempt: Int? {
        switch self {
        case .finished(let number), .failed(let number, _): number
        default: nil
        }
    }

    /// The attempt that this is about.
    var attempt: Int? {
        switch self {
        case .head(_, let number), .part(_, let number), .partKept(let number), .finished(let number),
            .bodyKept(let number),
            .failed(let number, _), .restExpired(let number), .sinkFailed(let number),
            .refusedByDestination(let number), .pauseChanged(_, let number), .looked(let number, _):
            number
        case .paid(_, let number): number
        default: nil
        }
    }
}
