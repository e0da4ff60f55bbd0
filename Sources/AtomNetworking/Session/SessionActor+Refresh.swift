import Foundation

// A refresh, in a task that belongs to no caller. Whatever happens, the machine is told of one end.
nonisolated extension SessionActor {
    /// What a refresh has come to, apart from what is written.
    private enum Outcome: Sendable {
        /// It was outdated, or the store held a better credential.
        case abandoned
        /// The machine has committed to a new credential.
        case committed(TokenCredential, tokenNumber: Int)
        /// The credential can't be renewed any more.
        case rejected(AuthenticationError)
        /// Another one may succeed; the server may have replaced the refresh token nevertheless.
        case failed(
            any Error, ofProvider: Bool = false, retryAfter: Duration?,
            kept: TokenCredential? = nil)
        /// It goes on with the app's provider.
        case turnsToProvider
        /// The app has signed in or out; what the server says is still to come.
        case leftBehind
        /// Its time is over; what the server says is still to come.
        case overdue(AtomError)
    }

    /// What comes of a token request.
    private enum TokenOutcome: Sendable {
        case answer(TokenResponse)
        case leftBehind
        case overdue(AtomError)
    }

    /// So many token requests are waited for at a time; the oldest are given up.
    private static let tokenRequestLimit = 8

    /// A refresh, from its start until the requests that waited have been told.
    ///
    /// Not on the actor, which an observer of one service would hold up for all others.
    func refresh(
        _ number: Int, replacing credential: TokenCredential?, for service: any RefreshService
    ) async {
        gate.lastService = service
        var asksProvider = gate.with { $0.means(of: number) } == .provider
        // The app may have signed in or out by now: nothing of the old session is sent.
        guard gate.with({ $0.isRunning(number) }) else { return abandon(number) }
        var goesOn = true
        while goesOn {
            goesOn =
                asksProvider
                ? await refreshWithProvider(number, replacing: credential, for: service)
                : await takeTurn().run { await refreshAtEndpoint(number, replacing: credential, for: service) }
            asksProvider.toggle()
        }
    }

    // MARK: With a token endpoint

    /// Loads, decides, notes, asks, commits, stores and announces, in an exchange with the keeper, so that no other
    /// process spends the same refresh token; returns whether the refresh goes on with the app's provider.
    private func refreshAtEndpoint(
        _ number: Int, replacing credential: TokenCredential?, for service: any RefreshService
    ) async -> Bool {
        // A process that is suspended now might lose the answer, and a refresh token that can be used once.
        let end = ExpiringActivity.system.begin {}
        defer { end() }
        let (outcome, written) = await keeper.transaction { [self] stored -> (Outcome, TokenCredential?) in
            // What the store holds if nothing comes of it.
            let unchanged = gate.with { $0.intended(over: stored) }
            guard case .goOn(let credential) = decide(number, replacing: credential, stored) else {
                return (.abandoned, unchanged)
            }
            // Another process may have taken the refresh token away.
            guard gate.with({ $0.means(of: number) }) != .provider else { return (.turnsToProvider, unchanged) }
            let note: SpendingNote?
            do {
                note = try await keeper.note(spending: credential)
            } catch {
                let isOvertaken = error as? TokenStoreError == .overtaken
                return (.failed(error, retryAfter: isOvertaken ? .zero : nil), unchanged)
            }
            // Writing the note may have taken some time.
            guard gate.with({ $0.isRunning(number) }) else {
                await note?.remove()
                return (.abandoned, unchanged)
            }
            // From here on another process must not read what the app has replaced, and send its refresh token.
            func left() -> TokenCredential? { gate.with { $0.wanted(over: stored) } }
            let sentAt = moment
            switch await ask(service, replacing: credential, for: number, sentAt: sentAt) {
            case .leftBehind: return (.leftBehind, left())
            case .overdue(let error): return (.overdue(error), left())
            case .answer(.granted(let new, let lifetime)):
                let tokenNumber = commit(number, new, lifetime: lifetime, sentAt: sentAt)
                // The same credential isn't written again, and only a write removes the note.
                if let note, new == note.credential { await note.removeInAnyCase() }
                return tokenNumber.map { (.committed(new, tokenNumber: $0), new) } ?? (.abandoned, left())
            case .answer(.rejected(let error)):
                await note?.remove()
                let failure: AuthenticationError =
                    note?.wasInterrupted == true
                    ? .refreshInterrupted(error, delivery: .notSent) : .refreshRejected(error, delivery: .notSent)
                return (refused(error, failure, for: number), left())
            case .answer(.failed(let cause, let retryAfter, let refreshToken)):
                let kept = refreshToken.flatMap { replaceRefreshToken(by: $0, for: number) }
                if !Self.mayBeSpent(cause) { await note?.remove() }
                return (.failed(cause, retryAfter: retryAfter, kept: kept), kept ?? left())
            }
        }
        return await finish(number, outcome, written)
    }

    /// What a refresh does after the store was read.
    private func decide(
        _ number: Int, replacing credential: TokenCredential?, _ stored: TokenCredential?
    ) -> SessionGate.Machine.RefreshStep {
        // A variable was read by the request.
        guard keeper.store != nil else { return .goOn(credential) }
        let now = moment
        let (step, actions) = gate.ask { $0.refreshFound(number: number, stored, now: now) }
        if case .goOn = step {
            // Those who wait don't wait for the whole refresh.
            SessionOperation.$onStore.withValue(nil) { perform(actions) }
        } else {
            perform(actions)
        }
        return step
    }

    /// Asks the token endpoint, until the answer comes, the app signs in or out, or the time is over.
    ///
    /// What the server says later is heard nevertheless: it holds the successor of a refresh token that may be spent.
    private func ask(
        _ service: any RefreshService, replacing credential: TokenCredential?, for number: Int, sentAt: Moment
    ) async -> TokenOutcome {
        let first = FirstValue<TokenOutcome>()
        let oldest = tokenRequests.withLock { requests -> Task<Void, Never>? in
            requests[number] = Task.detached(name: "Token request", priority: .userInitiated) { [self] in
                let end = ExpiringActivity.system.begin {}
                defer { end() }
                let answer = await service.token(replacing: credential, sentAt: sentAt) { error in
                    if !first.settle(.overdue(error)) { self.failed(number, error, isOverdue: true, retryAfter: nil) }
                }
                tokenRequests.withLock { _ = $0.removeValue(forKey: number) }
                if !first.settle(.answer(answer)) { await cameLate(number, answer, sentAt: sentAt) }
            }
            guard requests.count > Self.tokenRequestLimit, let oldest = requests.keys.min() else { return nil }
            return requests.removeValue(forKey: oldest)
        }
        oldest?.cancel()
        return await first.value(ifCancelled: .leftBehind)
    }

    /// The token endpoint has refused the refresh token.
    private func refused(_ error: OAuthError, _ failure: AuthenticationError, for number: Int) -> Outcome {
        let now = moment
        return switch gate.with({ $0.refreshTokenRefused(number: number, failure, now: now) }) {
        case .ends: .rejected(failure)
        case .asksProvider: .turnsToProvider
        case .waitsForExpiry: .failed(error, retryAfter: .zero)
        }
    }

    /// The token endpoint has answered when nobody waited for it any more: the
    /// session is over, its time was, or the store has given its exchange up.
    private func cameLate(_ number: Int, _ answer: TokenResponse, sentAt: Moment) async {
        let isRunning = gate.with { $0.isRunning(number) }
        switch answer {
        case .granted(let new, let lifetime):
            // It is written if somebody has put the old refresh token back.
            if commit(number, new, lifetime: lifetime, sentAt: sentAt) != nil {
                // Another refresh that has sent the same refresh token gives its turn at the store away.
                gate.cancelOutdatedRefresh()
                if keeper.store != nil { writeAgain() }
            }
        case .failed(let cause, let retryAfter, let refreshToken):
            if let refreshToken, replaceRefreshToken(by: refreshToken, for: number) != nil { writeAgain() }
            if isRunning { failed(number, cause, retryAfter: retryAfter) }
            abandon(number, retryAfter: retryAfter)
        case .rejected(let error) where isRunning:
            let outcome = refused(error, .refreshRejected(error, delivery: .notSent), for: number)
            // Another refresh will ask the provider.
            if case .turnsToProvider = outcome { break }
            _ = await takeTurn().run { [self] in await finish(number, outcome, .success(nil)) }
        case .rejected: break
        }
        abandon(number)
    }

    /// Takes over a new refresh token beside the same access token.
    private func replaceRefreshToken(by refreshToken: String, for number: Int) -> TokenCredential? {
        observe()
        let now = moment
        let kept = gate.with { $0.refreshTokenReplaced(number: number, by: refreshToken, now: now) }
        if let kept, case .variable(let variable) = keeper {
            set(variable, to: kept)
            observe()
        }
        return kept
    }

    /// Whether the server may have accepted a refresh token although its answer was lost.
    private static func mayBeSpent(_ cause: any Error) -> Bool {
        switch cause {
        case is OAuthError: false
        // A gateway may answer for a server that it has lost, and a server may fail after it has accepted the token.
        // A server that is not ready (RFC 9110 §15.6.4) has accepted nothing.
        case AtomError.response(let response): response.statusCode.map { $0 >= 500 && $0 != 503 } ?? true
        case let error as AtomError: error.delivery != .notSent
        default: true
        }
    }

    // MARK: With the app's provider

    /// Loads and decides, asks the provider, and then commits, stores and announces in an exchange with the keeper.
    ///
    /// The store is not held meanwhile: a provider may wait for a person.
    ///
    /// - Returns: Whether the refresh goes on with the token endpoint: another process has signed in.
    private func refreshWithProvider(
        _ number: Int, replacing credential: TokenCredential?, for service: any RefreshService
    ) async -> Bool {
        let loaded = await takeTurn().run { [keeper] in await Result { try await keeper.load() } }
        let stored: TokenCredential?
        do {
            stored = try loaded.get()
        } catch {
            failed(number, error, retryAfter: nil)
            return false
        }
        guard case .goOn(let rejected) = decide(number, replacing: credential, stored) else {
            abandon(number)
            return false
        }
        guard gate.with({ $0.means(of: number) }) != .refreshToken else { return true }
        switch await askProvider(of: service, replacing: rejected, for: number) {
        case .success(let new)?:
            gate.with { $0.refreshProvided(number: number) }
            let receivedAt = moment
            await takeTurn().run { [self] in
                let lifetime =
                    new.expiresAt == .distantFuture ? nil : new.expiresAt.timeIntervalSince(receivedAt.date)
                let commit: @Sendable () -> Outcome = { [self] in
                    self.commit(number, new, lifetime: lifetime, sentAt: receivedAt)
                        .map { .committed(new, tokenNumber: $0) } ?? .abandoned
                }
                let (outcome, written) = await keeper.transaction { [self] stored -> (Outcome, TokenCredential?) in
                    let unchanged = gate.with { $0.intended(over: stored) }
                    guard isStillWanted(number, replacing: rejected, stored) else { return (.abandoned, unchanged) }
                    let outcome = commit()
                    guard case .committed = outcome else { return (outcome, unchanged) }
                    gate.with { $0.overwrites(stored) }
                    return (outcome, new)
                }
                // A person may have signed in for it: it isn't lost if the store can't be reached.
                _ = await finish(number, outcome ?? commit(), written)
            }
        case .failure(let error)?:
            let outcome = Self.outcome(of: error)
            await takeTurn().run { _ = await self.finish(number, outcome, .success(nil)) }
        case nil:
            // The app has signed in or out; the provider may never return.
            abandon(number)
        }
        return false
    }

    /// Whether nobody has signed in or out in another process while the provider was asked.
    private func isStillWanted(
        _ number: Int, replacing rejected: TokenCredential?, _ stored: TokenCredential?
    ) -> Bool {
        guard keeper.store != nil else { return true }
        let intended = gate.with { $0.intended(over: stored) }
        let isSame = intended?.hasTokens(of: rejected ?? .empty) ?? (rejected == nil)
        // If nobody was signed in when the provider was asked, its sign-in is the latest one.
        guard !isSame, rejected != nil || intended == nil else { return true }
        if case .goOn = decide(number, replacing: rejected, stored) { return true }
        return false
    }

    private static func outcome(of error: any Error) -> Outcome {
        switch error as? TokenCredentialProviderError {
        case .retryAfter(let duration, let cause): .failed(cause, ofProvider: true, retryAfter: duration.bounded)
        case .retryAfterSignIn(let cause):
            .rejected(.credentialNotProvided(cause: cause, retryAt: nil, delivery: .notSent))
        case nil: .failed(error, ofProvider: true, retryAfter: .zero)
        }
    }

    // MARK: The end

    /// Gives a new credential to the machine; the session uses it from here on, unless the refresh is outdated.
    ///
    /// - Returns: The number of its access token, if the session uses it; the app's variable has been set by then.
    private func commit(
        _ number: Int, _ credential: TokenCredential, lifetime: Double?, sentAt: Moment
    ) -> Int? {
        // The app may have signed out by its variable, and no request may have noticed.
        var committed: Int?
        reading { machine, read, now in
            let (tokenNumber, actions) = machine.refreshSucceeded(
                number: number, credential, lifetime: lifetime, sentAt: sentAt.instant, read: read, now: now)
            committed = tokenNumber
            return actions
        }
        return committed
    }

    /// Tells the machine what a refresh has come to, and whether it was written.
    ///
    /// - Returns: Whether the refresh goes on with the app's provider.
    private func finish(
        _ number: Int, _ outcome: Outcome?, _ written: Result<TokenCredential?, any Error>
    ) async -> Bool {
        if case .success(let written) = written { tell { $0.left(written, now: $1) } }
        switch (outcome, written) {
        case (.committed(let new, let tokenNumber), _): _ = committed(new, tokenNumber, written)
        case (.turnsToProvider, .success): return true
        case (.turnsToProvider, .failure(let error)): failed(number, error, retryAfter: nil)
        case (.leftBehind, _): break  // `cameLate` will tell the machine.
        case (.overdue(let error), _): failed(number, error, isOverdue: true, retryAfter: nil)
        case (.abandoned, _): abandon(number)
        case (.rejected(let failure), _):
            let loaded = await Result { try await keeper.load() ?? .empty }
            reading { machine, read, now in
                machine.refreshRejected(number: number, failure, read: read ?? (try? loaded.get()), now: now)
            }
        case (.failed(let cause, let isOfProvider, let retryAfter, let kept), _):
            if let kept {
                var failure: AuthenticationError?
                if case .failure(let error) = written {
                    failure = .credentialNotStored(cause: error, delivery: .notSent)
                }
                tell { $0.keptRefreshToken(kept, failure, now: $1) }
            }
            failed(number, cause, ofProvider: isOfProvider, retryAfter: retryAfter)
        case (nil, .failure(let error)): failed(number, error, retryAfter: nil)
        case (nil, .success):
            let cause = TokenStoreError.refused("its exchange ended without having begun")
            failed(number, cause, retryAfter: nil)
        }
        return false
    }

    /// A credential that the machine has committed to has been written, or not; a variable was set by then.
    ///
    /// - Returns: Why it could not be written.
    private func committed(
        _ new: TokenCredential, _ tokenNumber: Int, _ written: Result<TokenCredential?, any Error>
    ) -> AuthenticationError? {
        switch written {
        case .success where keeper.store == nil: return nil
        case .success(let found):
            notice(found ?? .empty, insteadOf: new)
            stored(tokenNumber: tokenNumber)
            return nil
        case .failure(let error):
            let failure = AuthenticationError.credentialNotStored(cause: error, delivery: .notSent)
            tell { $0.notStored(tokenNumber: tokenNumber, failure, now: $1) }
            return failure
        }
    }

    /// Tells the machine what somebody else has saved while the refresh ran.
    ///
    /// A store that is not exclusive may hold such a credential. It is newer, and the waiters are signed with it.
    private func notice(_ found: TokenCredential, insteadOf granted: TokenCredential) {
        // A store may keep only a part of a credential: one equal token is enough.
        guard found.accessToken != granted.accessToken,
            found.refreshToken.isEmpty || found.refreshToken != granted.refreshToken
        else { return }
        tell { $0.observed(found, now: $1) }
        if found.isEmpty { gate.lastService?.revoke(granted) }
    }

    private func abandon(_ number: Int, retryAfter: Duration? = nil) {
        tell { $0.refreshAbandoned(number: number, retryAfter: retryAfter, now: $1) }
    }

    private func failed(
        _ number: Int, _ cause: any Error, ofProvider isOfProvider: Bool = false, isOverdue: Bool = false,
        retryAfter: Duration?
    ) {
        let dice = random()
        tell {
            $0.refreshFailed(
                number: number, cause: cause, ofProvider: isOfProvider, isOverdue: isOverdue, retryAfter: retryAfter,
                random: dice, now: $1)
        }
    }
}

// MARK: - A sign-in for more

nonisolated extension SessionActor {
    /// The person of a tenure has signed in for more: commits, stores and announces, as after a refresh.
    ///
    /// - Throws: `signedOut` if somebody has signed in or out since, and nothing is changed; why the credential could not
    ///   be stored, and the session uses it nevertheless.
    func goOn(
        with credential: TokenCredential, of tenure: Tenure, for service: any RefreshService
    ) async throws(AtomError) {
        if let refusal { throw .authentication(.credentialNotStored(cause: refusal, delivery: .notSent)) }
        if gate.lastService == nil { gate.lastService = service }
        let commit: @Sendable (TokenCredential?) -> Int? = { [self] stored in
            var committed: Int?
            reading { machine, read, now in
                let (number, actions) = machine.continued(
                    with: credential, of: tenure, read: read ?? stored, now: now)
                committed = number
                return actions
            }
            return committed
        }
        let turn = await takeTurn()
        // Whoever has called may be cancelled, and it is written nevertheless.
        let call = Task.detached(name: "Sign-in for more", priority: .userInitiated) { [self] in
            await turn.run { [self] () -> AuthenticationError? in
                let (outcome, written) = await keeper.transaction { [self] stored -> (Int?, TokenCredential?) in
                    let number = commit(keeper.store == nil ? nil : stored ?? .empty)
                    return (number, number == nil ? gate.with { $0.intended(over: stored) } : credential)
                }
                // It isn't lost if the store can't be reached.
                guard let tokenNumber = outcome ?? commit(nil) else { return .signedOut(delivery: .notSent) }
                if gate.cancelOutdatedRefresh() { await cancelProviderCall() }
                return committed(credential, tokenNumber, written)
            }
        }
        if let failure = await call.value { throw .authentication(failure) }
    }
}

extension SessionActor {
    private func cancelProviderCall() { providerCall?.cancel() }
}

// MARK: - The provider's calls, one after the other

extension SessionActor {
    /// How long a provider's call that has been given up is waited for; one
    /// that never returns must not keep everybody from signing in again.
    static let patience = Duration.seconds(10)

    /// One call at a time: an earlier one that has been given up is waited
    /// for, or the app would show two login screens.
    ///
    /// - Returns: `nil` if the app has signed in or out meanwhile.
    private func askProvider(
        of service: any RefreshService, replacing rejected: TokenCredential?, for number: Int
    ) async -> Result<TokenCredential, any Error>? {
        guard let provider = service.provider else { return .failure(AtomError.unexpected) }
        // Not within the deadline of this call: it might be shorter than the patience.
        if let providerCall { _ = await BoundedWait.value(of: providerCall, within: Self.patience, time: time) }
        guard gate.with({ $0.isRunning(number) }) else { return nil }
        let isDead = gate.with { $0.held?.isRejected ?? false }
        let mark = SessionOperation(of: self)
        // It may never return.
        let call = Task<Result<TokenCredential, any Error>, Never>.detached(name: "Provider", priority: .userInitiated)
        {
            guard !Task.isCancelled else { return .failure(CancellationError()) }
            return await Result {
                defer { mark.end() }
                let credential = try await SessionOperation.$ofProvider.withValue(mark) {
                    try await provider.credential(replacing: rejected)
                }
                guard !credential.accessToken.isEmpty, !isDead || credential.accessToken != rejected?.accessToken
                else { throw TokenResponseError("The provider returned no new access token.") }
                guard HeldCredential.canBeSent(credential.accessToken) else { throw TokenResponseError.unsendable }
                return credential
            }
        }
        providerCall = call
        let deadline = service.providerDeadline
        if let result = await BoundedWait.value(of: call, within: deadline, time: time) { return result }
        guard let deadline, !Task.isCancelled else {
            // The sign-in or sign-out may not have known of it yet.
            call.cancel()
            return nil
        }
        return .failure(
            AtomError.session(URLError(.timedOut, "Nothing came in \(deadline)", delivery: .notSent)))
    }
}
