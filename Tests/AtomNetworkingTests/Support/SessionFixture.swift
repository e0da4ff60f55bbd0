import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A bearer session with a clock, a network and a token store that the test
/// controls.
struct SessionFixture {
    let time: ManualClock
    let tokens: RecordingTokens
    let transport: ScriptedTransport
    let atom: Atom
    let configuration: ServiceConfiguration

    /// - Parameters:
    ///   - lifetime: The lifetime of the first access token in seconds.
    ///   - tokens: A store that another fixture uses too.
    ///   - store: A store to use instead.
    ///   - provider: Returns tokens instead of the token endpoint.
    ///   - login: Signs a user in where the token endpoint can't help.
    init(
        lifetime: Double = 3_600, timeout: ServiceTimeout = ServiceTimeout(request: 1_000, resource: 1_000),
        exchangesPerOrigin: Int? = nil, tokens: RecordingTokens? = nil, store: (any TokenCredentialStore)? = nil,
        provider: (any TokenCredentialProvider)? = nil, signIn login: (any TokenCredentialProvider)? = nil,
        grant: GrantType = .refreshToken,
        time: ManualClock = ManualClock(), script: ScriptedTransport.Script? = nil,
        connectivity: (any ConnectivityMonitor)? = nil,
        bearer configure: (inout BearerAuthentication) -> Void = { _ in },
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws {
        self.time = time
        let first = TokenCredential(
            accessToken: "A0", expiresAt: time.date.addingTimeInterval(lifetime), refreshToken: "R0")
        self.tokens = tokens ?? RecordingTokens(first)
        transport = ScriptedTransport.held(exchangesPerOrigin: exchangesPerOrigin, script: script)
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
        let client = ClientCredential(grantType: grant, id: "client", secret: "secret")
        var bearer: BearerAuthentication
        switch (provider, store) {
        case (nil, let store) where login != nil:
            // Just compared.
            let login = try #require(login)
            bearer = BearerAuthentication(
                endpoint: endpoint, client: client, store: store ?? InMemoryTokenCredentialStore(), signIn: login)
        case (let provider?, let store):
            bearer = BearerAuthentication(provider: provider, store: store ?? InMemoryTokenCredentialStore())
        case (nil, let store?): bearer = BearerAuthentication(endpoint: endpoint, client: client, store: store)
        case (nil, nil): bearer = BearerAuthentication(endpoint: endpoint, client: client, writable: self.tokens)
        }
        configure(&bearer)
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(bearer), dispatchQueue: DispatchQueue(label: "completions"),
            timeout: timeout)
        configuration.transport = transport
        change(&configuration)
        self.configuration = configuration
        atom = Atom(configuration, time: time, connectivity: connectivity)
    }

    /// Resumes a request with a completion.
    @discardableResult
    func call(_ path: String = "/x", signed: Bool = true, timeout: ServiceTimeout? = nil) -> Call {
        let call = Call()
        let endpoint = PathEndpoint(pathText: path, requiresAuthorization: signed, timeout: timeout)
        call.keep(atom.enqueue(endpoint).resume { call.heard($0) })
        return call
    }

    /// The refreshes that were sent, in order.
    var refreshes: [ScriptedExchange] {
        transport.exchanges.filter { $0.request.target.absoluteString.hasSuffix("/token") }
    }

    /// The requests to the service, in order, without the refreshes.
    var sent: [ScriptedExchange] {
        transport.exchanges.filter { !$0.request.target.absoluteString.hasSuffix("/token") }
    }

    /// The paths of ``sent``.
    var sentPaths: [String] { sent.map { $0.request.target.url?.path ?? "" } }

    /// Waits until all who waited have been sent: a call that comes then is sent before it returns.
    ///
    /// A request of those who waited may be answered before the last of them is sent.
    func queueIsOver() async {
        #expect(await eventually { atom.manager.session?.gate.with { $0.isReleasing } != true })
    }

    /// Waits for the refresh with this index.
    func refresh(_ index: Int = 0) async -> ScriptedExchange {
        var number = 0
        while true {
            let exchange = await transport.exchange(number)
            if refreshes.count > index { return refreshes[index] }
            number += 1
            // No exchange was started for minutes, and the test has failed.
            if transport.exchanges.count < number { return exchange }
        }
    }
}

extension TokenCredential {
    /// The tokens with a number, valid for this many seconds from the start of
    /// manual clocks.
    static func issued(_ number: Int, life: Double = 3_600) -> TokenCredential {
        TokenCredential(
            accessToken: "A\(number)", expiresAt: Date(timeIntervalSince1970: 1_790_000_000 + life),
            refreshToken: "R\(number)")
    }
}

/// What a store throws that fails to order.
struct DiskFailure: Error {}

/// A token variable that records its changes.
final class RecordingTokens: TokenCredentialWritable, @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var credential: TokenCredential
    private var written: [TokenCredential] = []
    private var reads = 0
    private var takes = true
    private var hook: (@Sendable (TokenCredential) -> Void)?
    private var readHook: (@Sendable () -> Void)?

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    var tokenCredential: TokenCredential {
        get {
            let (credential, hook) = lock.withLock {
                defer { readHook = nil }
                reads += 1
                return (self.credential, readHook)
            }
            hook?()
            return credential
        }
        set {
            let hook = lock.withLock {
                if takes { credential = newValue }
                written.append(newValue)
                return self.hook
            }
            hook?(newValue)
        }
    }

    /// How often the getter was called.
    var readCount: Int { lock.withLock { reads } }

    /// The values that were passed to the setter, in order.
    var writes: [TokenCredential] { lock.withLock { written } }

    /// Stores a credential as the app would, without recording it.
    func put(_ credential: TokenCredential) {
        lock.withLock { self.credential = credential }
    }

    /// From now on the setter ignores its values.
    func stopTaking() {
        lock.withLock { takes = false }
    }

    /// The getter calls the hook once, after it has read the value and before
    /// it returns it.
    func onNextRead(_ hook: @escaping @Sendable () -> Void) {
        lock.withLock { readHook = hook }
    }

    /// The setter calls the hook after it has stored the credential.
    func onWrite(_ hook: @escaping @Sendable (TokenCredential) -> Void) {
        lock.withLock { self.hook = hook }
    }
}

extension Atom {
    /// Resumes a request with a completion.
    func call(_ endpoint: any Requestable) -> Call {
        let call = Call()
        call.keep(enqueue(endpoint).resume { call.heard($0) })
        return call
    }

    /// Waits until so many callers share exchanges.
    func hasSharers(_ count: Int) async -> Bool {
        await eventually { sharing.counts.callers == count }
    }
}

/// The results of one completion.
final class Call: @unchecked Sendable {
    typealias Outcome = Result<AtomResponse, AtomError>

    // Accessed only under `lock`.
    private let lock = NSLock()
    private var outcomes: [Outcome] = []
    private let hasHeard = Signal()
    private var task: ServiceTask?

    func keep(_ task: ServiceTask) {
        lock.withLock { self.task = task }
    }

    func heard(_ outcome: Outcome) {
        lock.withLock { outcomes.append(outcome) }
        hasHeard.raise()
    }

    func cancel() {
        lock.withLock { task }?.cancel()
    }

    /// The number of calls of the completion.
    var count: Int { lock.withLock { outcomes.count } }

    /// Waits for the first result; the test fails if there is none within
    /// minutes.
    func outcome(sourceLocation: SourceLocation = #_sourceLocation) async -> Outcome {
        await hasHeard.wait(sourceLocation: sourceLocation)
        return lock.withLock { outcomes.first } ?? .failure(.unexpected)
    }

    /// The status of a successful response.
    func status(sourceLocation: SourceLocation = #_sourceLocation) async -> Int? {
        try? await outcome(sourceLocation: sourceLocation).get().statusCode
    }

    /// The error of a failed request.
    func error(sourceLocation: SourceLocation = #_sourceLocation) async -> AtomError? {
        if case .failure(let error) = await outcome(sourceLocation: sourceLocation) { error } else { nil }
    }
}
