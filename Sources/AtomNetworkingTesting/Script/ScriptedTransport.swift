import AtomNetworking
import AtomNetworkingSignIn
import Foundation

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
        /// On a serial queue of the wire, never inside `start`: the code under test meets the asynchrony of a network.
        case asynchronous
        /// Inside `start`, unless the body of the request has to be read first:
        /// for code that uses a `Transport` directly.
        ///
        /// A service delivers results asynchronously all the same.
        case immediate
    }

    /// How many bytes of a request's body are recorded.
    public static let maximumBodySize = 16 << 20

    /// The clock by which delayed answers come.
    public let clock: ManualClock

    /// The authorization server, at an origin of its own.
    ///
    /// A service with a session gets its tokens there. Its requests aren't among ``requests``, and need no answers.
    public let authorizationServer: ScriptedAuthorizationServer

    /// Where a service with a session keeps its tokens.
    public let tokenStore: RecordingTokenCredentialStore

    /// How many exchanges with one origin the service may have at a time.
    public let exchangesPerOrigin: Int?

    /// The exchanges, and the places of those whose answer has been chosen, or that have ended.
    struct Started {
        var exchanges: [ScriptedExchange] = []
        var ready: Set<Int> = []
    }

    let state: Watched<WireState>
    let started = Watched(Started())
    let readsBodies: Bool
    let player: ResponsePlayer
    let onProblem: @Sendable (ScriptProblem) -> Void
    /// The place in the test, for what nobody has verified.
    let place: ScriptProblem.Place

    /// Creates a wire for a service that the app makes itself; ``install(in:)`` connects them.
    ///
    /// - Parameters:
    ///   - answers: The script.
    ///   - exchangesPerOrigin: How many exchanges with one origin the service
    ///     may have at a time; `nil`, the default, for any number.
    ///   - readsBodies: Whether a body that is read while it is sent is read to its end before the request is answered.
    ///     With `false` it isn't read, as by a server that answers at once; a test can read it itself.
    ///   - delivery: On which thread events are sent.
    ///   - clock: By which delayed answers come.
    ///   - onProblem: Hears what nobody has verified, when the wire goes away, and what the test has waited for in
    ///     vain. By default that is ``ScriptProblem/report(_:)``: an issue of the test that is running.
    ///   - fileID: The file of the test, for that issue.
    ///   - filePath: The file of the test, for that issue.
    ///   - line: The line of the test, for that issue.
    public init(
        _ answers: [ScriptedResponse] = [], exchangesPerOrigin: Int? = nil, readsBodies: Bool = true,
        delivery: Delivery = .asynchronous, clock: ManualClock = ManualClock(),
        onProblem: @escaping @Sendable (ScriptProblem) -> Void = { ScriptProblem.report($0) },
        fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line
    ) {
        let state = Watched(WireState(answers: answers))
        self.state = state
        self.exchangesPerOrigin = exchangesPerOrigin
        self.readsBodies = readsBodies
        player = ResponsePlayer(delivery: delivery, clock: clock, wire: state)
        self.clock = clock
        self.onProblem = onProblem
        place = ScriptProblem.Place(fileID, filePath, line)
        authorizationServer = ScriptedAuthorizationServer(clock: clock, wire: state)
        tokenStore = RecordingTokenCredentialStore()
        state.withLock { [tokenStore] in $0.stores = [tokenStore] }
    }

    deinit {
        let findings = state.withLock { $0.untold }
        if !findings.isEmpty { onProblem(ScriptProblem(findings: findings, source: place)) }
    }

    /// Lets a service send its requests to this wire and go by its clock.
    ///
    /// It sets the transport and the time source, and adds a result handler and
    /// an observer. ``idle(fileID:filePath:line:)`` needs all of them, so call this last: a
    /// configuration whose `observers` or `resultHandler` are replaced afterwards
    /// doesn't tell the wire when a result has reached its caller.
    ///
    /// Requests are signed as the configuration says. For tokens of
    /// ``authorizationServer``:
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// var configuration = ServiceConfiguration()
    /// let wire = ScriptedTransport([.status(204)])
    /// wire.tokenStore.stored = wire.authorizationServer.signIn()
    /// configuration.authenticationMethod = .bearer(wire.authorizationServer.authentication(wire.tokenStore))
    /// wire.install(in: &configuration)
    /// let atom = Atom(serviceConfiguration: configuration)
    /// ```
    public func install(in configuration: inout ServiceConfiguration) {
        connect(&configuration)
        listen(in: &configuration)
    }

    /// An app as a client of ``authorizationServer``, without a secret; its options can be changed.
    ///
    /// Its requests go to this wire, by its clock. If the server demands proofs, it has a key; set
    /// ``ScriptedAuthorizationServer/demandsProofs`` before. From now on the wire checks access tokens.
    ///
    /// ```swift
    /// import AtomNetworkingSignIn
    /// import AtomNetworkingTesting
    ///
    /// let wire = ScriptedTransport()
    /// let client = wire.client(scopes: ["openid"])
    /// let signIn = SignIn(client, browser: wire.authorizationServer.browser, store: wire.tokenStore)
    /// ```
    ///
    /// - Parameter scopes: What its sign-ins ask for.
    public func client(scopes: [String] = []) -> OAuthClient { authorizationServer.client(scopes: scopes, on: self) }

    func connect(_ configuration: inout ServiceConfiguration) {
        configuration.transport = self
        configuration.timeSource = clock
    }

    /// Hears of the results, in addition to those who hear of them already.
    func listen(in configuration: inout ServiceConfiguration) {
        if case .bearerAuthentication(var bearer) = configuration.authenticationMethod {
            if case .store(let store as RecordingTokenCredentialStore) = bearer.keeper {
                state.withLock { $0.stores.append(store) }
            }
            switch bearer.refresh {
            case .endpoint: break
            case .provider(let provider): bearer.refresh = .provider(ObservedProvider(provider, state))
            case .endpointOrProvider(let endpoint, let client, let provider):
                bearer.refresh = .endpointOrProvider(endpoint, client, ObservedProvider(provider, state))
            }
            configuration.authenticationMethod = .bearerAuthentication(bearer)
        }
        state.withLock { $0.toldSent = $0.toldSent ?? 0 }
        // The first one: another may let the test go on.
        configuration.observers.insert(WireObserver(state: state, clock: clock), at: 0)
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
    ///   - answer: Called when the request is complete, where the wire's
    ///     ``Delivery`` says. If it throws, the request fails, and says so. How
    ///     many requests its answer is for doesn't matter.
    public func on(
        _ method: HTTPMethod, _ path: String, host: String? = nil, query: [QueryItem] = [],
        headerItems: [HeaderItem] = [], times: Int? = nil,
        where condition: (@Sendable (RecordedRequest) throws -> Bool)? = nil,
        answer: @escaping @Sendable (RecordedRequest) throws -> ScriptedResponse
    ) {
        add(
            RequestMatcher(
                method: method.name, host: host, path: path, query: query, headerItems: headerItems,
                condition: condition), .computed(answer), times)
    }

    /// Answers certain requests with any method, like ``on(_:_:host:query:headerItems:times:where:answer:)``.
    public func on(
        _ path: String, host: String? = nil, query: [QueryItem] = [],
        headerItems: [HeaderItem] = [], times: Int? = nil,
        where condition: (@Sendable (RecordedRequest) throws -> Bool)? = nil,
        answer: @escaping @Sendable (RecordedRequest) throws -> ScriptedResponse
    ) {
        add(
            RequestMatcher(
                method: nil, host: host, path: path, query: query, headerItems: headerItems, condition: condition),
            .computed(answer), times)
    }

    private func add(_ matcher: RequestMatcher, _ answer: ScriptedResponse, _ times: Int?) {
        state.withLock { $0.rules.append(.init(matcher: matcher, answer: answer, uses: times)) }
    }

    /// Answers one request.
    func add(_ matcher: any RequestMatching, _ answer: ScriptedResponse, isRequired: Bool) {
        state.withLock {
            $0.rules.append(.init(matcher: matcher, answer: answer, uses: 1, isRequired: isRequired))
        }
    }

    /// Adds answers to the end of the script.
    func add(_ answers: [ScriptedResponse], areRequired: Bool) {
        let answers = answers.map { answer in
            var answer = answer
            answer.isRequired = areRequired
            return answer
        }
        state.withLock { $0.answers += answers }
    }

    /// Adds answers to the end of the script.
    public func add(_ answers: ScriptedResponse...) {
        state.withLock { $0.answers += answers }
    }
}

// MARK: - What has happened

extension ScriptedTransport {
    /// Every request so far, in the order in which they were started.
    ///
    /// Those to the ``authorizationServer`` have a list of their own there.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The exchanges of ``requests``, in the same order.
    public var exchanges: [ScriptedExchange] { started.withLock { $0.exchanges } }

    /// Waits until an exchange was started and its answer was chosen, or it has
    /// ended; then the test can answer it by hand.
    ///
    /// If its task is cancelled before, for example by a test's time limit, it returns an exchange that belongs to no
    /// request. So it does when nothing has happened for ``ManualClock/patience``, and reports what there is.
    ///
    /// - Parameters:
    ///   - index: The place of its request among ``requests``.
    ///   - fileID: The file of the test, for that report.
    ///   - filePath: The file of the test.
    ///   - line: The line of the test.
    public func exchange(
        _ index: Int, fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line
    ) async -> ScriptedExchange {
        let place = ScriptProblem.Place(fileID, filePath, line)
        await wait(on: started, "exchange(\(index)) waits for request \(index + 1)", at: place) {
            $0.ready.contains(index)
        }
        return started.withLock { index < $0.exchanges.count ? $0.exchanges[index] : nil } ?? nobodys
    }

    private var nobodys: ScriptedExchange {
        guard let request = try? TransportRequest(base: ScriptedAuthorizationServer.origin, path: URLPath("/")) else {
            preconditionFailure("The origin is valid")
        }
        let record = RecordedRequest(request, at: clock.now)
        return ScriptedExchange(record, index: nil, wire: Watched(WireState(answers: [])), player: player) { _ in }
    }

    /// Everything that is wrong so far, a sentence or more each: what ``verify()`` would throw, what has been thrown or
    /// reported already, and what the test has waited for in vain.
    ///
    /// To read it doesn't count as verifying.
    public var problems: [String] {
        player.finishQueue()
        return state.withLock { $0.findings }
    }

    /// Checks that every request was answered and that every answer was asked for.
    ///
    /// It waits until the answer of each request that was started has been chosen, apart from those whose body waits
    /// for its producer. A test may call it more than once. What it has thrown isn't reported again when the wire goes
    /// away.
    ///
    /// - Throws: Everything that is wrong.
    public func verify() throws(ScriptProblem) {
        player.finishQueue()
        let findings = state.withLock { $0.tell() }
        if !findings.isEmpty { throw ScriptProblem(findings: findings) }
    }
}
