import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport without a network, which answers by a script and records what it
/// is asked.
///
/// `Atom.scripted`
/// creates it together with a service:
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// struct Page: Model, Equatable { let titles: [String] }
///
/// struct PageEndpoint: Requestable {
///     let number: Int
///     var queryItems: [QueryItem]? { ["n": number] }
///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
///     func path() throws(AtomError) -> URLPath { try URLPath("/page") }
/// }
///
/// let (atom, wire) = Atom.scripted(.json(Page(titles: ["First"])))
/// let page = try await atom.enqueue(PageEndpoint(number: 0)).resume(expecting: Page.self)
/// assert(page.titles == ["First"])
/// assert(wire.requests.map(\.pathAndQuery) == ["/page?n=0"])
/// try wire.verify()
/// ```
///
/// Answers that ``on(_:_:host:query:headerItems:times:where:answer:)`` adds are
/// meant for certain requests and are asked first, in the order in which they
/// were added. All other requests get the answers of the script, in order, one
/// each. A request that nobody answers fails with an error that says what was
/// there, and no `RetryPolicy` sends it again.
///
/// It keeps the contract of `Transport`. Each wire is
/// independent: any number of tests may run at the same time.
public final class ScriptedTransport: Transport {
    /// On which thread events are sent.
    public enum Delivery: Sendable, Hashable {
        /// On a serial queue of the wire, never inside `start`: the code under
        /// test meets the asynchrony of a network.
        case asynchronous
        /// Inside `start`, unless the body of the request has to be read first.
        case immediate
    }

    /// How many bytes of a request's body are recorded.
    public static let maximumBodySize = 16 << 20

    /// The clock by which delayed answers come.
    public let clock: ManualClock

    /// The authorization server, at an origin of its own.
    ///
    /// A service with a session gets its tokens there. Its requests aren't among
    /// ``requests``, and need no answers.
    public let authorizationServer: ScriptedAuthorizationServer

    /// Where a service with a session keeps its tokens.
    public let tokenStore: RecordingTokenCredentialStore

    private let state: Watched<WireState>
    private let queue = DispatchQueue(label: "AtomNetworkingTesting.wire", qos: .userInitiated)
    private let delivery: Delivery
    private let onProblem: @Sendable (ScriptProblem) -> Void

    /// Creates a wire for a service that the app makes itself; ``install(in:)``
    /// connects them.
    ///
    /// - Parameters:
    ///   - answers: The script.
    ///   - delivery: On which thread events are sent.
    ///   - clock: By which delayed answers come.
    ///   - onProblem: Hears what nobody has verified, when the wire goes away.
    ///     By default the program stops with a message.
    public init(
        _ answers: [ScriptedAnswer] = [], delivery: Delivery = .asynchronous, clock: ManualClock = ManualClock(),
        onProblem: @escaping @Sendable (ScriptProblem) -> Void = { ScriptProblem.stop($0) }
    ) {
        state = Watched(WireState(answers: answers))
        self.delivery = delivery
        self.clock = clock
        self.onProblem = onProblem
        authorizationServer = ScriptedAuthorizationServer(clock: clock)
        tokenStore = RecordingTokenCredentialStore()
    }

    deinit {
        let findings = state.withLock { $0.findings }
        if !findings.isEmpty { onProblem(ScriptProblem(findings: findings)) }
    }

    /// Lets a service send its requests to this wire and go by its clock.
    ///
    /// It sets the transport, the time source and the result handler, and adds
    /// an observer. ``idle()`` needs all of them.
    public func install(in configuration: inout ServiceConfiguration) {
        configuration.transport = self
        configuration.timeSource = clock
        configuration.observers.append(WireObserver(state: state))
        configuration.resultHandler = { [state, earlier = configuration.resultHandler] in
            earlier?()
            state.withLock { $0.undelivered -= 1 }
        }
    }
}

// MARK: - Answers for certain requests

extension ScriptedTransport {
    /// Answers certain requests.
    ///
    /// ```swift
    /// import AtomNetworkingTesting
    ///
    /// let wire = ScriptedTransport()
    /// wire.on(.get, "/users/*", query: ["expand": "roles"]) { request in
    ///     .json(text: #"{"path": "\#(request.path)"}"#)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, in which `*` stands for one segment and `**` for any
    ///     number of them. Percent-encoding doesn't matter.
    ///   - host: The host; `nil`, the default, for any.
    ///   - query: Items that the query has, among others.
    ///   - headerItems: Header fields that the request has, among others.
    ///   - times: How many requests; exactly so many are expected. `nil`, the
    ///     default, for any number, also none.
    ///   - condition: Says of a request for which all of that is true whether it
    ///     is meant, for example by its body. A thrown error counts as no.
    ///   - answer: Called on the wire's queue when the request is complete. If
    ///     it throws, the request fails, and says so.
    public func on(
        _ method: HTTPMethod, _ path: String, host: String? = nil, query: [QueryItem] = [],
        headerItems: [HeaderItem] = [], times: Int? = nil,
        where condition: (@Sendable (RecordedRequest) throws -> Bool)? = nil,
        answer: @escaping @Sendable (RecordedRequest) throws -> ScriptedAnswer
    ) {
        add(
            RequestMatcher(
                method: method.name, host: host, path: path, query: query, headerItems: headerItems,
                condition: condition), .computed(answer), times)
    }

    /// Answers certain requests with any method, like
    /// ``on(_:_:host:query:headerItems:times:where:answer:)``.
    public func on(
        _ path: String, host: String? = nil, query: [QueryItem] = [],
        headerItems: [HeaderItem] = [], times: Int? = nil,
        where condition: (@Sendable (RecordedRequest) throws -> Bool)? = nil,
        answer: @escaping @Sendable (RecordedRequest) throws -> ScriptedAnswer
    ) {
        add(
            RequestMatcher(
                method: nil, host: host, path: path, query: query, headerItems: headerItems, condition: condition),
            .computed(answer), times)
    }

    private func add(_ matcher: RequestMatcher, _ answer: ScriptedAnswer, _ times: Int?) {
        state.withLock { $0.rules.append(.init(matcher: matcher, answer: answer, uses: times)) }
    }

    /// Answers one request.
    func add(_ matcher: any RequestMatching, _ answer: ScriptedAnswer, isRequired: Bool) {
        state.withLock {
            $0.rules.append(.init(matcher: matcher, answer: answer, uses: 1, isRequired: isRequired))
        }
    }

    /// Adds answers to the end of the script.
    func add(_ answers: [ScriptedAnswer], areRequired: Bool) {
        let answers = answers.map { answer in
            var answer = answer
            answer.isRequired = areRequired
            return answer
        }
        state.withLock { $0.answers += answers }
    }

    /// Adds answers to the end of the script.
    public func add(_ answers: ScriptedAnswer...) {
        state.withLock { $0.answers += answers }
    }
}

// MARK: - What has happened

extension ScriptedTransport {
    /// Every request so far, in the order in which they were started.
    ///
    /// Those to the ``authorizationServer`` have a list of their own there.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Whether no exchange goes on without anybody's help, and every result has
    /// reached its caller.
    public var isIdle: Bool { state.withLock { $0.isQuiet } }

    /// Waits until the code under test has got what its requests bring, and
    /// can't go on without anybody's help.
    ///
    /// It waits until something has happened since its last return, or since the
    /// beginning: a request has come, has gone on or has ended. Then it waits
    /// until each exchange has ended or waits for the test
    /// (``ScriptedAnswer/never``, ``ScriptedAnswer/delayed(_:_:)``, a held
    /// refresh), and each result has reached its caller. Then it lets other tasks
    /// go on. If they send something, all of that begins again.
    ///
    /// What it promises:
    /// - Code that calls the service on the main actor has run to its next
    ///   suspension after the call, whatever the decoding took. So has code on
    ///   another actor, once a call to that actor has returned.
    /// - The same holds for completions on the main actor, and for those on the
    ///   configuration's queue.
    ///
    /// What it can't promise, because nothing tells when other people's tasks
    /// are done:
    /// - Code that isn't on the calling actor, tasks that the code under test
    ///   starts after the result, and the parts of a stream. They get many turns
    ///   on the main actor and on other threads, which is enough for a few short
    ///   steps. Await the task itself if it does more.
    /// - Work that waits for something else, for example for `Task.sleep` or a
    ///   retry's pause.
    ///
    /// It never sleeps and looks at no clock. It returns at once if its task is
    /// cancelled, so a test's time limit ends it. It needs ``install(in:)``, and
    /// one task at a time may wait.
    public func idle() async {
        guard await state.wait(until: { $0.activity > $0.seenActivity && $0.isQuiet }) else { return }
        while true {
            let mark = state.withLock { $0.activity }
            var turns = 0
            var isSettled = true
            var limit = 0
            repeat {
                await Turn.takeOne()
                turns += 1
                (isSettled, limit) = state.withLock { state in
                    (state.activity == mark && state.isQuiet, Turn.count(isExpecting: state.expectsTokenRequest))
                }
            } while isSettled && turns < limit
            if isSettled {
                state.withLock { $0.seenActivity = mark }
                return
            }
            guard await state.wait(until: { $0.isQuiet }) else { return }
        }
    }

    /// Checks that every request was answered and that every answer was asked
    /// for.
    ///
    /// What it has thrown isn't reported again when the wire goes away.
    ///
    /// - Throws: Everything that is wrong.
    public func verify() throws(ScriptProblem) {
        let findings = state.withLock { state in
            let findings = state.findings
            state.verified = state.unanswered.count
            return findings
        }
        if !findings.isEmpty { throw ScriptProblem(findings: findings) }
    }
}

/// Lets other tasks run.
private enum Turn {
    /// How many are enough.
    static func count(isExpecting: Bool) -> Int { isExpecting ? 2_000 : 20 }

    /// Waits until a new task has run behind those that are ready, and then one
    /// on the main actor.
    static func takeOne() async {
        // None of a high priority: many tests that wait would hold up the others.
        for priority in [TaskPriority.medium, .background] {
            // Its value isn't awaited: that would raise its priority.
            await withUnsafeContinuation { continuation in
                Task.detached(priority: priority) { continuation.resume() }
            }
        }
        await MainActor.run {}
    }
}

// MARK: - The transport

extension ScriptedTransport {
    /// Starts an exchange by the script.
    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let record = RecordedRequest(request, at: clock.now)
        let isForTokens = authorizationServer.isAt(request.target)
        let index = state.withLock { state -> Int? in
            state.busy += 1
            state.activity += 1
            if record["Accept"] == "text/event-stream" { state.hasEventStreams = true }
            guard !isForTokens else { return nil }
            state.requests.append(record)
            return state.requests.count - 1
        }
        let exchange = WireExchange(request, index: index, wire: state, queue: queue, receive: receive)
        if case .stream(let stream) = request.body {
            let pull = BodyPull(stream.makeReader(), record)
            queue.async { self.pull(pull, exchange) }
        } else if delivery == .immediate {
            answer(exchange, record)
        } else {
            queue.async { self.answer(exchange, record) }
        }
        return exchange
    }

    /// A body that is being read, on the wire's queue.
    private final class BodyPull: @unchecked Sendable {
        let reader: TransportBodyReader
        var record: RecordedRequest

        init(_ reader: TransportBodyReader, _ record: RecordedRequest) {
            self.reader = reader
            self.record = record
        }
    }

    private func pull(_ pull: BodyPull, _ exchange: WireExchange) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        do throws(AtomError) {
            while !exchange.isOver {
                let part = try Self.read(pull.reader, into: &buffer)
                switch part {
                case .bytes(let count):
                    pull.record.bodyLength += Int64(count)
                    let room = Self.maximumBodySize - (pull.record.body?.count ?? 0)
                    pull.record.body?.append(contentsOf: buffer.prefix(min(count, room)))
                case .later:
                    return pull.reader.whenReadable { [queue] in queue.async { self.pull(pull, exchange) } }
                case .end:
                    let record = pull.record
                    if let index = exchange.index { state.withLock { $0.requests[index] = record } }
                    pull.reader.close()
                    return answer(exchange, record)
                @unknown default:
                    pull.reader.close()
                    return exchange.fail(AtomError.unexpected, delivery: .maybeSent)
                }
            }
            pull.reader.close()
        } catch {
            pull.reader.close()
            exchange.fail(error, delivery: .maybeSent)
        }
    }

    private static func read(
        _ reader: TransportBodyReader, into buffer: inout [UInt8]
    ) throws(AtomError) -> TransportBodyReader.Part {
        let result = buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(AtomError) in try reader.read(into: bytes) }
        }
        return try result.get()
    }
}

// MARK: - Answering

extension ScriptedTransport {
    private func answer(_ exchange: WireExchange, _ record: RecordedRequest) {
        guard !exchange.isOver else { return }
        if exchange.index == nil {
            return perform(authorizationServer.answer(record), exchange, record)
        }
        if authorizationServer.isInUse, let token = record.bearerToken, !authorizationServer.accepts(token) {
            return perform(.unauthorized(), exchange, record)
        }
        guard let answer = takeAnswer(for: record) else { return }
        perform(answer, exchange, record)

        func takeAnswer(for record: RecordedRequest) -> ScriptedAnswer? {
            var misses = NearMisses()
            // A condition is the app's code, so none is asked under the lock.
            for (number, rule) in state.withLock({ $0.rules }).enumerated() {
                let mismatches = rule.matcher.mismatches(of: record)
                guard mismatches.isEmpty else {
                    misses.add("\(rule.matcher)", mismatches)
                    continue
                }
                let isTaken = state.withLock { state in
                    guard !state.rules[number].isSpent else { return false }
                    state.rules[number].used += 1
                    return true
                }
                if isTaken { return rule.answer }
                let count = rule.uses ?? 0
                misses.add("\(rule.matcher)", ["it has been given \(count == 1 ? "once" : "\(count) times")"])
            }
            let (answer, given) = state.withLock { ($0.nextAnswer(), $0.given) }
            if let answer { return answer }
            var reason = given == 0 ? "the script has no answers in order" : "all \(given) answers have been given"
            if !misses.isEmpty { reason += ", and no other answer fits (\(misses))" }
            fail(exchange, record, reason)
            return nil
        }
    }

    /// Ends an exchange with an error that isn't a server's or a network's.
    private func fail(_ exchange: WireExchange, _ record: RecordedRequest, _ reason: String) {
        let sending = record.number > 1 ? ", sending \(record.number)" : ""
        state.withLock { $0.unanswered.append("Nobody answers \(record)\(sending): \(reason).") }
        let violation = RequestableError.Violation(
            subject: "\(record)\(sending)", reason: "nobody answers it: \(reason)")
        exchange.fail(AtomError.requestable(.unsupportedConfiguration(violation)), delivery: .notSent)
    }

    private func perform(_ answer: ScriptedAnswer, _ exchange: WireExchange, _ record: RecordedRequest) {
        switch answer.content {
        case .response(let status, let fields, let parts, let ending):
            begin(TransportResponse(statusCode: status, headerFields: fields), exchange, record)
            // These have no body (RFC 9110 §6.4.1).
            if record.method != "HEAD", status != 204, status != 304 {
                for part in parts where !part.isEmpty { exchange.send(.data(part)) }
            }
            switch ending {
            case .complete: exchange.send(.finished)
            case .failure(let code): exchange.fail(URLError(code), delivery: .answered)
            case .never: exchange.hold()
            }
        case .file(let file, let fields):
            sendFile(file, fields, exchange, record)
        case .failure(let code, let delivery):
            exchange.fail(URLError(code), delivery: delivery)
        case .never:
            exchange.hold()
        case .delayed(let duration, let answer):
            exchange.hold {
                let alarm = clock.makeAlarm { [weak self, weak exchange] in
                    guard let self, let exchange, exchange.goOn() else { return }
                    inDelivery { self.perform(answer, exchange, record) }
                }
                alarm.set(clock.now.advanced(by: duration))
                return alarm
            }
        case .held(let gate, let answer):
            exchange.hold()
            gate.whenReleased { [weak self, weak exchange] in
                guard let self, let exchange, exchange.goOn() else { return }
                inDelivery { self.perform(answer, exchange, record) }
            }
        case .computed(let compute):
            do {
                perform(try compute(record), exchange, record)
            } catch {
                fail(exchange, record, "its answer throws \(type(of: error))")
            }
        case .impossible(let reason):
            fail(exchange, record, reason)
        }
    }

    private func inDelivery(_ body: @escaping @Sendable () -> Void) {
        if delivery == .immediate { body() } else { queue.async(execute: body) }
    }

    private func begin(_ head: TransportResponse, _ exchange: WireExchange, _ record: RecordedRequest) {
        if record.bodyLength > 0 { exchange.send(.sent(Int(clamping: record.bodyLength))) }
        exchange.send(.response(head))
    }

    private func sendFile(
        _ file: URL, _ fields: HeaderFields, _ exchange: WireExchange, _ record: RecordedRequest
    ) {
        var fields = fields
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let size = try handle.seekToEnd()
            try handle.seek(toOffset: 0)
            if !fields.contains("Content-Length") { fields.append(name: "Content-Length", value: "\(size)") }
            begin(TransportResponse(statusCode: 200, headerFields: fields), exchange, record)
            while record.method != "HEAD", !exchange.isOver, let part = try handle.read(upToCount: 64 << 10),
                !part.isEmpty
            {
                exchange.send(.data(part))
            }
            exchange.send(.finished)
        } catch {
            fail(exchange, record, "the file \(file.lastPathComponent) can't be read")
        }
    }
}
