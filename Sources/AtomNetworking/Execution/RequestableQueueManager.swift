import Foundation

/// Takes requests in and sends them on their way.
///
/// With a good token a request goes straight on. Only while a refresh is
/// needed or running does it queue, first in, first out, in the
/// ``SessionActor`` that it shares with every service of the same token store.
///
/// Owns what the exchanges of one ``Atom`` share: the transport, the slots of
/// each origin, the deadlines, the cookies and the log.
final class RequestableQueueManager: Sendable {
    let transport: any Transport
    let slots: OriginSlots
    let deadlines: DeadlineQueue
    let cookies: CookieStore
    let log: ExchangeLog
    let time: any TimeSource
    /// How requests of the app's are handled.
    private let policy: ExchangePolicy
    /// Shared by all; `JSONDecoder` may decode on many threads as long as nobody changes it.
    let decoder: JSONDecoder
    /// Where completions and notifications are delivered.
    let dispatchQueue: DispatchQueue
    /// The session of bearer tokens, if that is how requests are signed.
    let session: SessionActor?
    /// The part of it that requests go through.
    let gate: SessionGate?
    /// How another credential is got when a request of this service sets a
    /// refresh off.
    let renewalMeans: RenewalMeans
    /// The `Authorization` value that never changes, made once.
    let basicAuthorization: String?

    private let notices = HeldNotices()

    /// How the session is refreshed when a request of this service sets it off.
    private let bearer: BearerAuthentication?
    private let timeout: ServiceTimeout
    /// The same, checked once for all requests.
    private let timeouts: Result<RequestTimeouts, AtomError>
    /// Why nothing can be sent, or nothing signed, with this configuration.
    private let refusal: RequestableError?
    private let signingRefusal: AtomError?

    init(_ configuration: ServiceConfiguration, time: any TimeSource = SystemTimeSource()) {
        self.time = time
        transport = configuration.transport ?? configuration.makeURLSessionTransport()
        refusal = configuration.transport == nil ? configuration.configuration.violation : nil
        slots = OriginSlots(limit: configuration.maximumExchangesPerOrigin ?? transport.exchangesPerOrigin)
        deadlines = DeadlineQueue(time: time)
        cookies = CookieStore(system: configuration.configuration.cookieStorage)
        log = ExchangeLog(isEnabled: configuration.isLogEnabled, handler: configuration.logHandler)
        policy = ExchangePolicy(
            takesSlot: true, usesCookies: true, needsFreshConnection: false,
            redirects: configuration.redirectPolicy, maximumBodySize: configuration.maximumResponseSize)
        decoder = configuration.decoder
        dispatchQueue = configuration.dispatchQueue
        timeout = configuration.timeout
        timeouts = Result { [timeout] () throws(AtomError) in try timeout.checked() }

        var session: SessionActor?
        var bearer: BearerAuthentication?
        var basicAuthorization: String?
        var signingRefusal: AtomError?
        switch configuration.authenticationMethod {
        case .none:
            break
        case .basic(let credential):
            do {
                basicAuthorization = try credential.authorization()
            } catch {
                signingRefusal = error
            }
        case .bearer, .bearerAuthentication:
            bearer = configuration.authenticationMethod.bearer
            session = bearer.map { SessionRegistry.shared.session(for: $0, time: time) }
        }
        self.session = session
        gate = session?.gate
        self.bearer = bearer
        renewalMeans = bearer.map(RenewalMeans.init) ?? .refreshToken
        self.basicAuthorization = basicAuthorization
        self.signingRefusal = signingRefusal
    }

    /// What sets requests for this purpose apart.
    func policy(for purpose: PreparedRequest.Purpose) -> ExchangePolicy {
        switch purpose {
        case .service: policy
        case .token: .token
        case .revocation: .revocation
        }
    }

    /// Keeps the notification of a session's end back, until as many calls of
    /// `releaseNotices`.
    func holdNotices() { notices.hold() }

    /// One caller less has to be told first.
    func releaseNotices() {
        for reason in notices.release() { AtomNotification.announce(reason, on: dispatchQueue) }
    }

    /// Whether requests that need a signature get one.
    var signsRequests: Bool { session != nil || basicAuthorization != nil }

    /// Reads and checks an endpoint, in the caller's isolation.
    func prepare(_ requestable: any Requestable) throws(AtomError) -> PreparedRequest {
        if let refusal { throw .requestable(refusal) }
        let request = try PreparedRequest(requestable, timeouts: timeouts)
        if request.needsSignature, let signingRefusal { throw signingRefusal }
        return request
    }

    /// Starts a request or queues it, before this returns.
    func run(_ request: consuming PreparedRequest, listener: Exchange.Listener) -> Exchange {
        for name in request.omittedFields {
            log("The header field \(name) of \(request.method) \(request.target) is left out: the transport writes it")
        }
        let exchange = Exchange(request, manager: self, listener: listener)
        exchange.start()
        return exchange
    }
}

// MARK: - What the session asks for

extension RequestableQueueManager: RenewalService {
    func token(replacing credential: TokenCredential?, sentAt: Moment) async -> TokenAnswer {
        guard let bearer,
            let request = TokenRequest.token(replacing: credential, with: bearer, timeout: refreshDeadline)
        else { return .failed(AtomError.unexpected, retryAfter: nil) }
        let sent = TokenRequest.isByRefreshToken(bearer) ? credential : nil
        return switch await PendingResponse(request, manager: self).result() {
        case .success(let response):
            TokenAnswer(response, replacing: sent, clientSecret: bearer.clientSecret, sentAt: sentAt.date)
        case .failure(let error): .failed(error, retryAfter: nil)
        }
    }

    func revoke(_ credential: TokenCredential) {
        guard let bearer,
            let request = TokenRequest.revocation(of: credential, with: bearer, timeout: refreshDeadline)
        else { return }
        let listener = Exchange.Listener.completion { [log] result in
            switch result {
            case .success(let response) where response.isSuccess: log("The token has been revoked")
            case .success(let response): log("The token was not revoked: \(response.description)")
            case .failure(let error): log("The token was not revoked: \(error.description)")
            }
        }
        _ = run(request, listener: listener)
    }

    var provider: (any TokenCredentialProvider)? {
        if case .provider(let provider) = bearer?.renewal { provider } else { nil }
    }

    var providerDeadline: Duration? { bearer?.deadline?.bounded }

    /// The longest time a refresh may take.
    private var refreshDeadline: Duration {
        if let deadline = bearer?.deadline, deadline > .zero { return min(deadline, .year) }
        let resource = timeout.resource
        return .seconds(resource > 0 ? min(resource, Duration.year.seconds) : 30)
    }

    func announce(_ event: SessionEvent, isOver: Bool) {
        if case .refreshFailed(let failure) = event { log("✗ refresh: \(failure.description)") }
        guard isOver, let reason = event.reasonToSignIn else { return }
        if !notices.keep(reason) { AtomNotification.announce(reason, on: dispatchQueue) }
    }
}
