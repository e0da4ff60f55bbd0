@testable import AtomNetworking

/// A few callers, who ask for two things in two sessions, and the exchanges
/// that they share.
///
/// The world keeps its own books of who has joined what, and compares them with
/// what the value says.
struct SharingWorld: ModelledWorld {
    struct Violation: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    enum Step: Hashable, Sendable {
        case ask(Int)
        /// The start of an exchange returns, and its caller can cancel.
        case startReturns(Int)
        case cancel(Int)
        /// The outcome of an exchange is known, also inside its start, or because
        /// it was cancelled.
        case close(Int)
        /// Its callers are told.
        case end(Int)
        case signIn
    }

    struct SharedKey: Hashable, Sendable {
        var thing: Int
        var generation: Int
    }

    struct Caller: Hashable {
        let thing: Int
        var ticket: SharedRequests<SharedKey>.Ticket?
        /// Its place among all who have asked.
        var place = 0
        var hasCancelled = false
        /// Whether it starts the exchange, and the start has not returned.
        var isStarting = false
        var timesTold = 0

        var isWaiting: Bool { ticket != nil && timesTold == 0 }
    }

    struct Exchange: Hashable {
        let key: SharedKey
        var isStarting = true
        var cancellations = 0
        /// Whether it can be joined.
        var isOpen = true
        var isClosed = false
        var hasEnded = false
    }

    struct Key: Hashable {
        let requests: SharedRequests<SharedKey>
        let callers: [Caller]
        let exchanges: [Exchange]
        let generation: Int
        let lateCancellationsLeft: Int
    }

    let bug: PlantedSharingBug?
    private(set) var requests = SharedRequests<SharedKey>()
    private(set) var callers: [Caller]
    /// The exchange with the number 1 comes first.
    private(set) var exchanges: [Exchange] = []
    private(set) var generation = 0
    private var asked = 0
    /// How often callers cancel who have been told, or have cancelled before.
    private var lateCancellationsLeft = 1
    private let lastGeneration: Int

    /// - Parameter things: What each caller asks for.
    init(things: [Int], signIns: Int, bug: PlantedSharingBug? = nil) {
        callers = things.map { Caller(thing: $0) }
        lastGeneration = signIns
        self.bug = bug
    }

    var key: Key {
        Key(
            requests: requests, callers: callers, exchanges: exchanges, generation: generation,
            lateCancellationsLeft: lateCancellationsLeft)
    }

    var steps: [Step] {
        var steps: [Step] = []
        for (number, caller) in callers.enumerated() {
            if caller.ticket == nil {
                // Those who ask for the same differ only in their numbers, so they come in order.
                let isNext = !callers[..<number].contains { $0.ticket == nil && $0.thing == caller.thing }
                if isNext { steps.append(.ask(number)) }
            } else if !caller.isStarting, caller.isWaiting && !caller.hasCancelled || lateCancellationsLeft > 0 {
                steps.append(.cancel(number))
            }
        }
        for (index, exchange) in exchanges.enumerated() {
            if exchange.isStarting { steps.append(.startReturns(index + 1)) }
            if !exchange.isClosed { steps.append(.close(index + 1)) }
            if exchange.isClosed, !exchange.hasEnded { steps.append(.end(index + 1)) }
        }
        if generation < lastGeneration { steps.append(.signIn) }
        return steps
    }

    var isQuiet: Bool {
        !callers.contains { $0.isWaiting || $0.isStarting } && !exchanges.contains { !$0.hasEnded || $0.isStarting }
    }

    func isFair(_ step: Step) -> Bool {
        switch step {
        case .startReturns, .close, .end: true
        case .ask, .cancel, .signIn: false
        }
    }

    mutating func take(_ step: Step) throws(Violation) {
        switch step {
        case .ask(let number): try ask(number)
        case .startReturns(let number):
            exchanges[number - 1].isStarting = false
            for index in callers.indices where callers[index].ticket?.exchange == number {
                callers[index].isStarting = false
            }
        case .cancel(let number): try cancel(number)
        case .close(let number):
            exchanges[number - 1].isClosed = true
            exchanges[number - 1].isOpen = false
            if bug != .outcomeUnreported { requests.closed(number) }
        case .end(let number): try end(number)
        case .signIn: generation += 1
        }
        try check()
    }

    // MARK: The steps

    /// Those who have joined an exchange and still want it.
    private func wanting(_ number: Int) -> [Int] {
        callers.indices.filter {
            callers[$0].ticket?.exchange == number && callers[$0].isWaiting && !callers[$0].hasCancelled
        }
    }

    private mutating func ask(_ number: Int) throws(Violation) {
        let key = SharedKey(thing: callers[number].thing, generation: generation)
        var said = key
        if bug == .generationIgnored { said.generation = 0 }
        if bug == .thingIgnored { said.thing = 0 }
        if bug == .neverShared { said.thing = 10 + asked }
        let (ticket, starts) = requests.asked(for: said)
        let shareable = exchanges.indices.first { exchanges[$0].key == key && exchanges[$0].isOpen }
        asked += 1
        callers[number].ticket = ticket
        callers[number].place = asked
        guard starts else {
            guard exchanges.indices.contains(ticket.exchange - 1) else { throw Violation("nobody has started it") }
            let exchange = exchanges[ticket.exchange - 1]
            guard !exchange.hasEnded, !exchange.isClosed else { throw Violation("an ended exchange was joined") }
            guard exchange.cancellations == 0 else { throw Violation("a cancelled exchange was joined") }
            guard exchange.key.thing == key.thing else { throw Violation("an exchange for something else was joined") }
            guard exchange.key.generation == key.generation else { throw Violation("another session was joined") }
            return
        }
        guard shareable == nil else { throw Violation("the same was in flight, and was not shared") }
        exchanges.append(Exchange(key: key))
        guard ticket.exchange == exchanges.count else { throw Violation("the number of an exchange is not new") }
        callers[number].isStarting = true
    }

    private mutating func cancel(_ number: Int) throws(Violation) {
        guard var ticket = callers[number].ticket else { return }
        let wasWaiting = callers[number].isWaiting
        let hadCancelled = callers[number].hasCancelled
        if !wasWaiting || hadCancelled { lateCancellationsLeft -= 1 }
        callers[number].hasCancelled = true
        let others = wanting(ticket.exchange)
        if others.isEmpty { exchanges[ticket.exchange - 1].isOpen = false }
        if bug == .anotherTicket, let other = others.first { ticket = callers[other].ticket ?? ticket }
        if bug == .departureUnreported, !others.isEmpty {
            return tell(number)
        }
        if bug == .lastDepartureUnreported, others.isEmpty, wasWaiting {
            exchanges[ticket.exchange - 1].cancellations += 1
            return
        }
        var answer = requests.cancelled(ticket)
        if bug == .lateCancellationCounts, !wasWaiting { answer = .leaves }
        if bug == .firstDepartureCancels, answer == .leaves { exchanges[ticket.exchange - 1].cancellations += 1 }
        switch answer {
        case .nothing:
            guard !wasWaiting || hadCancelled else { throw Violation("a cancellation changed nothing") }
        case .leaves:
            tell(number)
            guard bug == .lateCancellationCounts || wasWaiting else { throw Violation("it had been told") }
            guard !wasWaiting || !others.isEmpty else { throw Violation("the last caller left an exchange alone") }
            if bug == .departureUntold { callers[number].timesTold -= 1 }
        case .cancelsExchange:
            guard wasWaiting, !hadCancelled, others.isEmpty else {
                throw Violation("an exchange was cancelled that others want, or again")
            }
            if bug != .neverCancelled { exchanges[ticket.exchange - 1].cancellations += 1 }
            if bug == .cancelledTwice { exchanges[ticket.exchange - 1].cancellations += 1 }
        }
    }

    private mutating func end(_ number: Int) throws(Violation) {
        exchanges[number - 1].hasEnded = true
        if bug == .endInsideStartLost, exchanges[number - 1].isStarting { return }
        let expected = callers.indices.filter { callers[$0].ticket?.exchange == number && callers[$0].isWaiting }
            .sorted { callers[$0].place < callers[$1].place }
        var told = requests.ended(number)
        if bug == .oneLost, told.count > 1 { told.removeLast() }
        if bug == .wrongOrder { told.reverse() }
        if bug == .endReportedTwice { told += told }
        let numbers = told.compactMap { caller in callers.firstIndex { $0.ticket?.caller == caller } }
        for caller in numbers { tell(caller) }
        guard numbers == expected || bug == .endReportedTwice else {
            throw Violation("\(numbers) were told of an end that concerned \(expected)")
        }
    }

    private mutating func tell(_ number: Int) { callers[number].timesTold += 1 }

    // MARK: What always holds

    private func check() throws(Violation) {
        for (number, caller) in callers.enumerated() where caller.timesTold > 1 {
            throw Violation("caller \(number) was told twice")
        }
        for (index, exchange) in exchanges.enumerated() where !exchange.hasEnded {
            let isWanted = !wanting(index + 1).isEmpty
            guard exchange.cancellations == (isWanted ? 0 : 1) else {
                throw Violation(
                    "exchange \(index + 1), which \(isWanted ? "somebody" : "nobody") wants, was cancelled "
                        + "\(exchange.cancellations) times")
            }
        }
        let running = exchanges.count { !$0.hasEnded }
        let joinable = exchanges.count { $0.isOpen }
        guard requests.counts == (running, joinable) else {
            throw Violation("\(running) are running, \(joinable) can be joined, and \(requests.counts) are known")
        }
    }
}

/// What the value is given wrong, or is misunderstood, to see that the model
/// finds it.
enum PlantedSharingBug: String, CaseIterable, Sendable {
    case generationIgnored
    case thingIgnored
    case neverShared
    case anotherTicket
    case departureUnreported
    case departureUntold
    case lastDepartureUnreported
    case lateCancellationCounts
    case firstDepartureCancels
    case neverCancelled
    case cancelledTwice
    case endInsideStartLost
    case endReportedTwice
    case outcomeUnreported
    case oneLost
    case wrongOrder
}
