import Foundation

/// The response of a stream, between the transport and its reader.
///
/// What the reader has not taken yet stays here: up to ``highWater`` bytes in memory. Then the transport is asked to
/// hold the rest back. What a transport sends that can't do that goes into a temporary file.
///
/// One task at a time reads.
final class StreamedResponse: ResponseDestination {
    /// With so many bytes the transport is paused.
    static let highWater = 256 << 10
    /// With so many it goes on.
    static let lowWater = 64 << 10
    /// With so many the rest goes into a file: a paused transport may still deliver what it has received.
    static let maximumInMemory = 1 << 20

    private struct State {
        var head: AtomResponse?
        var parts = PartQueue()
        /// How many bytes are in the file, or on their way there: then all that follow go there too.
        var overflowing = 0
        /// How many of them are in the file.
        var overflowed = 0
        /// How the exchange ended.
        var end: Result<Void, AtomError>?
        var reader: CheckedContinuation<Void, Never>?
        var exchange: Exchange?
        /// Whether nobody reads any more.
        var isDropped = false
        /// The exchange, as long as the session has to tell it of a sign-out.
        var entered: Exchange?
        /// Whether whoever's stream it is has signed out: nothing more may be read.
        var isRevoked = false
        /// Ends the pause before the next connection.
        var rest: FirstValue<Void>?
        /// The next connection, which the session knows when it has a head.
        weak var next: StreamedResponse?
        /// Whose stream it is, as far as that is known before its head: by the session that signs it, or by its cookies.
        var tenure: Tenure?
        /// Whether an attempt had cookies.
        var hadCookies = false
        /// When the head arrived.
        var openedAt: MonotonicInstant?
        /// From the head to the end.
        var lifetime = Duration.zero

        // The transport is paused and resumed outside the lock, by one thread at a time, so that the last wish counts.
        var attempt: AttemptOnWire?
        var wantsPause = false
        var isPaused = false
        var isChangingPause = false
    }

    private let state: Guarded<State>
    /// For the sink and the reader alone: its disk may stall.
    private let overflow = Guarded<OverflowFile?>(nil)
    private let session: SessionActor?
    private let time: any TimeSource
    private let isContinued: Bool
    private let fields: [HeaderItem]

    /// - Parameters:
    ///   - session: What signs the request, if anything.
    ///   - last: The connection after which the stream goes on; `nil` for a new one.
    ///   - fields: The SDK's own header fields of the request.
    init(
        _ session: SessionActor?, after last: StreamedResponse?, by time: any TimeSource, fields: [HeaderItem]
    ) {
        self.session = session
        self.time = time
        self.fields = fields
        let tenure = last?.tenure
        isContinued = tenure != nil
        state = Guarded(
            State(tenure: tenure ?? session?.tenure, hadCookies: tenure?.isKnownByCookies ?? false))
    }

    // MARK: The exchange's side

    func willSend(_ attempt: Attempt, by pass: Pass, cookie: String?) -> [HeaderItem]? {
        state.withLock { state in
            // A takeover before the first request was signed doesn't matter, but what another origin sends is for whom
            // the first one has sent there.
            if !isContinued, !attempt.hasLeftOrigin, pass.tokenNumber != nil { state.tenure = pass.tenure }
            // Also before a redirect to an origin that gets none.
            if cookie != nil { state.hadCookies = true }
        }
        return fields
    }

    func takes(_ statusCode: Int, isAcceptable: Bool) -> Bool { isAcceptable }

    var asksAgain: Bool { false }

    func sink(for head: AtomResponse, of attempt: AttemptOnWire) -> any ResponseSink {
        let now = time.now
        let reader = state.withLock { state in
            state.head = head
            state.openedAt = now
            if session == nil { state.tenure = attempt.tenure.known(byCookies: state.hadCookies) }
            if session != nil, !state.isDropped { state.entered = attempt.exchange }
            // The exchange may have been cancelled in the meantime.
            if state.end == nil { state.attempt = attempt }
            return state.reader.take()
        }
        if let session {
            if !session.gate.enters(attempt.exchange) { attempt.exchange.refused(.signedOut(delivery: .answered)) }
            // Nobody may read any more by now.
            if state.withLock({ $0.isDropped }) { session.gate.leaves(attempt.exchange) }
        }
        reader?.resume()
        return Sink(stream: self)
    }

    func revoke() -> Bool {
        let (isOpen, rest, next) = state.withLock { state in
            state.isRevoked = state.openedAt != nil || isContinued
            return (state.isRevoked, state.rest.take(), state.next)
        }
        rest?.settle(())
        next?.refuse()
        return isOpen
    }

    /// The stream goes on with another connection, unless whoever's it is has signed out.
    func goesOn(with next: StreamedResponse) {
        let isRevoked = state.withLock { state in
            state.next = next
            return state.isRevoked
        }
        if isRevoked { next.refuse() }
    }

    private func refuse() { state.withLock { $0.exchange }?.refused(.signedOut(delivery: .answered)) }

    private struct Sink: ResponseSink {
        let stream: StreamedResponse

        func receive(_ part: Data) throws(AtomError) { try stream.add(part) }
        func finish() -> Data { Data() }
        func abandon() {}
    }

    private func add(_ part: Data) throws(AtomError) {
        let overflows = state.withLock { state in
            guard !state.isDropped else { return false }
            let overflows = state.overflowing > 0 || state.parts.size + part.count > Self.maximumInMemory
            if overflows { state.overflowing += part.count } else { state.parts.append(part) }
            if overflows || state.parts.size > Self.highWater { state.wantsPause = true }
            return overflows
        }
        if overflows {
            try overflow.withLock { file throws(AtomError) in
                if file == nil { file = try OverflowFile() }
                try file?.append(part)
            }
        }
        let (reader, isUseless) = state.withLock { state in
            if overflows { state.overflowed += part.count }
            return (state.reader.take(), overflows && state.isDropped)
        }
        if isUseless { overflow.withLock { $0 = nil } }
        reader?.resume()
        changePause()
    }

    /// The exchange has started.
    func started(_ exchange: Exchange) {
        let isUnwanted = state.withLock { state in
            if state.end == nil { state.exchange = exchange }
            return state.isDropped
        }
        if isUnwanted { exchange.cancel() }
    }

    /// The exchange has ended.
    func ended(_ outcome: Result<AtomResponse, AtomError>) {
        let now = time.now
        let (reader, exchange, attempt) = state.withLock { state in
            state.end = outcome.map { _ in }
            state.lifetime = state.openedAt?.duration(to: now) ?? .zero
            if case .success(let response) = outcome, state.head == nil {
                // A status that the endpoint accepts, and that is no stream.
                state.head = response.replacing(data: Data())
                if !response.data.isEmpty { state.parts.append(response.data) }
            }
            return (state.reader.take(), state.exchange.take(), state.attempt.take())
        }
        reader?.resume()
        withExtendedLifetime((exchange, attempt)) {}
    }

    private func changePause() {
        while let (attempt, pauses) = nextChange() {
            let isDone = attempt.exchange.setPaused(pauses, attempt) || !pauses
            state.withLock { state in
                state.isChangingPause = false
                if !isDone { (state.isPaused, state.wantsPause) = (false, false) }
            }
        }
    }

    private func nextChange() -> (AttemptOnWire, Bool)? {
        state.withLock { state in
            guard let attempt = state.attempt, !state.isChangingPause, state.wantsPause != state.isPaused
            else { return nil }
            state.isChangingPause = true
            state.isPaused = state.wantsPause
            return (attempt, state.wantsPause)
        }
    }

    // MARK: The reader's side

    /// Waits for the head.
    func head(isolation actor: isolated (any Actor)? = #isolation) async throws(AtomError) -> AtomResponse {
        while true {
            let known = state.withLock { state -> Result<AtomResponse, AtomError>? in
                if let head = state.head { return .success(head) }
                return switch state.end {
                case .failure(let error): .failure(error)
                case .success: .failure(.unexpected)
                case nil: nil
                }
            }
            if let known { return try known.get() }
            await wait { $0.head != nil || $0.end != nil }
        }
    }

    var tenure: Tenure? { state.withLock { $0.tenure } }

    /// How far the request got.
    var delivery: AtomError.Delivery {
        let (isOpen, end, exchange) = state.withLock { ($0.head != nil, $0.end, $0.exchange) }
        if isOpen { return .answered }
        if case .failure(let error)? = end { return error.delivery }
        return exchange?.delivery ?? .maybeSent
    }

    /// Whether another request may go on with it: nobody has signed in or out, or taken the session over.
    var mayGoOn: Bool {
        guard let session, let tenure else { return true }
        return session.tenure.isUnbroken(since: tenure)
    }

    /// Whether the response lasted for this time.
    func hasLasted(_ duration: Duration) -> Bool { state.withLock { $0.lifetime >= duration } }

    /// Waits for the next part, which isn't empty; `nil` at the end.
    ///
    /// Cancelling the task closes the exchange.
    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AtomError) -> Data? {
        do throws(AtomError) {
            while true {
                try check()
                let known = try takePart()
                changePause()
                switch known {
                case .part(let part): return part
                case .end: return nil
                case .later: await wait { $0.end != nil || !$0.parts.isEmpty || $0.overflowed > 0 || $0.isDropped }
                }
            }
        } catch {
            throw naming(error)
        }
    }

    /// Ends the reading if the reader has been cancelled, or has signed out.
    ///
    /// Asked before each part, line, value or event, also while there is enough to read.
    func check() throws(AtomError) {
        let (isRevoked, tenure) = state.withLock { ($0.isRevoked, $0.tenure) }
        let isOver = isRevoked || tenure.map { session?.mayRead($0) == false } ?? false
        guard isOver || Task.isCancelled else { return }
        drop()
        throw naming(isOver ? .authentication(.signedOut(delivery: .answered)) : .cancelled(.answered))
    }

    /// Waits for so long, or until the reader is cancelled or signs out.
    func rest(for duration: Duration, isolation actor: isolated (any Actor)? = #isolation) async {
        let end = FirstValue<Void>()
        let isRevoked = state.withLock { state in
            state.rest = end
            return state.isRevoked
        }
        if !isRevoked { await time.sleep(for: duration, until: end) }
    }

    /// The error with the stream's request.
    func naming(_ error: AtomError) -> AtomError {
        state.withLock { $0.head }.map { error.about($0, until: time.now) } ?? error
    }

    private enum Part {
        case part(Data)
        case end
        case later
    }

    private func takePart() throws(AtomError) -> Part {
        let known = try state.withLock { state throws(AtomError) -> Part? in
            if let part = state.parts.popFirst() {
                if state.parts.size <= Self.lowWater, state.overflowing == 0 { state.wantsPause = false }
                return .part(part)
            }
            if state.isDropped { throw .cancelled(.answered) }
            if state.overflowed > 0 { return nil }
            switch state.end {
            case .success: return .end
            case .failure(let error): throw error
            case nil: return .later
            }
        }
        if let known { return known }
        guard let part = try overflow.withLock({ file throws(AtomError) in try file?.read() }) else { return .later }
        state.withLock { state in
            state.overflowing -= part.count
            state.overflowed -= part.count
            // All has been read: the next parts stay in memory again.
            if state.overflowing == 0 { state.wantsPause = false }
        }
        return .part(part)
    }

    /// Waits until the condition may hold.
    private func wait(
        until condition: @Sendable (borrowing State) -> Bool, isolation actor: isolated (any Actor)? = #isolation
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let holds = state.withLock { state in
                    let holds = condition(state)
                    if !holds { state.reader = reader }
                    return holds
                }
                if holds { reader.resume() }
            }
        } onCancel: {
            close()
        }
    }

    /// Nobody reads any more: the exchange is closed.
    func drop() {
        let (entered, isWriting, parts) = state.withLock { state in
            state.isDropped = true
            defer { state.parts = PartQueue() }
            return (state.entered.take(), state.overflowing > state.overflowed, state.parts)
        }
        withExtendedLifetime(parts) {}
        if !isWriting { overflow.withLock { $0 = nil } }
        if let entered { session?.gate.leaves(entered) }
        close()
    }

    private func close() {
        state.withLock { $0.exchange }?.cancel()
    }
}

/// Parts in order, with their size.
private struct PartQueue {
    private var parts = TicketQueue<Data>()
    private(set) var size = 0

    var isEmpty: Bool { parts.isEmpty }

    mutating func append(_ part: Data) {
        parts.enqueue(part, ticket: parts.issueTicket())
        size += part.count
    }

    mutating func popFirst() -> Data? {
        let part = parts.dequeue()
        size -= part?.count ?? 0
        return part
    }
}
