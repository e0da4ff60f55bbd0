@testable import AtomNetworking

extension ExchangeWorld {
    mutating func take(_ step: Step) throws(Violation) {
        switch step {
        case .run(let index, _):
            try run(index)
        case .begin(let index):
            exchanges[index].hasBegun = true
            if index == 0, settings.callers > 1 { join() }
            try spawn([isSigned(index) ? .askSession(index) : .enterLane(index, place: nil)])
        case .join:
            join()
        case .leave(let caller):
            left.leavesLeft -= 1
            try spawn([.leave(caller)])
        case .cancel(let index):
            left.cancellationsLeft -= 1
            try spawn([.event(index, .cancelled)])
        case .ring(let index, let instant):
            exchanges[index].deadline = nil
            switch instant {
            case 1: left.earlyRingsLeft -= 1
            case let instant where ModelledExchange.pauseEnds.contains(instant): break
            default: left.expiriesLeft -= 1
            }
            let number = exchanges[index].sut.machine.number
            let isBehind = threads.contains { $0.wire == [index, number] && !$0.operations.isEmpty }
            try spawn([.event(index, .ring(at: instant, isBehind: isBehind))])
        case .drained(let index, let number):
            exchanges[index].wires[number - 1].isDraining = false
            let isCurrent = exchanges[index].wire == number
            try spawn([isCurrent ? .event(index, .restExpired(number)) : .stop(index, number)])
        case .renewal(let renewal):
            try renew(renewal)
        case .die:
            left.deathsLeft -= 1
            isGood = false
        case .head(let index, let number, let head):
            if head.isRedirect { left.redirectsLeft -= 1 }
            if head.isBusy { left.busyLeft -= 1 }
            exchanges[index].wires[number - 1].head = head
            if head == .unauthorized, case .sending(let version?, _) = exchanges[index].sut.machine.state {
                exchanges[index].rejectedVersion = version
            }
            try spawn([.event(index, .head(head, number))], [index, number])
        case .part(let index, let number, let part):
            left.partsLeft -= 1
            exchanges[index].wires[number - 1].parts += 1
            try spawn([.event(index, .part(part, number))], [index, number])
        case .finish(let index, let number):
            try spawn([.event(index, .finished(number))], [index, number])
        case .pause(let index, let number):
            left.pausesLeft -= 1
            exchanges[index].wires[number - 1].isHeldBack = true
            try spawn([.event(index, .pauseChanged(true, number))], [index, number, 1])
        case .goOn(let index, let number):
            exchanges[index].wires[number - 1].isHeldBack = false
            try spawn([.event(index, .pauseChanged(false, number))], [index, number, 1])
        case .lose(let index, let number):
            if !exchanges[index].wires[number - 1].isCancelled { left.failuresLeft -= 1 }
            try spawn([.event(index, .failed(number))], [index, number])
        case .loseOffline(let index, let number):
            left.offlineLeft -= 1
            try spawn([.event(index, .failed(number, isOffline: true))], [index, number])
        case .networkReturns(let index):
            guard let number = network.removeValue(forKey: index) else { break }
            try spawn([.event(index, .networkReturned(number))])
        case .signOut:
            left.signOutsLeft -= 1
            generation += 1
            version += 1
            isUnproven = false
            isGood = true
            isOver = false
            let refused = pausing.sorted()
            pausing = []
            try spawn(refused.flatMap { [.holdNotice, .event($0, .refused(isMissing: false))] })
        }
        threads.removeAll { $0.operations.isEmpty }
        if threads.isEmpty { try checkAtRest() }
    }

    private mutating func join() {
        let (ticket, starts) = sharing.asked(for: 0)
        guard tickets.isEmpty || !starts || bug == .joinedAfterItsEnd else {
            // It begins another exchange.
            hasMissed = true
            return
        }
        tickets.append(ticket)
        told.append(0)
    }

    private mutating func run(_ index: Int) throws(Violation) {
        repeat {
            let operation = threads[index].operations.removeFirst()
            let next = try perform(operation)
            threads[index].operations.insert(contentsOf: next, at: 0)
        } while threads[index].operations.first?.concernsNobodyElse ?? false
    }

    /// Lets a thread begin at once: it could have come later.
    private mutating func spawn(_ operations: [Operation], _ wire: [Int] = []) throws(Violation) {
        guard !operations.isEmpty else { return }
        threads.append(Thread(operations: operations, wire: wire))
        try run(threads.count - 1)
    }

    private mutating func renew(_ renewal: ExchangeModelSettings.Renewal) throws(Violation) {
        isRefreshing = false
        switch renewal {
        case .renewed:
            version += 1
            isUnproven = true
            isGood = true
            try spawn([.release])
        case .failed, .missing:
            let refused = queue
            queue = []
            isOver = renewal == .missing
            let refusals = refused.flatMap { index -> [Operation] in
                [.holdNotice, .event(index, .refused(isMissing: renewal == .missing))]
            }
            try spawn(refusals + (renewal == .missing ? [.announce] : []))
        }
    }

    // MARK: Operations

    private mutating func perform(_ operation: Operation) throws(Violation) -> [Operation] {
        switch operation {
        case .event(let index, let event):
            return try handle(event, of: index)
        case .setDeadline(let index, let number, let instant):
            guard number == .max || number > exchanges[index].deadlineNumber else { return [] }
            if number != .max { exchanges[index].deadlineNumber = number }
            exchanges[index].deadline = number
            exchanges[index].alarm = instant
        case .removeDeadline(let index, let number):
            guard number == .max || number > exchanges[index].deadlineNumber else { return [] }
            if number != .max { exchanges[index].deadlineNumber = number }
            exchanges[index].deadline = nil
        case .askSession(let index):
            let origin = origin(of: index)
            guard settings.takesSlots else { return [.askWithSlot(index, place: index, origin: origin)] }
            guard hasFreeSlot(origin) else { return try admit(index, slot: nil, of: nil) }
            taken[origin] += 1
            return [.askWithSlot(index, place: index, origin: origin)]
        case .rejected(let rejected):
            if rejected == version { isGood = false }
        case .accepted(let accepted, let index, let number):
            exchanges[index].wires[number - 1].acceptances += 1
            if accepted == version { isUnproven = false }
        case .keepCookies(let index, let number):
            exchanges[index].wires[number - 1].cookiesKept += 1
        case .note(let index):
            exchanges[index].notes += 1
        case .notePause(let index):
            guard isSigned(index) else { return [.event(index, .pauseNoted)] }
            guard exchanges[index].generation == generation else {
                return [.holdNotice, .event(index, .refused(isMissing: false))]
            }
            pausing.insert(index)
            return [.event(index, .pauseNoted)]
        case .leave(let caller):
            switch sharing.cancelled(tickets[caller]) {
            case .nothing: break
            case .leaves: return [.tellCaller(caller)]
            case .cancelsExchange: return [.event(0, .cancelled)]
            }
        case .tellCaller(let caller):
            told[caller] += 1
            guard told[caller] == 1 else { throw Violation("caller \(caller) is told twice (G5)") }
        case .closeSharing:
            sharing.closed(tickets[0].exchange)
        case .endSharing:
            let callers = sharing.ended(tickets[0].exchange)
            return tickets.indices.filter { callers.contains(tickets[$0].caller) }.map { .tellCaller($0) }
        case .leavePause(let index):
            pausing.remove(index)
            network[index] = nil
        case .watchNetwork(let index):
            let machine = exchanges[index].sut.machine
            if machine.waitsForNetwork { network[index] = machine.number }
        case .lookAgain(let index):
            if !exchanges[index].sut.machine.isPausing { network[index] = nil }
        case .pay(let index, let number):
            guard exchanges[index].sut.pays() else { return [] }
            let isPaid = spent[origin(of: index)] < settings.quota
            if isPaid { spent[origin(of: index)] += 1 }
            return [.event(index, .paid(isPaid, number))]
        case .refund(let index, let cost):
            spent[origin(of: index)] -= cost
        case .leaveSession(let index):
            queue.removeAll { $0 == index }
        case .enterLane(let index, let place):
            return enterLane(index, place: place)
        case .leaveLane(let index, _):
            lanes[origin(of: index)].removeAll { $0 == index }
        case .releaseSlot(let index, let slotOrigin, let number):
            let ofAttempt = number.map { exchanges[index].wires[$0 - 1].origin }
            let known =
                bug == .slotGoesBackWhereTheExchangeIs
                ? nil : bug == .slotInHandForgotten ? ofAttempt : slotOrigin ?? ofAttempt
            return try releaseSlot(known ?? origin(of: index))
        case .sign(let index, let place):
            let isMember = exchanges[index].generation == generation
            let version = exchanges[index].sut.machine.isAttemptSigned && isMember && isGood && !isOver ? version : nil
            return [
                .event(
                    index,
                    .slotGranted(
                        place: place, isSigned: version != nil, version: version,
                        isUnproven: version != nil && isUnproven))
            ]
        case .askWithSlot(let index, let place, let origin):
            return try admit(index, slot: place, of: origin)
        case .hand, .started, .stop, .limitRest, .deliver, .deliverPart, .keepBody, .abandon:
            return try performOnWire(operation)
        case .look(let index, let instant):
            exchanges[index].looksOwed -= 1
            return [.event(index, .looked(exchanges[index].sut.machine.number, at: instant))]
        case .tell(let index):
            return try tell(index)
        case .holdNotice:
            holders += 1
        case .releaseNotice:
            holders -= 1
            guard holders >= 0 else { throw Violation("a notice is let go of twice") }
            if holders == 0, isNoticeHeld { try announce() }
        case .announce:
            if holders > 0 { isNoticeHeld = true } else { try announce() }
        case .release:
            guard isGood, !queue.isEmpty else { return [] }
            let index = queue.removeFirst()
            exchanges[index].generation = generation
            return [.event(index, .admitted(slot: nil)), .release]
        }
        return []
    }

    /// The session's answer to an exchange that asks to go on.
    private mutating func admit(_ index: Int, slot: Int?, of origin: Int?) throws(Violation) -> [Operation] {
        var queued = [Operation.event(index, .queuedBySession)]
        if let origin, settings.takesSlots { queued.append(.releaseSlot(index, slotOf: origin, nil)) }
        if let admitted = exchanges[index].generation, admitted != generation {
            return [.holdNotice, .event(index, .refused(isMissing: false))] + queued
        }
        if isOver { return [.holdNotice, .event(index, .refused(isMissing: true)), .announce] + queued }
        exchanges[index].generation = generation
        if isGood, !isRefreshing, queue.isEmpty { return [.event(index, .admitted(slot: slot))] }
        guard !queue.contains(index) else { throw Violation("exchange \(index) is queued twice (G1)") }
        queue.append(index)
        // A queue that is being emptied is good by the time its end has its turn.
        if !isGood { isRefreshing = true }
        return queued
    }

    private mutating func enterLane(_ index: Int, place: Int?) -> [Operation] {
        guard settings.takesSlots else { return [.sign(index, place: index)] }
        let origin = origin(of: index)
        if hasFreeSlot(origin) {
            taken[origin] += 1
            return [.sign(index, place: index)]
        }
        if place == nil { lanes[origin].append(index) } else { lanes[origin].insert(index, at: 0) }
        return [.event(index, .queuedForSlot(place: index))]
    }

    private func hasFreeSlot(_ origin: Int) -> Bool { taken[origin] < settings.slots && lanes[origin].isEmpty }

    private mutating func releaseSlot(_ origin: Int) throws(Violation) -> [Operation] {
        guard taken[origin] > 0 else { throw Violation("a slot is given back that nobody has") }
        guard !lanes[origin].isEmpty else {
            taken[origin] -= 1
            return []
        }
        let next = lanes[origin].removeFirst()
        return [.sign(next, place: next)]
    }

    private mutating func performOnWire(_ operation: Operation) throws(Violation) -> [Operation] {
        switch operation {
        case .hand(let index, let number):
            exchanges[index].wires[number - 1].isHanded = true
        case .started(let index, let number):
            let wire = exchanges[index].wires[number - 1]
            exchanges[index].wires[number - 1].isStarted = true
            if wire.isStopped, !wire.isOver { exchanges[index].wires[number - 1].isCancelled = true }
        case .stop(let index, let number):
            exchanges[index].wires[number - 1].isStopped = true
            let wire = exchanges[index].wires[number - 1]
            if wire.isStarted, !wire.isOver { exchanges[index].wires[number - 1].isCancelled = true }
        case .limitRest(let index, let number, let order):
            guard exchanges[index].wires[number - 1].drainNumber < order else { return [] }
            exchanges[index].wires[number - 1].drainNumber = order
            exchanges[index].wires[number - 1].isDraining = true
        case .deliver(let index, let number):
            try checkParts(index, number)
            try endSink(index, number, .finished)
            guard case .ended(.response(let head), _) = exchanges[index].sut.machine.state,
                head.headerFields["X-Attempt"] == "\(number)"
            else { throw Violation("exchange \(index) is given the answer of another attempt") }
            if head.statusCode == 200 {
                // A success gives back what the last retry has cost.
                let (cost, origin) = (
                    exchanges[index].sut.machine.retries?.cost ?? 0, exchanges[index].wires[number - 1].origin
                )
                spent[origin] -= cost
                exchanges[index].paid[origin] -= cost
            }
            return try tell(index)
        case .deliverPart(let index, let number):
            guard case .ended(.cut(let head, _, _), _) = exchanges[index].sut.machine.state,
                head.headerFields["X-Attempt"] == "\(number)"
            else { throw Violation("exchange \(index) is given a part of another attempt's answer") }
            let operations = try tell(index)
            try endSink(index, number, .finished)
            return operations
        case .keepBody(let index, let number):
            try checkParts(index, number)
            try endSink(index, number, .finished)
            return [.event(index, .bodyKept(number))]
        case .abandon(let index, let number):
            if exchanges[index].wires[number - 1].sink == .open { try endSink(index, number, .abandoned) }
        default:
            break
        }
        return []
    }

    private func checkParts(_ index: Int, _ number: Int) throws(Violation) {
        let wire = exchanges[index].wires[number - 1]
        guard wire.partsKept == wire.parts, wire.openings == (wire.isStreaming ? 1 : 0) else {
            throw Violation("the body of attempt \(index).\(number) is not what has come")
        }
    }

    private mutating func endSink(_ index: Int, _ number: Int, _ end: Wire.Sink) throws(Violation) {
        guard exchanges[index].wires[number - 1].sink == .open else {
            throw Violation("the sink of attempt \(index).\(number) ends twice")
        }
        exchanges[index].wires[number - 1].sink = end
    }

    private mutating func tell(_ index: Int) throws(Violation) -> [Operation] {
        exchanges[index].tellings += 1
        try checkJudgements(of: index)
        guard exchanges[index].tellings == 1 else { throw Violation("exchange \(index) is told twice (G5)") }
        guard case .ended(let outcome, _) = exchanges[index].sut.machine.state else {
            throw Violation("exchange \(index) is told before its end")
        }
        switch outcome {
        case .rejection(let head, let body):
            let number = head.headerFields["X-Attempt"].flatMap { Int($0) } ?? 0
            guard exchanges[index].wires[number - 1].head == .unauthorized, body.first == UInt8(number) else {
                throw Violation("exchange \(index) is told of a 401 with another's body")
            }
        case .cut(let head, _, _):
            let number = head.headerFields["X-Attempt"].flatMap { Int($0) } ?? 0
            let wire = exchanges[index].wires[number - 1]
            guard wire.head?.rawValue == head.statusCode, head.statusCode != 200 else {
                throw Violation("exchange \(index) is told of another's status")
            }
            let isWhole = wire.isOver && !wire.isCancelled && !wire.isStopped && wire.sink == .finished
            guard !isWhole else { throw Violation("exchange \(index) is told of an error without its body") }
        case .response, .failure: break
        }
        return index == 0 && settings.callers > 1 ? [.closeSharing, .endSharing] : []
    }

    private mutating func announce() throws(Violation) {
        isNoticeHeld = false
        for (index, exchange) in exchanges.enumerated() {
            if case .receiving(_, .rejected) = exchange.sut.machine.state {
                throw Violation("the app is told of its session's end before exchange \(index)")
            }
        }
    }
}

extension ExchangeWorld.Operation {
    /// Whether it makes no difference to any other thread when this is done.
    fileprivate var concernsNobodyElse: Bool {
        switch self {
        case .tell, .deliver, .deliverPart, .abandon, .accepted, .keepBody, .keepCookies, .note: true
        default: false
        }
    }
}
