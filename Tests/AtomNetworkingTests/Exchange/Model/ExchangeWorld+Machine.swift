@testable import AtomNetworking

// What the exchange does with its machine's steps, as operations.
extension ExchangeWorld {
    mutating func handle(_ wholeEvent: Event, of index: Int) throws(Violation) -> [Operation] {
        let event = wholeEvent.plain
        noteLastEvent(event, of: index)
        let before = exchanges[index].sut.machine
        let wasEnded = before.hasEnded
        let isPaused = isPaused(index)
        let step = exchanges[index].sut.take(wholeEvent)
        let letGo = letGo(for: step, of: index)
        var operations = preparation(of: step, index)
        if event != wholeEvent {
            if step.effects.contains(.sendAgain) {
                exchanges[index].paid += 1
                try checkRepetition(of: index, from: before)
            } else {
                operations.append(.refund(index))
            }
        }
        switch event {
        case .ring(let instant):
            if case .pausing = before.state, instant < ModelledExchange.pauseEnd, !isPausing(index) {
                throw Violation("exchange \(index) goes on before its pause is over")
            }
            if step.effects.contains(.sendAgain), let letGo { exchanges[index].wires[letGo - 1].isPassed = true }
            if isPaused, exchanges[index].sut.machine.hasEnded, !wasEnded {
                throw Violation("exchange \(index) runs out of time while its reader is slow (G14)")
            }
            operations += action(of: step, index) + afterwards(step, index, letGo)
            return operations + (step.effects.contains(.sendAgain) ? slotGivenBack(by: step) : [])
        case .pauseChanged(let isPaused, let number):
            exchanges[index].wires[number - 1].isPaused = isPaused
            return operations + action(of: step, index) + afterwards(step, index, letGo)
        case .slotGranted:
            return try operations + afterSlot(step, index, wasEnded)
        case .admittedWithSlot:
            if case .sign = step.action { return operations + [.sign(index)] }
            return operations + slotGivenBack(by: step)
        case .head(let head, let number):
            let isPassed = !exchanges[index].sut.machine.hasEnded && !isReceiving(index) && number == current(index)
            if exchanges[index].sut.isStreamed, head == .ok, !wasEnded {
                exchanges[index].wires[number - 1].isStreaming = true
            }
            if isPassed, head != .ok { exchanges[index].wires[number - 1].isPassed = true }
            if step.effects.contains(.limitRest) {
                operations.append(.limitRest(index, number, order: isRetry(step) ? 1 : 2))
            }
            operations += action(of: step, index) + afterwards(step, index, letGo)
            return operations + slotGivenBack(by: step)
        case .part(_, let number):
            if case .keepPart = step.action {
                if event == .part(.ofAnotherFile, number) {
                    return operations + [.abandon(index, number), .event(index, .refusedByDestination(number))]
                }
                let isTaken = event != .part(.refused, number)
                return operations + (isTaken ? [] : [.abandon(index, number), .event(index, .sinkFailed(number))])
            }
            let isTooMuch = event == .part(.big, number)
            operations += afterwards(step, index, letGo)
            return operations + (isTooMuch ? [.stop(index, number)] : [])
        case .finished(let number), .failed(let number):
            return operations + afterLastEvent(step, index, number)
        case .admitted:
            let limit = letGo.map { [Operation.limitRest(index, $0, order: 2)] } ?? []
            return operations + (step.effects.contains(.limitRest) ? limit : []) + action(of: step, index)
        case .refused:
            operations += action(of: step, index) + afterwards(step, index, letGo)
            return operations + (step.effects.contains(.keepNotice) ? [] : [.releaseNotice])
        default:
            return operations + action(of: step, index) + afterwards(step, index, letGo)
        }
    }

    private func isPausing(_ index: Int) -> Bool {
        if case .pausing = exchanges[index].sut.machine.state { true } else { false }
    }

    /// What must hold when an exchange goes on to another attempt.
    private func checkRepetition(of index: Int, from before: ExchangeMachine) throws(Violation) {
        let machine = exchanges[index].sut.machine
        if machine.retries.map({ $0.failures.count > 1 }) ?? false {
            throw Violation("exchange \(index) is sent again too often")
        }
        if !settings.idempotent[index] { throw Violation("exchange \(index) must not be sent twice") }
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

    private func isRetry(_ step: ExchangeMachine.Step) -> Bool {
        if case .retry = step.action { true } else { false }
    }

    private func current(_ index: Int) -> Int { exchanges[index].sut.machine.number }

    private func isReceiving(_ index: Int) -> Bool {
        if case .receiving = exchanges[index].sut.machine.state { true } else { false }
    }

    /// The last event of an attempt, before the machine hears of it.
    private mutating func noteLastEvent(_ event: Event, of index: Int) {
        guard let number = event.endedAttempt else { return }
        exchanges[index].wires[number - 1].isOver = true
        if exchanges[index].wire == number { exchanges[index].wire = nil }
    }

    private mutating func letGo(for step: ExchangeMachine.Step, of index: Int) -> Int? {
        guard !step.effects.isDisjoint(with: [.stop, .letGo]), let number = exchanges[index].wire else {
            return nil
        }
        exchanges[index].wire = nil
        exchanges[index].wires[number - 1].isLetGo = true
        return number
    }

    private func preparation(of step: ExchangeMachine.Step, _ index: Int) -> [Operation] {
        var operations: [Operation] = []
        switch step.deadline {
        case .none: break
        case .set(let instant, let number):
            operations.append(
                .setDeadline(index, number: number, at: Int(instant.nanoseconds / 1_000_000_000)))
        case .removed(let number): operations.append(.removeDeadline(index, number: number))
        }
        if let version = step.acceptedVersion { operations.append(.accepted(version: version)) }
        if step.effects.contains(.leaveSession) { operations.append(.leaveSession(index)) }
        if step.effects.contains(.leaveLane) { operations.append(.leaveLane(index)) }
        if step.effects.contains(.leavePause) { operations.append(.leavePause(index)) }
        return operations
    }

    private mutating func action(of step: ExchangeMachine.Step, _ index: Int) -> [Operation] {
        switch step.action {
        case .askSession: return [.askSession(index)]
        case .retry(let version):
            exchanges[index].retries += 1
            return [.rejected(version: version), .askSession(index)]
        case .enterLane: return [.enterLane(index)]
        case .tell: return [.tell(index)]
        case .pause: return [.notePause(index)]
        case .nothing, .askSessionWithSlot, .sign, .send, .keepPart, .keepBody, .deliver: return []
        }
    }

    private func afterwards(_ step: ExchangeMachine.Step, _ index: Int, _ letGo: Int?) -> [Operation] {
        var operations: [Operation] = []
        if step.effects.contains(.releaseNotice) { operations.append(.releaseNotice) }
        if let letGo {
            if step.effects.contains(.stop) { operations.append(.stop(index, letGo)) }
        }
        return operations
    }

    private func slotGivenBack(by step: ExchangeMachine.Step) -> [Operation] {
        step.effects.contains(.giveSlotBack) ? [.releaseSlot] : []
    }

    private mutating func afterSlot(
        _ step: ExchangeMachine.Step, _ index: Int, _ wasEnded: Bool
    ) throws(Violation) -> [Operation] {
        switch step.action {
        case .send:
            guard !wasEnded else { throw Violation("exchange \(index) is sent after its end (G5)") }
            if case .sending(_, let version) = exchanges[index].sut.machine.state, isSigned(index), version == nil {
                throw Violation("exchange \(index) is sent without its signature (G2)")
            }
            exchanges[index].wires.append(Wire())
            let number = exchanges[index].wires.count
            exchanges[index].wire = number
            return [.hand(index, number), .started(index, number)]
        case .askSessionWithSlot:
            return [.askWithSlot(index)]
        default:
            return slotGivenBack(by: step)
        }
    }

    private mutating func afterLastEvent(
        _ step: ExchangeMachine.Step, _ index: Int, _ number: Int
    ) -> [Operation] {
        // Its deadline is taken away with a number above the one that sets it.
        exchanges[index].wires[number - 1].isDraining = false
        exchanges[index].wires[number - 1].drainNumber = 3
        let body: [Operation] =
            switch step.action {
            case .deliver: [.deliver(index, number)]
            case .keepBody: [.keepBody(index, number)]
            case .tell: [.abandon(index, number), .tell(index)]
            default: (bug == .sinkNeverEnded ? [] : [.abandon(index, number)]) + action(of: step, index)
            }
        let notice: [Operation] = step.effects.contains(.releaseNotice) ? [.releaseNotice] : []
        return body + notice + slotGivenBack(by: step)
    }

    // MARK: Rules

    /// What must hold whenever no thread is at work.
    func checkAtRest() throws(Violation) {
        var holders = 0
        for (index, exchange) in exchanges.enumerated() {
            let machine = exchange.sut.machine
            if exchange.retries > 1 { throw Violation("exchange \(index) is retried twice (G6)") }
            if machine.hasEnded {
                if exchange.deadline != nil { throw Violation("a deadline of exchange \(index) is left armed") }
                if exchange.tellings == 0 { throw Violation("exchange \(index) has ended and nobody was told (G5)") }
                if queue.contains(index) { throw Violation("exchange \(index) is queued after its end") }
                if lane.contains(index) { throw Violation("exchange \(index) stands in the lane after its end") }
            } else if exchange.hasBegun {
                if exchange.deadline == nil, !isPaused(index) {
                    throw Violation("exchange \(index) goes on without a deadline (G14)")
                }
                if isOnWire(index), !exchange.isSilenceWatched, !isPaused(index) {
                    throw Violation("nobody watches for silence on exchange \(index)'s wire (G14)")
                }
            }
            for (place, wire) in exchange.wires.enumerated() {
                if !wire.isOver, settings.takesSlots, !wire.isPassed, !wire.isStreaming { holders += 1 }
                try check(wire, index, place + 1)
            }
        }
        try checkPauses()
        guard taken == holders else { throw Violation("\(taken) slots are taken by \(holders) attempts") }
        if isNoticeHeld, self.holders == 0 { throw Violation("the app is never told of its session's end") }
        let waiting = exchanges.contains { exchange in
            if case .receiving(let transmission, _) = exchange.sut.machine.state {
                transmission.holdsNotice
            } else {
                false
            }
        }
        if self.holders > 0, !waiting { throw Violation("the app is never told of its session's end") }
    }

    private func checkPauses() throws(Violation) {
        for (index, exchange) in exchanges.enumerated() {
            guard isPausing(index) else {
                if pausing.contains(index) { throw Violation("the session thinks that exchange \(index) pauses") }
                continue
            }
            if exchange.deadline == nil || exchange.alarm > ModelledExchange.pauseEnd {
                throw Violation("the pause of exchange \(index) never ends")
            }
            if isSigned(index), exchange.generation != generation {
                throw Violation("exchange \(index) is not told that its session is over (G9)")
            }
            if isSigned(index), !pausing.contains(index) {
                throw Violation("the session doesn't know that exchange \(index) pauses")
            }
        }
        let paid = exchanges.reduce(0) { $0 + $1.paid }
        guard spent == paid else { throw Violation("retries have cost \(spent), and \(paid) were paid for") }
    }

    private func isOnWire(_ index: Int) -> Bool {
        switch exchanges[index].sut.machine.state {
        case .sending, .receiving: true
        case .waitingForSession, .waitingForSlot, .pausing, .ended: false
        }
    }

    private func check(_ wire: Wire, _ index: Int, _ number: Int) throws(Violation) {
        if wire.isOver {
            guard wire.sink != .open else { throw Violation("the sink of attempt \(index).\(number) never ends") }
            return
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
        case .waitingForSession, .waitingForSlot, .pausing, .ended: return false
        }
    }
}

extension ModelledExchange.Event {
    /// The attempt that this is the last event of.
    var endedAttempt: Int? {
        switch self {
        case .finished(let number), .failed(let number): number
        case .again(let event, _): event.endedAttempt
        default: nil
        }
    }
}
