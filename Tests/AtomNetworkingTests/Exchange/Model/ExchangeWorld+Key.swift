@testable import AtomNetworking

extension ExchangeWorld {
    /// Two states that behave the same have the same key: numbers of deadlines
    /// count from the last one, versions as whether they are current.
    var key: ModelKey {
        var key = ModelKey()
        for (index, exchange) in exchanges.enumerated() {
            key.add(-1)
            describe(exchange, to: &key)
            for lane in lanes { key.add(lane.firstIndex(of: index) ?? -1) }
            key.add(origin(of: index))
            key.add(exchange.sut.machine.attempt.hasLeftOrigin)
            key.add(queue.firstIndex(of: index) ?? -1)
            key.add(pausing.contains(index))
            key.add(network[index] ?? -1)
        }
        // Which thread came first makes no difference.
        var threadKeys = threads.map { thread in
            var key = ModelKey()
            for number in thread.wire { key.add(number) }
            for operation in thread.operations { describe(operation, to: &key) }
            return Int(bitPattern: UInt(truncatingIfNeeded: key.first ^ key.second))
        }
        threadKeys.sort()
        for threadKey in threadKeys { key.add(threadKey) }
        key.add(-3)
        key.add(sharing.hashValue)
        for count in told { key.add(count) }
        key.add(hasMissed)
        key.add(left.leavesLeft)
        key.add(isGood)
        key.add(isUnproven)
        key.add(isOver)
        key.add(isRefreshing)
        for count in taken { key.add(count) }
        key.add(holders)
        key.add(isNoticeHeld)
        key.add(left.partsLeft)
        key.add(left.redirectsLeft)
        key.add(left.failuresLeft)
        key.add(left.cancellationsLeft)
        key.add(left.expiriesLeft)
        key.add(left.earlyRingsLeft)
        key.add(left.deathsLeft)
        key.add(left.pausesLeft)
        key.add(left.busyLeft)
        key.add(left.offlineLeft)
        key.add(left.signOutsLeft)
        for cost in spent { key.add(cost) }
        return key
    }

    private func describe(_ exchange: Exchange, to key: inout ModelKey) {
        let machine = exchange.sut.machine
        switch machine.state {
        case .waitingForSession(let rejection, let place):
            key.add(1)
            key.add(place != nil)
            switch rejection?.body {
            case nil: key.add(0)
            case .arriving(let received): key.add(10 + min(received, 2))
            case .complete: key.add(2)
            case .givenUp: key.add(3)
            }
        case .waitingForSlot(let place):
            key.add(2)
            key.add(place != nil)
        case .pausing:
            key.add(9)
        case .sending(let version, let isUnproven):
            key.add(3)
            key.add(isUnproven)
            key.add(version.map { $0 == self.version ? 1 : 2 } ?? 0)
        case .paying(let retry):
            key.add(10)
            if case .response = retry.alternative { key.add(1) } else { key.add(0) }
            key.add(exchange.sut.isPaying(retry))
        case .receiving(_, let reception):
            key.add(4)
            key.add("\(reception)".hashValue)
        case .ended(let outcome, let holdsSlot):
            switch outcome {
            case .response: key.add(5)
            case .rejection: key.add(6)
            case .failure: key.add(7)
            case .cut: key.add(8)
            }
            key.add(holdsSlot)
        }
        key.add(machine.number)
        key.add(machine.hasRetried)
        key.add(machine.isKeeping)
        key.add(machine.wasBehind)
        key.add(machine.lookEnd.map { Int($0.nanoseconds / 1_000_000) } ?? -1)
        key.add(exchange.looksOwed)
        key.add(machine.reach.hashValue)
        key.add(machine.attempt.redirects)
        key.add(machine.clock.lastChange - exchange.deadlineNumber)
        key.add(machine.clock.lastChange == 0)
        key.add(exchange.deadline != nil)
        key.add(exchange.alarm)
        key.add(exchange.generation.map { $0 == generation ? 1 : 2 } ?? 0)
        key.add(exchange.rejectedVersion.map { $0 == version ? 1 : 2 } ?? 0)
        for cost in exchange.paid { key.add(cost) }
        key.add(machine.retries?.failures.count ?? 0)
        key.add(machine.waitsForNetwork)
        key.add(machine.clock.end == nil)
        key.add(machine.retries?.cost ?? 0)
        key.add(exchange.hasBegun)
        key.add(exchange.tellings)
        key.add(exchange.retries)
        key.add(exchange.wire ?? 0)
        for (place, wire) in exchange.wires.enumerated() where !wire.isOver || wire.sink == .open {
            key.add(place)
            key.add(wire.head?.rawValue ?? -4)
            var flags = 0
            for flag in [
                wire.isPassed, wire.isHanded, wire.isStarted, wire.isOver, wire.isLetGo, wire.isStopped,
                wire.isCancelled,
                wire.isDraining, wire.isStreaming, wire.isPaused, wire.isHeldBack,
            ] { flags = flags * 2 + (flag ? 1 : 0) }
            key.add(flags)
            key.add(wire.origin)
            key.add(wire.parts - wire.partsKept)
            key.add(wire.isTooLong && !wire.isCancelled)
            key.add(wire.drainNumber)
            key.add(wire.sink.hashValue)
        }
    }

    private func describe(_ operation: Operation, to key: inout ModelKey) {
        switch operation {
        case .setDeadline(let index, let number, let instant):
            key.add(21)
            key.add(index)
            key.add(number == .max ? -1 : exchanges[index].sut.machine.clock.lastChange - number)
            key.add(instant)
        case .removeDeadline(let index, let number):
            key.add(22)
            key.add(index)
            key.add(number == .max ? -1 : exchanges[index].sut.machine.clock.lastChange - number)
        case .rejected(let version):
            key.add(23)
            key.add(version == self.version)
        case .accepted(let version, let index, let number):
            key.add(24)
            key.add(version == self.version)
            key.add(index)
            key.add(number)
        case .event(let index, .slotGranted(_, let isSigned, let version, let isUnproven)):
            key.add(25)
            key.add(isUnproven)
            key.add(index)
            key.add(isSigned)
            key.add(version == self.version)
        default:
            key.add(operation.hashValue)
        }
    }
}
