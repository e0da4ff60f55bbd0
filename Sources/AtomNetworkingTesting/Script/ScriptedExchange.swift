import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange of a ``ScriptedTransport``, which a test can answer by hand.
///
/// With ``ScriptedResponse/held`` a request waits for the test:
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// struct Ping: Requestable {
///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
/// }
///
/// let (atom, wire) = Atom.scripted(.held)
/// let service = atom.enqueue(Ping())
/// let task = Task { try await service.resume() }
/// let exchange = await wire.exchange(0)
/// assert(exchange.request.path == "/")
/// exchange.answer(.status(204))
/// let response = try await task.value
/// assert(response.statusCode == 204)
/// ```
///
/// What a test sends goes out on the thread that the wire's
/// ``ScriptedTransport/Delivery`` says: on the wire's queue, or inside the call.
/// Events are sent one after the other, in order. After the last one nothing is
/// sent, and a test that sends more changes nothing.
///
/// The methods of `TransportExchange` are for the SDK.
public final class ScriptedExchange: TransportExchange {
    /// A call of `pause()` or `resume()`.
    public enum PauseCall: Sendable, Hashable {
        /// The body of the response is to be held back.
        case pause
        /// It may go on.
        case resume
    }

    /// What an end means for a body that is being read; each part may be called again.
    struct BodyEnd: Sendable {
        /// Records what has been read, before anybody hears of the end.
        let note: @Sendable () -> Void
        /// Lets the reader go, on the wire's queue.
        let close: @Sendable () -> Void
        /// Lets the test have the exchange, behind the last event.
        let tell: @Sendable () -> Void
    }

    private struct State {
        var record: RecordedRequest
        /// `nil` when the last event is on its way.
        var receive: (@Sendable (TransportEvent) -> Void)?
        var events: [TransportEvent] = []
        /// The bytes of the request's body that were said to be sent.
        var sentLength: Int64 = 0
        var isSending = false
        /// Whether the last event has been received.
        var isDone = false

        var isCancelled = false
        var cancelCount = 0
        var endsOnCancel = true
        var canPause = false
        var pauseCalls: [PauseCall] = []

        /// How many threads send something or are about to.
        ///
        /// The first one chooses the answer. With none the exchange waits for the test.
        var senders = 1
        /// Whether the wire counts it as busy.
        var isBusy = true
        /// Counts what it has waited for; only the last of it may go on.
        var turn = 0
        /// Lets a delayed answer come.
        var alarm: (any Alarm)?
        var bodyEnd: BodyEnd?
        var isAnsweredByHand = false

        var endsNow: Bool { isCancelled && endsOnCancel }
    }

    /// The request's place among those that the wire has recorded; `nil` for one that isn't recorded there.
    let index: Int?

    private let state: Guarded<State>
    private let wire: Watched<WireState>
    private let player: ResponsePlayer

    init(
        _ record: RecordedRequest, index: Int?, wire: Watched<WireState>, player: ResponsePlayer,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.index = index
        self.wire = wire
        self.player = player
        state = Guarded(State(record: record, receive: receive))
    }
}

// MARK: - What has happened

extension ScriptedExchange {
    /// The request; a body that is read while it is sent is complete as soon as the answer is chosen.
    public internal(set) var request: RecordedRequest {
        get { state.withLock { $0.record } }
        set { state.withLock { $0.record = newValue } }
    }

    /// The request with its number among those that the wire has recorded.
    var name: String {
        let request = request
        let attempt = request.attempt > 1 ? "attempt \(request.attempt)" : nil
        let notes = [index.map { "request \($0 + 1)" }, attempt].compactMap(\.self)
        return "\(request)" + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }

    /// Whether it was cancelled before its end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// How often it was cancelled, also after its end, when that does nothing.
    public var cancelCount: Int { state.withLock { $0.cancelCount } }

    /// Whether its last event has been sent.
    public var isOver: Bool { state.withLock { $0.receive == nil } }

    /// Whether the SDK may hold the body of the response back; `false` by default.
    ///
    /// What the test sends in the meantime arrives all the same, as what is on its way in a network.
    public var canPause: Bool {
        get { state.withLock { $0.canPause } }
        set { state.withLock { $0.canPause = newValue } }
    }

    /// Each pause that was granted and each resumption, in order.
    public var pauseCalls: [PauseCall] { state.withLock { $0.pauseCalls } }
}

// MARK: - Answering by hand

extension ScriptedExchange {
    /// Answers the request, in place of the answer that it waits for.
    ///
    /// A request whose body is still being read takes no answer from the script any more.
    ///
    /// - Parameter answer: What the script could say as well, also another ``ScriptedResponse/delayed(_:_:)``. How many
    ///   requests it is for doesn't matter.
    public func answer(_ answer: ScriptedResponse) {
        takeOver { [player] turn in player.perform(answer, self, turn) }
    }

    /// Sends single events: the head of a response, parts of its body, its end.
    ///
    /// The test is responsible for their order. An answer that the exchange waits
    /// for doesn't come any more, unless there are only `sent` and `measured`.
    public func send(_ events: TransportEvent...) {
        guard events.contains(where: \.isOfResponse) else {
            state.withLock { noteAct(of: &$0) }
            joinSending()
            return player.inDelivery {
                self.push(events)
                self.endSending()
            }
        }
        takeOver { _ in self.push(events) }
    }

    /// Ends without a response, or in the middle of one, whatever it waits for.
    ///
    /// - Parameters:
    ///   - code: Why.
    ///   - delivery: Whether the request may have reached the server.
    public func fail(_ code: URLError.Code, delivery: AtomError.Delivery = .maybeSent) {
        takeOver { _ in self.fail(URLError(code), delivery: delivery) }
    }

    private func takeOver(_ body: @escaping @Sendable (_ turn: Int) -> Void) {
        state.withLock { state in
            state.isAnsweredByHand = true
            noteAct(of: &state)
        }
        goOn(body)
    }

    /// Of an exchange that is over nothing comes any more, and yet the test has done something that it may wait for.
    private func noteAct(of state: inout State) {
        if state.isDone { wire.withLock { $0.activity += 1 } }
    }
}

// MARK: - The wire's side

extension ScriptedExchange {
    /// Whether nobody waits for events any more.
    var isUnheard: Bool { state.withLock { $0.receive == nil || $0.endsNow } }

    /// Whether the test has given an answer.
    var isAnsweredByHand: Bool { state.withLock { $0.isAnsweredByHand } }

    /// How many bytes of the request's body it has said to be sent.
    var sentLength: Int64 { state.withLock { $0.sentLength } }

    /// Sends events, in this thread or in the one that is sending.
    func push(_ events: [TransportEvent]) {
        state.withLock { state in
            guard state.receive != nil else { return }
            state.events += events
            for case .sent(let count) in events {
                let (sum, isTooMuch) = state.sentLength.addingReportingOverflow(Int64(count))
                state.sentLength = isTooMuch ? .max : sum
            }
            if events.contains(where: \.beginsEventStream) { wire.withLock { $0.hasEventStreams = true } }
        }
        drain()
    }

    func fail(_ error: any Error, delivery: AtomError.Delivery) {
        push([.failed(TransportFailure(error, delivery: delivery))])
    }

    /// Says what to do about the body that is being read when the exchange ends; `nil` if none is.
    func sendsBody(_ end: BodyEnd?) { state.withLock { $0.bodyEnd = end } }

    func hold(endsOnCancel: Bool) { state.withLock { $0.endsOnCancel = endsOnCancel } }

    /// Waits for an alarm, unless it has gone on since that turn.
    ///
    /// - Parameter makeAlarm: Sets it; called under the lock, because it may go off at once, on another thread.
    func wait(at turn: Int, until makeAlarm: () -> any Alarm) {
        state.withLock { state in
            guard state.receive != nil, !state.endsNow, turn == state.turn else { return }
            state.alarm = makeAlarm()
        }
    }

    /// Sends something, whatever it has waited for until now.
    ///
    /// - Parameters:
    ///   - turn: Nothing is sent if it waits for something else by now.
    ///   - body: Sends, on the thread that the wire's delivery says. It gets the turn that has begun.
    func goOn(at turn: Int? = nil, _ body: @escaping @Sendable (_ turn: Int) -> Void) {
        guard let turn = beginSending(at: turn) else { return }
        player.inDelivery {
            body(turn)
            self.endSending()
        }
    }

    /// - Returns: The turn that has begun; `nil` if it waits for something else by now.
    func beginSending(at turn: Int? = nil) -> Int? {
        let (begun, alarm) = state.withLock { state -> (Int?, (any Alarm)?) in
            guard turn == nil || turn == state.turn else { return (nil, nil) }
            defer { state.alarm = nil }
            state.turn += 1
            state.senders += 1
            tellWire(&state)
            return (state.turn, state.alarm)
        }
        alarm?.invalidate()
        return begun
    }

    /// Says that this thread sends something, which what it waits for doesn't depend on.
    func joinSending() {
        state.withLock { state in
            state.senders += 1
            tellWire(&state)
        }
    }

    /// Says that this thread has sent what there is.
    func endSending() {
        state.withLock { state in
            state.senders -= 1
            tellWire(&state)
        }
    }

    /// Tells the wire whether this exchange goes on without anybody's help.
    private func tellWire(_ state: inout State) {
        let isBusy = state.senders > 0 && !state.isDone
        guard isBusy != state.isBusy else { return }
        state.isBusy = isBusy
        let isWaiting = !isBusy && !state.isDone
        wire.withLock { wire in
            wire.busy += isBusy ? 1 : -1
            if !isWaiting { wire.activity += 1 }
            if state.isDone, index != nil { wire.running -= 1 }
            guard index == nil, !state.isDone else { return }
            wire.heldTokenRequests += isBusy ? -1 : 1
        }
    }

    private func drain() {
        while let (event, receive, bodyEnd) = next() {
            bodyEnd?.note()
            receive(event)
            state.withLock { state in
                state.isSending = false
                guard event.isLast else { return }
                state.isDone = true
                tellWire(&state)
            }
            guard let bodyEnd else { continue }
            player.queue.async {
                bodyEnd.close()
                bodyEnd.tell()
            }
        }
    }

    /// The event that this thread has to send; the last one with what it means for a body that is being read.
    private func next() -> (TransportEvent, @Sendable (TransportEvent) -> Void, BodyEnd?)? {
        state.withLock { state in
            guard !state.isSending, let receive = state.receive else { return nil }
            let event: TransportEvent
            if state.endsNow {
                event = .failed(TransportFailure(URLError(.cancelled)))
            } else {
                guard !state.events.isEmpty else { return nil }
                event = state.events.removeFirst()
            }
            state.isSending = true
            guard event.isLast else { return (event, receive, nil) }
            state.receive = nil
            state.events = []
            return (event, receive, state.bodyEnd.take())
        }
    }
}

// MARK: - The SDK's side

extension ScriptedExchange {
    /// Ends the exchange soon, on another thread.
    public func cancel() {
        let endsNow = state.withLock { state in
            state.cancelCount += 1
            guard state.receive != nil, !state.isCancelled else { return false }
            state.isCancelled = true
            return state.endsOnCancel
        }
        guard endsNow, beginSending() != nil else { return }
        // Not here: `cancel` must not call `receive`.
        player.queue.async {
            self.state.withLock { $0.bodyEnd }?.close()
            self.drain()
            self.endSending()
        }
    }

    /// Holds nothing back, but records the call.
    ///
    /// - Returns: Whether that is allowed: ``canPause``.
    public func pause() -> Bool {
        state.withLock { state in
            if state.canPause { state.pauseCalls.append(.pause) }
            return state.canPause
        }
    }

    /// Records the call.
    public func resume() { state.withLock { $0.pauseCalls.append(.resume) } }
}

extension TransportEvent {
    fileprivate var isLast: Bool {
        switch self {
        case .finished, .failed: true
        case .sent, .response, .data, .measured: false
        // What this library doesn't know comes before the end.
        @unknown default: false
        }
    }

    /// Whether it is of the response, and not of the attempt.
    fileprivate var isOfResponse: Bool {
        switch self {
        case .sent, .measured: false
        case .response, .data, .finished, .failed: true
        @unknown default: true
        }
    }

    fileprivate var beginsEventStream: Bool {
        guard case .response(let head) = self, let type = head.headerFields["Content-Type"] else { return false }
        return type.lowercased().hasPrefix("text/event-stream")
    }
}
