import Foundation

/// The authorization server: tokens (RFC 6749 §3.2) and their revocation (RFC 7009).
struct TokenEndpoints {
    let configuration: ServerConfiguration
    let state: Locked<ServerState>
    let clock: ServerClock

    func install(on router: inout Router) {
        let endpoints = self
        router.on("POST", AirlineServer.tokenPath) { call in try await endpoints.token(call) }
        router.on("POST", AirlineServer.revocationPath) { call in endpoints.revoke(call) }
    }

    // MARK: Tokens

    private func token(_ call: Call) async throws -> Reply {
        let fate = state.withLock { state in
            state.tokenRequestArrived()
            if call.header("Authorization").flatMap({ AuthorizationHeader.value(of: $0, scheme: "Bearer") }) != nil {
                state.counters.bearerTokensAtTokenEndpoint += 1
            }
            return state.faults.nextFate()
        }
        defer { state.withLock { $0.tokenRequestEnded() } }
        if fate.delayMilliseconds > 0 {
            try await Task.sleep(nanoseconds: UInt64(fate.delayMilliseconds) * 1_000_000)
        }
        if fate.isUnavailable {
            state.withLock { $0.counters.tokenRequestsUnavailable += 1 }
            return unavailable(retryAfter: fate.retryAfter)
        }
        var reply: Reply
        do throws(OAuthError) {
            reply = try issue(for: call)
        } catch {
            state.withLock { $0.counters.tokenRequestsRefused += 1 }
            reply = error.reply
        }
        if let lossStyle = fate.lossStyle {
            state.withLock { $0.counters.answersLost += 1 }
            reply.delivery = lossStyle == .hangUp ? .hangUp : .silence
            reply.note = "processed, response lost"
        }
        return reply
    }

    private func unavailable(retryAfter: Int?) -> Reply {
        var reply = Problem(503, "unavailable", "The token endpoint is not available.").reply.uncacheable()
        if let retryAfter {
            reply.headers.append(("Retry-After", String(retryAfter)))
        }
        return reply
    }

    private func issue(for call: Call) throws(OAuthError) -> Reply {
        let form = try FormParameters(call)
        let client = try ClientAuthentication(clients: configuration.clients).client(for: call, form: form)
        let scope = form["scope"].map { $0.split(separator: " ").map(String.init) }
        let issue: TokenLedger.Issue
        switch try Grant(form) {
        case .password(let username, let password):
            guard let known = configuration.users[username], known == password else {
                throw OAuthError(.invalidGrant, "The user name or the password is wrong.")
            }
            issue = signIn(.init(user: username, clientID: client.id, scope: try granted(scope)), isRefreshable: true)
        case .clientCredentials:
            guard client.secret != nil else {
                throw OAuthError(.unauthorizedClient, "Only a client with a secret can use this grant.")
            }
            // RFC 6749 §4.4.3: no refresh token.
            issue = signIn(.init(user: nil, clientID: client.id, scope: try granted(scope)), isRefreshable: false)
        case .refreshToken(let token):
            issue = try refresh(token, clientID: client.id, scope: scope)
        }
        let policy = state.withLock(\.policy)
        var reply = Reply.json(TokenAnswer(issue, policy: policy, date: Date())).uncacheable()
        reply.token = issue.number
        return reply
    }

    private func granted(_ requested: [String]?) throws(OAuthError) -> [String] {
        guard let requested else { return configuration.scopes }
        guard Set(requested).isSubset(of: configuration.scopes) else {
            throw OAuthError(.invalidScope, "The available scopes are \(configuration.scopes.joined(separator: ", ")).")
        }
        return requested
    }

    private func signIn(_ owner: TokenLedger.Owner, isRefreshable: Bool) -> TokenLedger.Issue {
        state.withLock { state in
            let now = clock.now()
            let issue = state.ledger.signIn(owner, isRefreshable: isRefreshable, policy: state.policy, now: now)
            state.counters.signIns += 1
            state.counters.tokensIssued += 1
            state.log.append(.signedIn, at: now, token: issue.number, detail: "family \(issue.family)")
            return issue
        }
    }

    private func refresh(
        _ token: String,
        clientID: String,
        scope: [String]?
    ) throws(OAuthError) -> TokenLedger.Issue {
        let result: Result<TokenLedger.Issue, OAuthError> = state.withLock { state in
            let now = clock.now()
            let outcome = state.ledger.refresh(token, clientID: clientID, scope: scope, policy: state.policy, now: now)
            switch outcome {
            case .refreshed(let issue):
                state.counters.refreshes += 1
                state.counters.tokensIssued += 1
                state.log.append(.refreshed, at: now, token: issue.number, detail: "family \(issue.family)")
                return .success(issue)
            case .repeated(let issue):
                state.counters.repeatedRefreshes += 1
                state.counters.tokensIssued += 1
                state.log.append(.refreshRepeated, at: now, token: issue.number, detail: "family \(issue.family)")
                return .success(issue)
            case .reused(let family):
                state.counters.reuseDetected += 1
                state.counters.familiesRevoked += 1
                state.log.append(.reuseDetected, at: now, detail: "family \(family)")
                state.log.append(.familyRevoked, at: now, detail: "family \(family), after reuse")
                return .failure(OAuthError(.invalidGrant, "The refresh token was used before; the session has ended."))
            case .refused(let error):
                return .failure(error)
            }
        }
        return try result.get()
    }

    // MARK: Revocation

    private func revoke(_ call: Call) -> Reply {
        do throws(OAuthError) {
            let form = try FormParameters(call)
            let client = try ClientAuthentication(clients: configuration.clients).client(for: call, form: form)
            let token = try form.required("token")
            let outcome = state.withLock { state in
                let outcome = state.ledger.revoke(token, clientID: client.id)
                switch outcome {
                case .accessTokenRevoked(let number):
                    state.log.append(.accessTokenRevoked, at: clock.now(), token: number)
                case .familyRevoked(let family):
                    state.counters.familiesRevoked += 1
                    state.log.append(.familyRevoked, at: clock.now(), detail: "family \(family), by its client")
                case .nothingToRevoke, .refused:
                    break
                }
                return outcome
            }
            if case .refused(let error) = outcome { throw error }
            // RFC 7009 §2.2: an unknown token also gets a 200.
            return Reply(status: 200).uncacheable()
        } catch {
            return error.reply
        }
    }
}

/// The token response (RFC 6749 §5.1).
private struct TokenAnswer: Encodable {
    let issue: TokenLedger.Issue
    let policy: TokenPolicy
    let date: Date

    init(_ issue: TokenLedger.Issue, policy: TokenPolicy, date: Date) {
        self.issue = issue
        self.policy = policy
        self.date = date
    }

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case expiresAt = "expires_at"
        case refreshToken = "refresh_token"
        case scope
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(issue.accessToken, forKey: .accessToken)
        try container.encode("Bearer", forKey: .tokenType)
        switch policy.expiryStyle {
        case .number:
            if let whole = Int(exactly: issue.lifetime) {
                try container.encode(whole, forKey: .expiresIn)
            } else {
                try container.encode(issue.lifetime, forKey: .expiresIn)
            }
        case .string:
            let text = Int(exactly: issue.lifetime).map(String.init) ?? String(issue.lifetime)
            try container.encode(text, forKey: .expiresIn)
        case .unixTime:
            let expiresAt = date.timeIntervalSince1970 + policy.dateOffset + issue.lifetime
            try container.encode(expiresAt, forKey: .expiresAt)
        case .omitted:
            break
        }
        try container.encodeIfPresent(issue.refreshToken, forKey: .refreshToken)
        try container.encode(issue.scope.joined(separator: " "), forKey: .scope)
    }
}
