import Foundation

/// What the server has seen, and the waiters for it.
///
/// All its state is under one lock.
final class Ledger: Sendable {
    struct Counts: Sendable {
        var requests = 0
        var connections = 0
        var openConnections = 0
        var disconnects = 0
        var incomplete = 0
        var malformed = 0
        var inProgress = 0
        var mostAtOnce = 0
    }

    private struct Line {
        let socket: Socket
        var isBusy = false
        var closesWhenIdle = false
    }

    private struct Waiter {
        let ticket: Int
        let isSatisfied: @Sendable (Counts) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var counts = Counts()
        var requests: [LoopbackServer.Request] = []
        var malformedReasons: [String] = []
        var lines: [Int: Line] = [:]
        var waiters: [Waiter] = []
        var nextTicket = 0
        var isStopped = false
        var hasEnded = false

        mutating func takeSatisfiedWaiters() -> [Waiter] {
            guard !waiters.isEmpty else { return [] }
            let satisfied = waiters.filter { $0.isSatisfied(counts) }
            if !satisfied.isEmpty { waiters.removeAll { $0.isSatisfied(counts) } }
            return satisfied
        }
    }

    private let state = Guarded(State())

    var counts: Counts { state.withLock { $0.counts } }
    var requests: [LoopbackServer.Request] { state.withLock { $0.requests } }
    var malformedReasons: [String] { state.withLock { $0.malformedReasons } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Waiters are resumed after the lock is released, never inside.
    private func update<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, satisfied) = state.withLock { state in
            let result = change(&state)
            return (result, state.takeSatisfiedWaiters())
        }
        for waiter in satisfied { waiter.continuation.resume(returning: true) }
        return result
    }
}

// MARK: - Reports of connections

extension Ledger {
    /// Adds a connection and returns its number, or `nil` if the server has been stopped.
    func connectionAccepted(_ socket: Socket) -> Int? {
        update { state in
            guard !state.isStopped else { return nil }
            let number = state.counts.connections
            state.lines[number] = Line(socket: socket)
            state.counts.connections += 1
            state.counts.openConnections += 1
            return number
        }
    }

    /// After this only the connection's thread uses the socket, so that it can be closed.
    func connectionReleased(_ number: Int) {
        state.withLock { _ = $0.lines.removeValue(forKey: number) }
    }

    func connectionClosed() {
        update { $0.counts.openConnections -= 1 }
    }

    /// Adds a request and numbers it.
    func requestReceived(_ request: LoopbackServer.Request, on number: Int) -> LoopbackServer.Request {
        update { state in
            var request = request
            request.connection = number
            request.receivedAt = state.requests.count
            state.requests.append(request)
            state.lines[number]?.isBusy = true
            state.counts.requests += 1
            state.counts.inProgress += 1
            state.counts.mostAtOnce = max(state.counts.mostAtOnce, state.counts.inProgress)
            return request
        }
    }

    /// The last bytes of a response are about to be sent, or never will be.
    func answerEnding() {
        update { $0.counts.inProgress -= 1 }
    }

    /// The response is complete.
    ///
    /// Returns whether to continue reading.
    func becameIdle(_ number: Int) -> Bool {
        state.withLock { state in
            state.lines[number]?.isBusy = false
            return state.lines[number]?.closesWhenIdle == false
        }
    }

    /// The client disconnected, unless the server closed the connection.
    func clientLeft(_ number: Int, duringRequest: Bool) {
        update { state in
            let line = state.lines[number]
            if state.isStopped || (line?.closesWhenIdle == true && line?.isBusy == false) { return }
            state.counts.disconnects += 1
            if duringRequest { state.counts.incomplete += 1 }
        }
    }

    func malformedRequest(_ reason: String) {
        update { state in
            state.counts.malformed += 1
            state.malformedReasons.append(reason)
        }
    }

    /// Closes idle connections now and the others after their responses.
    func closeConnections() {
        state.withLock { state in
            for number in Array(state.lines.keys) {
                state.lines[number]?.closesWhenIdle = true
                if state.lines[number]?.isBusy == false { state.lines[number]?.socket.shutDown() }
            }
        }
    }

    /// Closes every connection at once and rejects new ones.
    func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            for line in state.lines.values { line.socket.shutDown() }
        }
    }

    /// Ends all waits without success, because nothing more will happen.
    func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }
}

// MARK: - Waiting

extension Ledger {
    /// Suspends until the counts satisfy the condition.
    ///
    /// Returns `false` if the time passes, the task is cancelled or the server stops first.
    func wait(seconds: Double, until isSatisfied: @escaping @Sendable (Counts) -> Bool) async -> Bool {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let verdict: Bool? = state.withLock { state in
                    if isSatisfied(state.counts) { return true }
                    if state.hasEnded || Task.isCancelled { return false }
                    state.waiters.append(
                        Waiter(ticket: ticket, isSatisfied: isSatisfied, continuation: continuation))
                    return nil
                }
                if let verdict {
                    continuation.resume(returning: verdict)
                } else {
                    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
                        self?.giveUp(ticket)
                    }
                }
            }
        } onCancel: {
            giveUp(ticket)
        }
    }

    private func giveUp(_ ticket: Int) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }
}
