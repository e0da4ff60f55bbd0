import Foundation

// What the session asks the service for.
extension RequestableQueueManager: RefreshService {
    func token(
        replacing credential: TokenCredential?, sentAt: Moment, overdue: @escaping @Sendable (AtomError) -> Void
    ) async -> TokenResponse {
        guard let bearer, let client = bearer.refresh.endpoint?.client,
            let request = TokenRequest.token(replacing: credential, with: bearer, timeout: refreshDeadline)
        else { return .failed(AtomError.unexpected, retryAfter: nil) }
        let sent = client.grantType == .refreshToken ? credential : nil
        var result = await PendingResponse(run(request, listener: .awaitingAnyLate(overdue: overdue))).result()
        // The server has done nothing but to ask for a proof with its nonce (RFC 9449 §8).
        let rest = refreshDeadline - sentAt.instant.duration(to: time.now)
        if let proof, case .success(let response) = result, proof.received(response), rest > .zero,
            let again = TokenRequest.token(replacing: credential, with: bearer, timeout: rest)
        {
            result = await PendingResponse(run(again, listener: .awaitingAnyLate(overdue: overdue))).result()
            if case .success(let response) = result { _ = proof.received(response) }
        }
        return switch result {
        case .success(let response):
            TokenResponse(
                response, replacing: sent, clientSecret: client.secret, parameters: bearer.parameters,
                endedBy: bearer.sessionEndingErrors, types: bearer.tokenTypes, proof: bearer.proof, sentAt: sentAt.date
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

    /// A request has waited too long for the session: it names the refresh that it may have waited for.
    func waitedTooLong(_ delivery: AtomError.Delivery) -> AtomError {
        let refresh = bearer?.refresh.endpoint.map { "POST \(Redaction.url($0.address.target.absoluteString))" }
        return .authentication(.waitedTooLong(delivery: .init(delivery, refresh: refresh)))
    }

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
