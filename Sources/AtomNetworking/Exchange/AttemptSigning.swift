/// What is added to an attempt directly before it is sent: the credential, the
/// cookies, the SDK's own header fields, and what the app's signers add.
struct AttemptSigning: Sendable {
    let policy: ExchangePolicy
    /// Whether the service's authentication method signs the request.
    let isSigned: Bool
    private let manager: RequestableQueueManager
    private let destination: (any ResponseDestination)?
    private let requestID: UInt64?
    private let wantsMetrics: Bool
    /// Whether the app's signers add to each attempt.
    private let takesSigners: Bool
    /// Whether the endpoint asks to be signed, for the app's signers.
    private let requiresAuthorization: Bool
    private let idleTimeout: Duration
    /// The era of cookies in which the request has begun; `nil` if the session signs it and knows whose it is.
    private let cookieEra: Int?

    /// The value of the `Authorization` field, and the version of the session's credential that it comes from.
    struct Signature: Sendable {
        fileprivate(set) var authorization: String?
        fileprivate(set) var version: Int?
        /// Whether the session wants to hear that the server accepts it.
        fileprivate(set) var isUnproven = false
        /// How many people had gone.
        fileprivate(set) var departures = 0
        /// Whether the session has been asked.
        fileprivate var isKnown = true

        /// To be asked for.
        static let unknown = Signature(isKnown: false)

        fileprivate init(authorization: String? = nil, departures: Int = 0, isKnown: Bool = true) {
            (self.authorization, self.departures, self.isKnown) = (authorization, departures, isKnown)
        }

        init(_ signature: SessionSignature, _ departures: Int) {
            self.departures = departures
            if case .authorization(let value, let version, let isUnproven) = signature {
                (authorization, self.version, self.isUnproven) = (value, version, isUnproven)
            }
        }
    }

    struct Additions: Sendable {
        let signature: Signature
        fileprivate(set) var cookie: String?
        /// The era that the cookies that it brings home belong to.
        fileprivate(set) var cookieEra = 0
        /// The SDK's own header fields.
        fileprivate var own: [HeaderItem] = []
        /// All header fields, if the app's signers have added to them.
        fileprivate var signed: HeaderFields?
    }

    init(
        _ request: borrowing PreparedRequest, manager: RequestableQueueManager,
        destination: (any ResponseDestination)?, observation: RequestObservation?
    ) {
        self.manager = manager
        self.destination = destination
        policy = manager.policy(for: request.purpose)
        isSigned = request.requiresAuthorization && manager.signsRequests
        takesSigners = request.takesSigners && manager.hasSigners
        requiresAuthorization = request.requiresAuthorization
        idleTimeout = request.timeouts.idle
        requestID = observation?.requestID
        wantsMetrics = observation != nil
        let isNobodys = policy.usesCookies && !(isSigned && manager.gate != nil)
        cookieEra = isNobodys ? manager.cookies.era(since: manager.departures).0 : nil
    }

    /// What is added to the next attempt, which the session may just have admitted with a signature.
    func additions(
        _ signature: Signature, for waiter: any SessionWaiter, attempt: (_ isSigned: Bool) -> NextAttempt
    ) throws(AuthenticationError) -> Additions {
        var signature = signature
        while true {
            // Signed directly before sending, so that the token is still good.
            if !signature.isKnown { signature = self.signature(for: waiter) }
            let isSigned = signature.authorization != nil
            var additions = Additions(signature: signature)
            if policy.usesCookies {
                var (era, mayHaveCookies) = manager.cookies.era(since: signature.departures)
                let last = destination?.cookies
                if let begun = last?.era ?? cookieEra, begun != era {
                    // Whoever asked before has gone.
                    if last?.hadCookies == true { throw .signedOut(delivery: .notSent) }
                    (era, mayHaveCookies) = (begun, false)
                }
                additions.cookieEra = era
                if mayHaveCookies { additions.cookie = cookie(for: attempt(isSigned).attempt, of: era) }
            }
            if let destination {
                var asker = Asker(cookie: additions.cookie)
                if let version = signature.version {
                    // By the version, so that it is the one who signs.
                    asker.signer = manager.gate?.signer(of: version)
                    if asker.signer == nil {
                        signature.isKnown = false
                        continue
                    }
                } else {
                    asker.authorization = signature.authorization
                }
                additions.own = destination.fields(for: attempt(isSigned).attempt, by: asker)
            }
            guard takesSigners else { return additions }
            additions.signed = try signed(attempt(isSigned), additions)
            // Signers take their time, and the token may have been rejected meanwhile.
            if self.signature(for: waiter).version == signature.version { return additions }
            signature.isKnown = false
        }
    }

    private func signature(for waiter: any SessionWaiter) -> Signature {
        guard let gate = manager.gate else {
            return Signature(authorization: isSigned ? manager.basicAuthorization : nil)
        }
        guard isSigned else { return Signature(departures: policy.usesCookies ? manager.departures : 0) }
        let (signature, departures) = gate.signature(for: waiter)
        return Signature(signature, departures)
    }

    private func cookie(for attempt: Attempt, of era: Int) -> String? {
        // Cookies are not bound to a port (RFC 6265 §8.5), so the jar would also match another origin of the same host.
        guard !attempt.hasLeftOrigin, !attempt.headerFields.contains("Cookie") else { return nil }
        return manager.cookies.field(for: attempt.target.cookieAddress, of: era, at: manager.time.date)
    }

    /// All header fields with those of the app's signers; `nil` if it isn't sent, or if nothing may be added.
    private func signed(_ next: NextAttempt, _ additions: Additions) throws(AuthenticationError) -> HeaderFields? {
        guard next.isReady, !next.attempt.hasLeftOrigin else { return nil }
        var draft = SignableRequest(
            request(next.attempt, additions, isSigned: next.isSigned, number: next.number), requestID: requestID,
            requiresAuthorization: requiresAuthorization,
            isAuthorized: next.isSigned && additions.signature.authorization != nil, date: manager.time.date)
        do {
            try manager.sign(&draft)
            return draft.headerFields
        } catch {
            throw .notSigned(cause: error, delivery: .notSent)
        }
    }

    /// The request for the transport.
    func request(
        _ attempt: borrowing Attempt, _ additions: borrowing Additions, isSigned: Bool, number: Int
    ) -> TransportRequest {
        attempt.transportRequest(
            own: additions.own, authorization: isSigned ? additions.signature.authorization : nil,
            cookie: additions.cookie, replacedBy: additions.signed, idleTimeout: idleTimeout,
            needsFreshConnection: policy.needsFreshConnection, wantsMetrics: wantsMetrics, number: number)
    }
}

/// An attempt that is about to be made.
struct NextAttempt: Sendable {
    let attempt: Attempt
    let number: Int
    /// Whether it is signed.
    let isSigned: Bool
    /// Whether a slot sends it.
    let isReady: Bool
}
