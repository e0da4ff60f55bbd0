import Foundation

/// Runs the requests of one ``Atom``.
///
/// With a good token a request runs directly. Only while a refresh is needed or running does it wait, first in, first
/// out, in the queue of the ``SessionActor``. All services with the same token store share that session.
///
/// The manager owns what its exchanges share: the transport, the slots of each
/// origin, the deadlines, the cookies and the log.
final class RequestableQueueManager: Sendable {
    let transport: any Transport
    /// The same, if it may hand a response over where no code of the app runs.
    let directTransport: (any DirectTransport)?
    let slots: OriginSlots
    let quotas = RetryQuotas()
    /// For requests of endpoints without their own.
    let retryPolicy: RetryPolicy
    /// Numbers in 0..<1, for the pauses between attempts.
    let random: @Sendable () -> Double
    let deadlines: DeadlineQueue
    /// Tells whether there is a network; `nil` where nobody knows.
    let connectivity: (any ConnectivityMonitor)?
    let cookies: CookieStore
    let log: RequestLog?
    let time: any TimeSource
    /// Called when a result has reached its caller.
    let resultHandler: (@Sendable () -> Void)?
    /// The policy for the app's requests.
    private let policy: ExchangePolicy
    let decoder: ResponseDecoder
    /// Where completions and notifications are delivered.
    let dispatchQueue: DispatchQueue
    /// The session, if requests are signed with bearer tokens.
    let session: SessionActor?
    /// The part of the session that requests with a good token use.
    let gate: SessionGate?
    /// How the session gets another credential when a request of this service starts a refresh.
    let refreshMeans: RefreshMeans
    /// The value of `Authorization` for Basic authentication.
    let basicAuthorization: String?

    /// Whose requests are without a session.
    private let ownTenure: Tenure
    let bearer: BearerAuthentication?
    /// That of `bearer`, which each request would copy: 700 instructions.
    let proof: (any TokenProof)?
    private let tokenRejections: [TokenRejection]
    /// Whether more than the status of a response says something of its token.
    private let looksAtHeads: Bool
    let timeout: ServiceTimeout
    let preparation: RequestPreparation
    private let signers: [any RequestSigner]
    /// What requests go through before all else; `nil` for nothing.
    let plugins: PluginChain?
    /// `nil` for none.
    let observers: ObserverChain?

    init(
        _ configuration: ServiceConfiguration, time: (any TimeSource)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        connectivity: (any ConnectivityMonitor)? = nil
    ) {
        let time = time ?? configuration.timeSource
        self.time = time
        resultHandler = configuration.resultHandler
        self.connectivity = connectivity ?? Self.systemConnectivity
        // The first question begins the watch, and the first answer takes a moment.
        if configuration.retryPolicy.connectivityWait != nil { _ = self.connectivity?.isOffline }
        self.random = random
        retryPolicy = configuration.retryPolicy
        deadlines = DeadlineQueue(time: time)
        cookies = CookieStore(system: configuration.configuration.cookieStorage)
        signers = configuration.signers
        plugins = PluginChain(configuration.plugins)
        log = configuration.log
        observers = ObserverChain.of(log.map { configuration.observers + [$0] } ?? configuration.observers)
        transport = configuration.transport ?? configuration.makeDefaultTransport()
        slots = OriginSlots(
            limit: configuration.maximumExchangesPerOrigin ?? transport.exchangesPerOrigin,
            isFixed: configuration.maximumExchangesPerOrigin != nil)
        policy = ExchangePolicy(
            takesSlot: true, usesCookies: true, needsFreshConnection: false, retries: true,
            redirectLimit: configuration.redirectLimit, maximumBodySize: configuration.maximumResponseSize)
        decoder = ResponseDecoder(configuration.decoder, on: configuration.timeSource)
        dispatchQueue = configuration.dispatchQueue
        timeout = configuration.timeout
        bearer = configuration.authenticationMethod.bearer
        tokenRejections = bearer?.tokenRejections ?? []
        proof = bearer?.proof
        looksAtHeads = !tokenRejections.isEmpty || proof != nil
        directTransport = looksAtHeads ? nil : transport as? any DirectTransport
        session = bearer.map { SessionRegistry.shared.session(for: $0, time: time) }
        gate = session?.gate
        refreshMeans = bearer.map(RefreshMeans.init) ?? .refreshToken
        var basicAuthorization: String?
        var signingRefusal: AtomError?
        let allowedOrigins: AllowedOrigins
        switch configuration.authenticationMethod {
        case .none: allowedOrigins = .any
        case .basic(let credential):
            allowedOrigins = credential.allowedOrigins
            do {
                basicAuthorization = try credential.authorization()
            } catch {
                signingRefusal = error
            }
        case .bearer, .bearerAuthentication:
            allowedOrigins = bearer?.allowedOrigins ?? .secure
            if let bearer, let endpoint = bearer.refresh.endpoint?.address, !bearer.allowedOrigins.allows(endpoint) {
                signingRefusal = AllowedOrigins.refusal(of: endpoint)
            }
        }
        ownTenure = basicAuthorization.map(Tenure.init(user:)) ?? .nobody
        self.basicAuthorization = basicAuthorization
        preparation = RequestPreparation(
            configuration, allowedOrigins: allowedOrigins, signingRefusal: signingRefusal, tenure: ownTenure,
            session: gate, observers: observers, time: time)
    }

    /// What the system says of the network.
    static var systemConnectivity: (any ConnectivityMonitor)? {
        #if canImport(Network) && !os(watchOS)
            SystemConnectivity()
        #else
            nil
        #endif
    }

    /// The policy for a purpose.
    func policy(for purpose: PreparedRequest.Purpose) -> ExchangePolicy {
        switch purpose {
        case .service: policy
        case .token, .revocation: .token
        }
    }

    /// Whether this service can sign requests.
    var signsRequests: Bool { session != nil || basicAuthorization != nil }

    /// Reads and validates an endpoint, in the caller's isolation.
    @inline(__always)
    func prepare(_ requestable: any Requestable) throws(AtomError) -> PreparedRequest {
        try preparation.prepare(requestable)
    }

    /// What the head of a response says of the token that has signed its request.
    @inline(__always)
    func verdict(on head: TransportResponse, from wire: AttemptOnWire) -> ExchangeMachine.TokenVerdict {
        head.statusCode != 403 && head.statusCode != 401 && !looksAtHeads ? .byStatus : judge(head, from: wire)
    }

    @inline(never)
    private func judge(_ head: TransportResponse, from wire: AttemptOnWire) -> ExchangeMachine.TokenVerdict {
        if let proof,
            proof.received(
                AtomResponse(statusCode: head.statusCode, headerFields: head.headerFields, url: wire.target.url))
        {
            return .wantsAnotherProof
        }
        let errors = head.headerFields.challengeErrors
        // RFC 6750 §3.1 has a 401 for it.
        if head.statusCode == 403, errors.contains("invalid_token") { return .rejected }
        // Another token of the same sign-in would not do (RFC 9470 §3, RFC 6750 §3.1).
        if head.statusCode == 401,
            errors.contains("insufficient_user_authentication") || errors.contains("insufficient_scope")
        {
            return .accepted
        }
        let verdicts = tokenRejections.map { $0.verdict(head.statusCode, head.headerFields) }
        if verdicts.contains(true) { return .rejected }
        return verdicts.contains(nil) ? .byBody : .byStatus
    }

    /// Whether a response means that the token that has signed its request is not valid.
    func isRejection(_ head: TransportResponse, _ body: Data) -> Bool {
        tokenRejections.contains { $0.matches(head.statusCode, head.headerFields, body) }
    }

    /// Who hears of a request; `nil` for nobody.
    func observation(of request: borrowing PreparedRequest) -> RequestObservation? {
        observers == nil ? nil : RequestObservation(request, time: time)
    }

    var hasSigners: Bool { !signers.isEmpty }

    /// Adds what depends on the attempt to a request that is about to be sent.
    func sign(_ request: inout SignableRequest, proves: Bool, takesSigners: Bool) throws {
        if proves { try proof?.sign(&request) }
        guard takesSigners else { return }
        for signer in signers { try signer.sign(&request) }
    }

    /// Whose requests are now; the app's variable is read for this.
    var tenure: Tenure { session?.tenure ?? ownTenure }

    /// Keeps the cookies that a response sets, unless whoever it is for has gone.
    func keepCookies(of head: TransportResponse, from wire: AttemptOnWire) {
        _ = cookies.give(to: tenure)
        cookies.keep(head.headerFields, from: wire.target.cookieAddress, of: wire.tenure, at: time.date)
    }

    /// Starts or queues a request before it returns.
    ///
    /// - Parameters:
    ///   - tenure: Whose it is; `nil` for whoever is signed in.
    ///   - isShared: Whether it is new, and others may have joined already: a takeover doesn't matter to it.
    func run(
        _ request: consuming PreparedRequest, listener: Exchange.Listener,
        destination: (any ResponseDestination)? = nil, progress: ProgressReporter? = nil,
        of tenure: Tenure? = nil, isShared: Bool = false
    ) -> Exchange {
        for name in request.omittedFields {
            log?.note(
                "The header field \(name) of \(request.method) \(request.target) is left out: the transport writes it")
        }
        let origin = request.target.origin
        var ticket = tenure.map { SessionTicket(tenure: $0, isBound: !isShared, isNew: isShared) }
        // A stream that goes on knows more of whose it is than the link that it began with.
        if tenure == nil || isShared, let person = request.tenure, let now = gate?.tenure {
            let isStillThere = now.isSamePerson(as: person)
            ticket = SessionTicket(tenure: isStillThere ? cookies.give(to: now).0 : .over, isBound: true)
        }
        let exchange = Exchange(
            request, manager: self, listener: listener, destination: destination, progress: progress, with: ticket)
        exchange.start(at: origin)
        return exchange
    }
}

// It holds a Basic credential.
extension RequestableQueueManager: Redacted {}
