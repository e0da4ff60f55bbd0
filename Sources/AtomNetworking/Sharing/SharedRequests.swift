/// Which requests share an exchange, as a pure value.
///
/// Each method is an event: a caller asks, a caller cancels, an exchange has ended. It returns what has to be done, and
/// an event that comes too late changes nothing. The callers and the exchanges are numbers here; ``RequestSharing``
/// knows what they stand for.
///
/// An exchange can be joined from the moment at which its first caller asks until its outcome is known or its last
/// caller cancels. From then on its key is free, so nobody joins an exchange that has ended or is being cancelled. The
/// first caller can't cancel before its exchange has been started, since it has nothing to cancel until then.
struct SharedRequests<Key: Hashable & Sendable>: Hashable, Sendable {
    /// What a caller needs for cancelling.
    struct Ticket: Hashable, Sendable {
        let exchange: Int
        /// Grows with each caller.
        let caller: Int
    }

    /// What follows when a caller cancels.
    enum Cancellation: Hashable, Sendable {
        /// Nothing: the caller has been told, or is about to be.
        case nothing
        /// Tell this caller; the exchange goes on for others.
        case leaves
        /// Cancel the exchange, whose outcome tells the caller.
        case cancelsExchange
    }

    private struct Running: Hashable, Sendable {
        let key: Key
        var callers: Set<Int>
        /// Whether the only caller left has cancelled.
        var isUnwanted = false
    }

    private var running: [Int: Running] = [:]
    /// The exchanges that can be joined.
    private var joinable: [Key: Int] = [:]
    private var lastExchange = 0
    private var lastCaller = 0

    /// A caller asks, and may have to start the exchange.
    mutating func asked(for key: Key) -> (ticket: Ticket, starts: Bool) {
        lastCaller += 1
        if let number = joinable[key] {
            running[number]?.callers.insert(lastCaller)
            return (Ticket(exchange: number, caller: lastCaller), false)
        }
        lastExchange += 1
        joinable[key] = lastExchange
        running[lastExchange] = Running(key: key, callers: [lastCaller])
        return (Ticket(exchange: lastExchange, caller: lastCaller), true)
    }

    /// The outcome of an exchange is known, and nobody has been told.
    mutating func closed(_ number: Int) {
        guard let exchange = running[number] else { return }
        forget(number, exchange.key)
    }

    private mutating func forget(_ number: Int, _ key: Key) {
        // Otherwise the key is another exchange's.
        if joinable[key] == number { joinable[key] = nil }
    }

    mutating func cancelled(_ ticket: Ticket) -> Cancellation {
        guard let exchange = running[ticket.exchange], exchange.callers.contains(ticket.caller), !exchange.isUnwanted
        else { return .nothing }
        guard exchange.callers.count == 1 else {
            running[ticket.exchange]?.callers.remove(ticket.caller)
            return .leaves
        }
        forget(ticket.exchange, exchange.key)
        running[ticket.exchange]?.isUnwanted = true
        return .cancelsExchange
    }

    /// An exchange has ended: returns the callers to tell, in the order in which they asked.
    mutating func ended(_ number: Int) -> [Int] {
        guard let exchange = running.removeValue(forKey: number) else { return [] }
        forget(number, exchange.key)
        return exchange.callers.sorted()
    }

    func isRunning(_ number: Int) -> Bool { running[number] != nil }

    /// How many exchanges are running, and how many of them can be joined.
    var counts: (running: Int, joinable: Int) { (running.count, joinable.count) }
}
