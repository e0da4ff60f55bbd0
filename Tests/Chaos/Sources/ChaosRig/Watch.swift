import AtomNetworking

/// A request that this process has made.
final class Ticket: Sendable {
    @TaskLocal static var current: Ticket?

    let name: RequestName
    private let door: Door
    /// Whether it belongs to whoever is signed in when it is admitted; what isn't signed
    /// goes with the cookies of whoever is signed in when it is sent.
    private let isSigned: Bool
    private let firstEra: Int
    private let settled = Locked<Set<Int>?>(nil)

    init(_ name: RequestName, _ door: Door, isSigned: Bool) {
        self.name = name
        self.isSigned = isSigned
        self.door = door
        firstEra = door.era
    }

    /// Whether it was sent again: then an earlier attempt may come late to the server.
    let isSentAgain = Locked(false)

    /// It has been admitted by now: it is nobody's who comes later.
    func settle() {
        guard isSigned else { return }
        settled.with { if $0 == nil { $0 = door.sessions(since: firstEra) } }
    }

    /// Whose it may be.
    var allowed: Set<Int> { settled.value ?? door.sessions(since: firstEra) }
}

/// Hears what happens to the requests of a service.
final class Watch: RequestObserver {
    private let store: String
    private let tickets = Locked<[UInt64: Ticket?]>([:])

    init(_ store: String) { self.store = store }

    /// The requests that have not heard their last event.
    var open: Int { tickets.with { $0.count } }

    func observe(_ event: RequestEvent) {
        guard let number = event.requestID else { return }
        if event.purpose != .service {
            if event.purpose == .token, case .finished(let summary) = event.kind {
                if summary.failure != nil || summary.statusCode.map({ $0 >= 500 }) != false {
                    Report.line("R", store, "\(MonotonicInstant.now.nanoseconds)")
                }
            }
            return
        }
        switch event.kind {
        case .described: tickets.with { $0[number] = .some(Ticket.current) }
        case .queued, .admitted, .sent, .joined, .answered: tickets.with { $0[number] }??.settle()
        case .retried(_, let delivery, _):
            tickets.with { $0[number] }??.isSentAgain.with { $0 = true }
            if delivery == .notSent { Report.count("attempts that were not processed, and made again") }
        case .finished:
            let ticket = tickets.with { $0.removeValue(forKey: number) }
            if ticket == nil { Report.violation("request \(number) of \(store) has finished twice") }
            ticket??.settle()
        default: break
        }
    }
}
