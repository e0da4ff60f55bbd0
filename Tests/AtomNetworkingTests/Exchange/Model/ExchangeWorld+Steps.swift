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
            try spawn([.event(index, .ring(at: instant))])
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
            if head == .redirect { left.redirectsLeft -= 1 }
            if head.isBusy { left.busyLeft -= 1 }
            exchanges[index].wires[number - 1].head = head
            if head == .unauthorized, case .sending(let version?) = exchanges[index].sut.machine.state {
                exchanges[index].rejectedVersion = version
            }
            try spawn([.event(index, .head(head, number))], [index, number])
        case .part(let index, let number, let part):
            left.partsLeft -= 1
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
            guard settings.takesSlots else { return [.askWithSlot(index, place: index)] }
            guard taken == 0, lane.isEmpty else { return admit(index, slot: nil) }
            taken = 1
            return [.askWithSlot(index, place: index)]
        case .rejected(let rejected):
            if rejected == version { isGood = false }
        case .accepted:
            break
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
        case .pay(let index):
            guard exchanges[index].sut.pays() else { return [] }
            let isPaid = spent < settings.quota
            if isPaid { spent += 1 }
            return [.event(index, .paid(isPaid))]
        case .refund(_, let cost):
            spent -= cost
        case .leaveSession(let index):
            queue.removeAll { $0 == index }
        case .enterLane(let index, let place):
            return enterLane(index, place: place)
        case .leaveLane(let index, _):
            lane.removeAll { $0 == index }
        case .releaseSlot:
            return try releaseSlot()
        case .sign(let index, let place):
            let isMember = exchanges[index].generation == generation
            let version = isSigned(index) && isMember && isGood && !isOver ? version : nil
            return [.event(index, .slotGranted(place: place, isSigned: version != nil, version: version))]
        case .askWithSlot(let index, let place):
            return admit(index, slot: place)
        case .hand, .started, .stop, .limitRest, .deliver, .keepBody, .abandon:
            return try performOnWire(operation)
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
    private mutating func admit(_ index: Int, slot: Int?) -> [Operation] {
        let queued = Operation.event(index, .queuedBySession(hasSlot: slot != nil))
        if let admitted = exchanges[index].generation, admitted != generation {
            return [.holdNotice, .event(index, .refused(isMissing: false)), queued]
        }
        if isOver { return [.holdNotice, .event(index, .refused(isMissing: true)), .announce, queued] }
        exchanges[index].generation = generation
        if isGood, !isRefreshing, queue.isEmpty { return [.event(index, .admitted(slot: slot))] }
        queue.append(index)
        // A queue that is being emptied is good by the time its end has its turn.
        if !isGood { isRefreshing = true }
        return [queued]
    }

    private mutating func enterLane(_ index: Int, place: Int?) -> [Operation] {
        guard settings.takesSlots else { return [.sign(index, place: index)] }
        if taken == 0, lane.isEmpty {
            taken = 1
            return [.sign(index, place: index)]
        }
        if place == nil { lane.append(index) } else { lane.insert(index, at: 0) }
        return [.event(index, .queuedForSlot(place: index))]
    }

    private mutating func releaseSlot() throws(Violation) -> [Operation] {
        guard taken > 0 else { throw Violation("a slot is given back that nobody has") }
        guard !lane.isEmpty else {
            taken -= 1
            return []
        }
        let next = lane.removeFirst()
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
            try endSink(index, number, .finished)
            guard case .ended(.response(let head), _) = exchanges[index].sut.machine.state,
                head.headerFields["X-Attempt"] == "\(number)"
            else { throw Violation("exchange \(index) is given the answer of another attempt") }
            if head.statusCode == 200 {
                // A success gives back what the last retry has cost.
                spent -= (exchanges[index].sut.machine.retries?.cost ?? 0)
                exchanges[index].paid -= (exchanges[index].sut.machine.retries?.cost ?? 0)
            }
            return try tell(index)
        case .keepBody(let index, let number):
            try endSink(index, number, .finished)
            return [.event(index, .bodyKept(number))]
        case .abandon(let index, let number):
            if exchanges[index].wires[number - 1].sink == .open { try endSink(index, number, .abandoned) }
        default:
            break
        }
        return []
    }

    private mutating func endSink(_ index: Int, _ number: Int, _ end: Wire.Sink) throws(Violation) {
        guard exchanges[index].wires[number - 1].sink == .open else {
            throw Violation("the sink of attempt \(index).\(number) ends twice")
        }
        exchanges[index].wires[number - 1].sink = end
    }

    private mutating func tell(_ index: Int) throws(Violation) -> [Operation] {
        exchanges[index].tellings += 1
        guard exchanges[index].tellings == 1 else { throw Violation("exchange \(index) is told twice (G5)") }
        guard case .ended(let outcome, _) = exchanges[index].sut.machine.state else {
            throw Violation("exchange \(index) is told before its end")
        }
        if case .rejection(let head, let body) = outcome {
            let number = head.headerFields["X-Attempt"].flatMap { Int($0) } ?? 0
            let wire = exchanges[index].wires[number - 1]
            guard wire.head == .unauthorized, body.isEmpty || body.first == UInt8(number) else {
                throw Violation("exchange \(index) is told of a 401 with another's body")
            }
            let isWhole = wire.isOver && !wire.isCancelled && !wire.isStopped && wire.sink == .finished
            guard !body.isEmpty || !isWhole else {
                throw Violation("exchange \(index) is told of a 401 without its body")
            }
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
        case .tell, .deliver, .abandon, .accepted, .keepBody: true
        default: false
        }
    }
}
