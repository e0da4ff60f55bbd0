/// What is added to an attempt directly before it is sent: the credential, the
/// cookies, the SDK's own header fields, and what the app's signers add.
struct AttemptSigning: Sendable {
    let policy: ExchangePolicy
    /// Whether the service's authentication method signs the request.
    let isSigned: Bool
    private let takesSigners: Bool
    /// Whether a proof adds to each attempt, if the token that signs it is bound to a key.
    private let takesProof: Bool
    /// Whether the endpoint asks to be signed, for the app's signers.
    private let requiresAuthorization: Bool
    private let idleTimeout: Duration
    /// Whose cookies the request has begun with; `nil` if the session signs it and knows whose it is.
    private let begun: Tenure?

    struct Additions: Sendable {
        /// With whose cookies it is sent, and what it brings home is kept.
        fileprivate(set) var pass: Pass
        fileprivate(set) var cookie: String?
        /// The SDK's own header fields.
        fileprivate var own: [HeaderItem] = []
        /// All header fields, if the app's signers have added to them.
        fileprivate var signed: HeaderFields?

        init(pass: Pass) { self.pass = pass }
    }

    /// - Parameter tenure: Whose the request is, if that is known.
    init(_ request: borrowing PreparedRequest, of tenure: Tenure?, by manager: RequestableQueueManager) {
        policy = manager.policy(for: request.purpose)
        isSigned = request.requiresAuthorization && manager.signsRequests
        takesSigners = request.takesSigners && manager.hasSigners
        takesProof = manager.proof != nil && (isSigned || request.purpose == .token)
        requiresAuthorization = request.requiresAuthorization
        idleTimeout = request.timeouts.idle
        let isNobodys = policy.usesCookies && !(isSigned && manager.gate != nil)
        begun = isNobodys ? tenure ?? manager.cookies.give(to: manager.tenure).0 : nil
    }

    /// Sets what is added to the next attempt, and takes another pass if the one that was given no longer counts.
    ///
    /// - Parameter additions: With the pass that the session has just given, if it has. Returned as a result, they would
    ///   be copied twice.
    func complete(
        _ additions: inout Additions, for exchange: Exchange, attempt: (_ isSigned: Bool) -> NextAttempt
    ) throws(AuthenticationError) {
        let manager = exchange.manager
        while true {
            let isSigned = additions.pass.authorization != nil
            if policy.usesCookies {
                var (tenure, mayHaveCookies) = manager.cookies.give(to: additions.pass.tenure)
                if let begun, !begun.hasSameCookies(as: tenure) {
                    // Whoever asked before has gone.
                    if begun.isKnownByCookies { throw .signedOut(delivery: .notSent) }
                    (tenure, mayHaveCookies) = (begun, false)
                }
                additions.pass.tenure = tenure
                if mayHaveCookies {
                    additions.cookie = cookie(for: attempt(isSigned).attempt, of: tenure, manager)
                }
            }
            if let destination = exchange.destination {
                guard
                    let own = destination.willSend(
                        attempt(isSigned).attempt, by: additions.pass, cookie: additions.cookie)
                else {
                    additions = Additions(pass: pass(for: exchange))
                    continue
                }
                additions.own = own
            }
            guard takesSigners || takesProof else { return }
            additions.signed = try signed(attempt(isSigned), additions, for: exchange)
            // Signers take their time, and the token may have been rejected meanwhile.
            let now = pass(for: exchange)
            if now.tokenNumber == additions.pass.tokenNumber { return }
            additions = Additions(pass: now)
        }
    }

    /// What the next attempt is made with, asked for directly before it is sent, so that the token is still good.
    func pass(for exchange: Exchange) -> Pass {
        let manager = exchange.manager
        if isSigned, let gate = manager.gate { return gate.pass(for: exchange) }
        return Pass(
            authorization: isSigned ? manager.basicAuthorization : nil,
            tenure: policy.usesCookies ? manager.tenure : .nobody)
    }

    private func cookie(for attempt: Attempt, of tenure: Tenure, _ manager: RequestableQueueManager) -> String? {
        // Cookies are not bound to a port (RFC 6265 §8.5), so the jar would also match another origin of the same host.
        guard !attempt.hasLeftOrigin, !attempt.headerFields.contains("Cookie") else { return nil }
        return manager.cookies.field(for: attempt.target.cookieAddress, of: tenure, at: manager.time.date)
    }

    /// All header fields with those of the proof and the app's signers; `nil` if it isn't sent, or if nothing may be added.
    private func signed(
        _ next: NextAttempt, _ additions: Additions, for exchange: Exchange
    ) throws(AuthenticationError) -> HeaderFields? {
        guard next.isReady, !next.attempt.hasLeftOrigin else { return nil }
        var draft = SignableRequest(
            request(next.attempt, additions, isSigned: next.isSigned, number: next.number, for: exchange),
            requestID: exchange.observation?.requestID,
            requiresAuthorization: requiresAuthorization,
            isAuthorized: next.isSigned && additions.pass.authorization != nil, date: exchange.manager.time.date)
        do {
            try exchange.manager.sign(
                &draft, proves: takesProof && (!isSigned || draft.isBound), takesSigners: takesSigners)
            return draft.headerFields
        } catch {
            throw .notSigned(cause: error, delivery: .notSent)
        }
    }

    /// The request for the transport.
    func request(
        _ attempt: borrowing Attempt, _ additions: borrowing Additions, isSigned: Bool, number: Int,
        for exchange: Exchange
    ) -> TransportRequest {
        attempt.transportRequest(
            own: additions.own, authorization: isSigned ? additions.pass.authorization : nil,
            cookie: additions.cookie, replacedBy: additions.signed, idleTimeout: idleTimeout,
            needsFreshConnection: policy.needsFreshConnection, wantsMetrics: exchange.observation != nil, number: number
        )
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
