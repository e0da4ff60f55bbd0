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
    /// Used on many threads, which `JSONEncoder` allows as long as it isn't changed.
    private let encoder: JSONEncoder
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
    private let bearer: BearerAuthentication?
    private let timeout: ServiceTimeout
    /// The same after validation, once for all requests.
    private let timeouts: Result<RequestTimeouts, AtomError>
    /// The header fields of every request after validation, or `nil`.
    private let commonFields: Result<PreparedRequest.CommonFields, AtomError>?
    /// Why nothing can be sent, or nothing signed, with this configuration.
    private let refusal: RequestableError?
    private let signingRefusal: AtomError?
    /// Where the credential may be sent.
    private let allowedOrigins: AllowedOrigins
    private let adapters: [any RequestAdapter]
    private let signers: [any RequestSigner]
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
        refusal = configuration.configuration.violation
        deadlines = DeadlineQueue(time: time)
        cookies = CookieStore(system: configuration.configuration.cookieStorage)
        adapters = configuration.adapters
        signers = configuration.signers
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
        encoder = configuration.encoder
        dispatchQueue = configuration.dispatchQueue
        timeout = configuration.timeout
        timeouts = Result { [timeout] () throws(AtomError) in try timeout.checked() }

        let items = configuration.headerItems
        commonFields =
            items.isEmpty ? nil : Result { () throws(AtomError) in try PreparedRequest.CommonFields(items) }
        bearer = configuration.authenticationMethod.bearer
        session = bearer.map { SessionRegistry.shared.session(for: $0, time: time) }
        gate = session?.gate
        refreshMeans = bearer.map(RefreshMeans.init) ?? .refreshToken
        var basicAuthorization: String?
        var signingRefusal: AtomError?
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
        self.signingRefusal = signingRefusal
    }

    /// What the system says of the network.
    private static var systemConnectivity: (any ConnectivityMonitor)? {
        #if canImport(Network) && !os(watchOS)
            SystemConnectivity()
        #else
            nil
        #endif
    }

    /// Apart from ``prepare(_:)``, which would copy the options for it.
    @inline(never)
    private func refusal(of origin: Origin) -> AtomError {
        allowedOrigins.refusal(
            of: origin,
            option: session == nil ? "BasicCredential.allowedOrigins" : "BearerAuthentication.allowedOrigins")
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
    func prepare(_ requestable: any Requestable) throws(AtomError) -> PreparedRequest {
        do throws(AtomError) {
            if let refusal { throw .requestable(refusal) }
            let description = try RequestDescription(of: requestable)
            let request =
                adapters.isEmpty && description.link == nil
                ? try PreparedRequest(
                    description, of: observers == nil ? nil : type(of: requestable), timeouts: timeouts,
                    encoder: encoder, common: commonFields)
                : try adaptedRequest(description, of: requestable)
            if request.requiresAuthorization {
                if let signingRefusal { throw signingRefusal }
                guard allowedOrigins.allows(request.target.origin) else { throw refusal(of: request.target.origin) }
            }
            return request
        } catch {
            refused(requestable, error)
            throw error
        }
    }

    /// Tells observers that an endpoint can't be sent.
    func refused(_ requestable: any Requestable, _ error: AtomError) {
        if let observers { RequestObservation.refuse(type(of: requestable), error, observers, time: time) }
    }

    /// Lets the adapters change what an endpoint says, and validates it.
    ///
    /// A server's link is signed only where the credential may go, and only there the adapters, the signers and the
    /// service add to it. Apart from ``prepare(_:)``, which most services run for nothing of this.
    @inline(never)
    private func adaptedRequest(
        _ description: RequestDescription, of endpoint: any Requestable
    ) throws(AtomError) -> PreparedRequest {
        var description = description
        var common = commonFields
        let owner = description.link == nil ? ownTenure : gate?.tenure ?? ownTenure
        let isTrusted = description.link.map { allowedOrigins.signs($0, in: owner) } ?? true
        if isTrusted {
            for adapter in adapters {
                do {
                    try adapter.adapt(&description, of: endpoint)
                } catch {
                    throw adapter.error(error)
                }
            }
        } else {
            description.requiresAuthorization = false
            common = common?.map { $0.harmless }
        }
        var request = try PreparedRequest(
            description, of: type(of: endpoint), timeouts: timeouts, encoder: encoder, common: common,
            takesSigners: isTrusted)
        if session != nil, let tenure = description.link?.tenure, tenure.hasSameSigner(as: owner) {
            request.tenure = tenure
        }
        return request
    }

    /// Who hears of a request; `nil` for nobody.
    func observation(of request: borrowing PreparedRequest) -> RequestObservation? {
        observers == nil ? nil : RequestObservation(request, time: time)
    }

    /// Whether the app adds to each attempt.
    var hasSigners: Bool { !signers.isEmpty }

    /// Lets the app's signers add to a request that is about to be sent.
    func sign(_ request: inout SignableRequest) throws {
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

// MARK: - What the session asks for

extension RequestableQueueManager: RefreshService {
    func token(
        replacing credential: TokenCredential?, sentAt: Moment, overdue: @escaping @Sendable (AtomError) -> Void
    ) async -> TokenResponse {
        guard let bearer, let client = bearer.refresh.endpoint?.client,
            let request = TokenRequest.token(replacing: credential, with: bearer, timeout: refreshDeadline)
        else { return .failed(AtomError.unexpected, retryAfter: nil) }
        let sent = client.grantType == .refreshToken ? credential : nil
        return switch await PendingResponse(run(request, listener: .awaitingAnyLate(overdue: overdue))).result() {
        case .success(let response):
            TokenResponse(
                response, replacing: sent, clientSecret: client.secret, parameters: bearer.parameters,
                sentAt: sentAt.date
            )
            .about(response, until: time.now)
        case .failure(let error): .failed(error, retryAfter: nil)
        }
    }

    var revokes: Bool { bearer?.revocationEndpoint != nil }

    func revoke(_ credential: TokenCredential) {
        guard let bearer, revokes else { return }
        do throws(AtomError) {
            guard let request = try revocationRequest(of: credential, bearer) else { return }
            _ = run(
                request,
                listener: .completion({ [log, time] in _ = Self.judge(revocation: $0, log, until: time.now) }))
        } catch {
            log?.note("The token was not revoked: \(error.wordless)")
        }
    }

    func revocation(of credential: TokenCredential) async -> AtomError? {
        guard let bearer else { return nil }
        do throws(AtomError) {
            guard let request = try revocationRequest(of: credential, bearer) else { return nil }
            let result = await PendingResponse(run(request, listener: .awaiting)).result()
            return Self.judge(revocation: result, log, until: time.now)
        } catch {
            return error
        }
    }

    /// - Returns: `nil` if there is nothing to revoke.
    /// - Throws: Why nothing can be revoked with this configuration.
    private func revocationRequest(
        of credential: TokenCredential, _ bearer: BearerAuthentication
    ) throws(AtomError) -> PreparedRequest? {
        guard bearer.refresh.endpoint != nil, let endpoint = bearer.revocationEndpoint else {
            throw .requestable(
                .unsupportedConfiguration(
                    .init(
                        subject: "BearerAuthentication.revocationEndpoint",
                        reason: bearer.refresh.endpoint == nil
                            ? "a service with only a provider has no client that could revoke tokens" : "it is nil")))
        }
        guard bearer.allowedOrigins.allows(endpoint) else { throw AllowedOrigins.refusal(of: endpoint) }
        return TokenRequest.revocation(of: credential, with: bearer, timeout: refreshDeadline)
    }

    private static func judge(
        revocation result: Result<AtomResponse, AtomError>, _ log: RequestLog?, until now: MonotonicInstant
    ) -> AtomError? {
        let failure: AtomError
        switch result {
        case .success(let response) where response.isSuccess:
            log?.note("The token has been revoked")
            return nil
        case .success(let response): failure = .response(response).about(response, until: now)
        case .failure(let error): failure = error
        }
        log?.note("The token was not revoked: \(failure.wordless)")
        return failure
    }

    var provider: (any TokenCredentialProvider)? { bearer?.refresh.provider }
    var providerDeadline: Duration? { bearer?.providerDeadline?.bounded }

    /// The longest time a refresh may take.
    private var refreshDeadline: Duration {
        if let deadline = bearer?.deadline, deadline > .zero { return min(deadline, .year) }
        let resource = timeout.resource
        return .seconds(resource > 0 ? min(resource, Duration.year.seconds) : 30)
    }

    func announce(_ event: SessionEvent, isOver: Bool) {
        if let observers { RequestObservation.announce(event, to: observers, time: time) }
        if case .credentialNotStored(let failure) = event { observers?.note(failure.description, at: .error) }
        guard isOver, event.reasonToSignIn != nil || event.unauthorizedRefresh != nil else { return }
        let post: HeldNotices.Post = { [dispatchQueue] in AtomNotification.announce(event, on: dispatchQueue) }
        if let session { session.notices.post(post) } else { post() }
    }
}
