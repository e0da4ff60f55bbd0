@testable import AtomNetworking

/// Two exchanges over a slot or two, two origins, one session and a transport,
/// with every thread at its own pace.
///
/// What a machine asks for is a row of small operations, each of which takes
/// at most one lock; between two of them any other thread may run.
struct ExchangeWorld: ModelledWorld {
    struct Violation: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    typealias Event = ModelledExchange.Event

    /// One thing that a thread does.
    enum Operation: Hashable, Sendable {
        case event(Int, Event)
        case setDeadline(Int, number: Int, at: Int)
        case removeDeadline(Int, number: Int)
        case askSession(Int)
        case rejected(version: Int)
        case accepted(version: Int, Int, Int)
        case keepCookies(Int, Int)
        case note(Int)
        case leaveSession(Int)
        case notePause(Int)
        case leavePause(Int)
        case leave(Int)
        case tellCaller(Int)
        case closeSharing
        case endSharing
        case watchNetwork(Int)
        case lookAgain(Int)
        case pay(Int, Int?)
        case refund(Int, Int)
        case enterLane(Int, place: Int?)
        case leaveLane(Int, place: Int)
        /// Of an origin, of an attempt's, or of where the exchange is by then.
        case releaseSlot(Int, slotOf: Int?, Int?)
        case sign(Int, place: Int)
        case askWithSlot(Int, place: Int, origin: Int)
        case started(Int, Int)
        case hand(Int, Int)
        case tell(Int)
        case deliver(Int, Int)
        case deliverPart(Int, Int)
        case keepBody(Int, Int)
        case abandon(Int, Int)
        case stop(Int, Int)
        case limitRest(Int, Int, order: Int)
        /// For what had arrived at this time.
        case look(Int, at: Int)
        case holdNotice
        case releaseNotice
        case announce
        case release
    }

    struct Thread: Hashable {
        var operations: [Operation]
        /// The attempt whose event it brings: its next one waits.
        var wire: [Int] = []
    }

    /// An attempt that the transport has.
    struct Wire: Hashable {
        enum Sink: Hashable { case open, finished, abandoned }

        var origin = 0
        /// Of the token that signs it.
        var version: Int?
        var isUnproven = false
        var head: ExchangeModelSettings.Head?
        /// Whether the head counted; then its cookies have to be kept, and its token accepted or rejected, once.
        var isJudged = false
        var cookiesKept = 0
        var acceptances = 0
        /// How many parts have come, and how many the sink has got.
        var parts = 0
        var partsKept = 0
        var openings = 0
        /// Whether more has come than is read of a response that nobody wants.
        var isTooLong = false
        /// Whether the machine went on without its answer.
        var isPassed = false
        /// Whether the transport has been called.
        var isHanded = false
        /// Whether that has returned.
        var isStarted = false
        var isOver = false
        var isLetGo = false
        /// Whether it is to be stopped.
        var isStopped = false
        /// Whether the transport has been told to stop it.
        var isCancelled = false
        /// Whether its rest is read, for a while.
        var isDraining = false
        var drainNumber = 0
        /// Whether its reader has its own pace, without a slot.
        var isStreaming = false
        /// Whether the exchange knows that the reader doesn't keep up.
        var isPaused = false
        /// The same, as the reader's thread has decided it.
        var isHeldBack = false
        var sink = Sink.open
    }

    struct Exchange {
        var sut: ModelledExchange
        var wires: [Wire] = []
        /// The attempt whose events count: its place in `wires`.
        var wire: Int?
        var hasBegun = false
        var tellings = 0
        var retries = 0
        /// What the observers were told of further attempts.
        var notes = 0
        /// How often a destination has asked for another response.
        var restarts = 0
        /// How often the transport is still to be asked for what has arrived.
        var looksOwed = 0
        var deadline: Int?
        var deadlineNumber = 0
        /// When the clock rings.
        var alarm = 0
        var isSilenceWatched: Bool {
            // The clock that rings at the end while a disk is slow is set again.
            alarm < ModelledExchange.end || alarm == ModelledExchange.end + ModelledExchange.silence
        }
        /// The sign-in that it belongs to.
        var generation: Int?
        /// The token that the server has rejected.
        var rejectedVersion: Int?
        /// What its retries have cost at each origin that was not given back.
        var paid = [0, 0]
    }

    let settings: ExchangeModelSettings
    let bug: PlantedExchangeBug?
    var exchanges: [Exchange]
    var threads: [Thread] = []
    // The session.
    var version = 1
    var isUnproven = true
    var isGood = true
    var isOver = false
    var isRefreshing = false
    var queue: [Int] = []
    /// Counts sign-ins.
    var generation = 0
    /// The requests that it knows to pause.
    var pausing: Set<Int> = []
    /// The callers that share the first exchange.
    var sharing = SharedRequests<Int>()
    var tickets: [SharedRequests<Int>.Ticket] = []
    /// How often each of them has been told.
    var told: [Int] = []
    /// Whether somebody came when the exchange could not be joined.
    var hasMissed = false
    /// The requests that wait for a network, with the attempt before.
    var network: [Int: Int] = [:]
    // The quotas of both origins.
    var spent = [0, 0]
    // Their lanes.
    var taken = [0, 0]
    var lanes: [[Int]] = [[], []]
    // What the app is told.
    var holders = 0
    var isNoticeHeld = false
    // What is left of each disturbance.
    var left: ExchangeModelSettings

    init(_ settings: ExchangeModelSettings, bug: PlantedExchangeBug? = nil) throws {
        self.settings = settings
        self.bug = bug
        left = settings
        exchanges = try settings.signed.indices.map { index in
            Exchange(
                sut: try ModelledExchange(
                    settings, isSigned: settings.signed[index], isStreamed: settings.streamed[index],
                    isIdempotent: settings.idempotent[index], bug: bug))
        }
    }

    var isQuiet: Bool {
        threads.isEmpty && exchanges.allSatisfy { $0.tellings == 1 && $0.wires.allSatisfy(\.isOver) }
    }

    func isSigned(_ index: Int) -> Bool { settings.signed[index] }

    /// Where the exchange's request goes by now.
    func origin(of index: Int) -> Int { exchanges[index].sut.isAtHome ? 0 : 1 }

    // MARK: What can happen

    enum Step: Hashable, CustomStringConvertible {
        case run(Int, Operation)
        case begin(Int)
        case cancel(Int)
        case join
        case leave(Int)
        case ring(Int, at: Int)
        case drained(Int, Int)
        case renewal(ExchangeModelSettings.Renewal)
        case die
        case signOut
        case head(Int, Int, ExchangeModelSettings.Head)
        case part(Int, Int, ExchangeModelSettings.Part)
        case finish(Int, Int)
        case lose(Int, Int)
        case loseOffline(Int, Int)
        case networkReturns(Int)
        case pause(Int, Int)
        case goOn(Int, Int)

        var description: String {
            switch self {
            case .run(let thread, let operation): "thread \(thread): \(operation)"
            case .begin(let index): "exchange \(index) begins"
            case .cancel(let index): "exchange \(index) is cancelled"
            case .join: "another caller asks for the same"
            case .leave(let caller): "caller \(caller) leaves"
            case .ring(let index, let instant): "exchange \(index): the clock rings at \(instant)"
            case .drained(let index, let number): "attempt \(index).\(number): the rest has taken too long"
            case .renewal(let renewal): "the refresh ends: \(renewal)"
            case .die: "the token dies"
            case .signOut: "the app signs out, and somebody else in"
            case .head(let index, let number, let head): "attempt \(index).\(number): \(head.rawValue)"
            case .part(let index, let number, let part): "attempt \(index).\(number): a \(part) part"
            case .finish(let index, let number): "attempt \(index).\(number): finished"
            case .lose(let index, let number): "attempt \(index).\(number): lost"
            case .loseOffline(let index, let number): "attempt \(index).\(number): there is no network"
            case .networkReturns(let index): "exchange \(index): there is a network"
            case .pause(let index, let number): "attempt \(index).\(number): its reader doesn't keep up"
            case .goOn(let index, let number): "attempt \(index).\(number): its reader goes on"
            }
        }
    }

    func isFair(_ step: Step) -> Bool {
        switch step {
        case .run, .renewal, .head, .finish, .begin, .drained, .goOn: true
        case .lose(let index, let number): exchanges[index].wires[number - 1].isCancelled
        case .ring(_, let instant): ModelledExchange.pauseEnds.contains(instant)
        case .networkReturns, .loseOffline: false
        case .cancel, .join, .leave, .die, .part, .pause, .signOut: false
        }
    }

    var steps: [Step] {
        var steps: [Step] = threads.enumerated().compactMap { index, thread in
            thread.operations.first.map { .run(index, $0) }
        }
        // Two threads at a time: what three can do wrong, two can.
        guard threads.count < 2 else { return steps }
        if isRefreshing, !threads.contains(where: { $0.operations.contains(.release) }) {
            steps += settings.renewals.map { .renewal($0) }
        }
        if left.deathsLeft > 0, isGood { steps.append(.die) }
        if left.signOutsLeft > 0, !isRefreshing, queue.isEmpty { steps.append(.signOut) }
        for (index, exchange) in exchanges.enumerated() {
            // In order: which of them is first makes no difference but to its name.
            if !exchange.hasBegun {
                if index == 0 || exchanges[index - 1].hasBegun || settings.signed[0] != settings.signed[1] {
                    steps.append(.begin(index))
                }
                continue
            }
            if index == 0, settings.callers > 1 {
                if tickets.count < settings.callers, !hasMissed { steps.append(.join) }
                if left.leavesLeft > 0 { steps += told.indices.filter { told[$0] == 0 }.map { .leave($0) } }
            } else if left.cancellationsLeft > 0, exchange.tellings == 0 {
                steps.append(.cancel(index))
            }
            if exchange.deadline != nil {
                if ModelledExchange.pauseEnds.contains(exchange.alarm) {
                    steps.append(.ring(index, at: exchange.alarm))
                }
                if left.expiriesLeft > 0 {
                    steps.append(.ring(index, at: ModelledExchange.end))
                    if exchange.isSilenceWatched { steps.append(.ring(index, at: ModelledExchange.silence)) }
                }
                if left.earlyRingsLeft > 0 { steps.append(.ring(index, at: 1)) }
            }
            if network[index] != nil { steps.append(.networkReturns(index)) }
            for (place, wire) in exchange.wires.enumerated() where wire.isHanded && !wire.isOver {
                steps += self.steps(of: wire, index, place + 1)
            }
        }
        return steps
    }

    private func steps(of wire: Wire, _ index: Int, _ number: Int) -> [Step] {
        var steps: [Step] = []
        if wire.isDraining { steps.append(.drained(index, number)) }
        // One thread at a time holds a body back and lets it go on.
        if exchanges[index].sut.isStreamed, wire.head == .ok,
            !threads.contains(where: { $0.wire == [index, number, 1] })
        {
            if wire.isHeldBack {
                steps.append(.goOn(index, number))
            } else if left.pausesLeft > 0 {
                steps.append(.pause(index, number))
            }
        }
        guard !threads.contains(where: { $0.wire == [index, number] }) else { return steps }
        if wire.isCancelled { return steps + [.lose(index, number)] }
        if wire.head == nil {
            for head in settings.heads
            where (!head.isRedirect || left.redirectsLeft > 0) && (!head.isBusy || left.busyLeft > 0) {
                // A 401 twice says nothing new of an exchange that is not signed.
                steps.append(.head(index, number, head))
            }
        } else {
            // Only a file asks for another response.
            let parts = settings.parts.filter { $0 != .ofAnotherFile || wire.isStreaming }
            if left.partsLeft > 0 { steps += parts.map { .part(index, number, $0) } }
            steps.append(.finish(index, number))
        }
        if left.failuresLeft > 0 { steps.append(.lose(index, number)) }
        if left.offlineLeft > 0, wire.head == nil { steps.append(.loseOffline(index, number)) }
        return steps
    }
}
