import Foundation

// Refreshing with a token endpoint. Whatever happens, the machine is told of one end.
extension SessionActor {
    /// Starts a refresh in a task of its own.
    func beginRefresh(_ number: Int, replacing credential: TokenCredential?, for service: any RefreshService) {
        guarded.lastService = service
        // The app may have signed in or out by now: nothing of the old session is sent.
        guard guarded.with({ $0.isRunning(number) }) else { return abandon(number) }
        if guarded.with({ $0.means(of: number) }) == .provider {
            refreshWithProvider(number, replacing: credential, for: service)
        } else {
            refreshAtEndpoint(number, replacing: credential, for: service)
        }
    }

    /// Goes on with the app's provider.
    private func refreshWithProvider(
        _ number: Int, replacing credential: TokenCredential?, for service: any RefreshService
    ) {
        // The store is not held meanwhile: a provider may wait for a person.
        refreshTask = Task.detached(priority: .userInitiated) {
            await self.acquire(number, replacing: credential, for: service)
        }
    }

    /// Goes on with the token endpoint.
    func refreshAtEndpoint(_ number: Int, replacing credential: TokenCredential?, for service: any RefreshService) {
        refreshTask = keeper.serially(for: self) {
            await self.refresh(number, replacing: credential, for: service)
        }
    }

    /// Stops waiting for a refresh of a session that is over.
    ///
    /// A token request that was sent is not cancelled: its answer holds the
    /// successor of a refresh token that may be spent by now.
    func cancelOutdatedRefresh() {
        guard guarded.with({ $0.running?.isOutdated ?? false }) else { return }
        refreshTask?.cancel()
        providerCall?.cancel()
    }

    // MARK: With a token endpoint

    /// Refreshes in an exchange with the keeper, so that no other process spends
    /// the same refresh token.
    private nonisolated func refresh(
        _ number: Int, replacing credential: TokenCredential?, for service: any RefreshService
    ) async {
        let report = RefreshReport()
        var keeperError: (any Error)?
        do {
            try await keeper.exchange(report, for: self) { [self] look in
                guard case .goOn(let credential) = nextStep(of: number, replacing: credential, after: look) else {
                    return report.note(.abandoned)
                }
                // Another process may have taken the refresh token away.
                guard guarded.with({ $0.means(of: number) }) != .provider else {
                    return report.note(.turnedToProvider)
                }
                await askEndpoint(of: service, replacing: credential, for: number, in: report)
            }
        } catch {
            keeperError = error
        }
        if case .turnedToProvider? = report.outcome, keeperError == nil {
            let rejected = guarded.with { $0.held?.credential }
            await refreshWithProvider(number, replacing: rejected, for: service)
        } else {
            await ended(number, report, error: keeperError)
        }
    }

    /// What a refresh does after the credential was loaded.
    ///
    /// - Parameter look: `nil` where the request has read the credential.
    nonisolated func nextStep(
        of number: Int, replacing credential: TokenCredential?, after look: CredentialLook?
    ) -> GuardedMachine.Machine.RefreshStep {
        guard let look else { return .goOn(credential) }
        let now = moment
        let (step, actions) = guarded.ask { $0.refreshFound(number: number, look.intended, now: now) }
        perform(actions)
        return step
    }

    /// Asks the token endpoint, with a note in the store that the refresh token
    /// may be spent.
    private nonisolated func askEndpoint(
        of service: any RefreshService, replacing credential: TokenCredential?, for number: Int,
        in report: RefreshReport
    ) async {
        let journal = keeper.journal
        let spent = credential.flatMap { $0.refreshToken.isEmpty ? nil : $0 }
        var wasInterrupted = false
        if let journal, let spent {
            // Refreshing without the note is better than not refreshing.
            wasInterrupted = (try? await journal.recordRefreshIntent(for: spent)) ?? false
        }
        // Writing the note may have taken some time.
        guard guarded.with({ $0.isRunning(number) }) else {
            if let journal, let spent, !wasInterrupted { await journal.removeRefreshIntent(for: spent) }
            return report.note(.abandoned)
        }
        let sentAt = moment
        // In a task that nobody cancels.
        let call = Task.detached(priority: .userInitiated) {
            await service.token(replacing: credential, sentAt: sentAt)
        }
        guard let answer = await BoundedWait.valueUnlessCancelled(of: call) else {
            // The app has signed in or out: the exchange with the keeper ends, and the answer is still heard.
            Task.detached(priority: .userInitiated) {
                await self.cameLate(number, await call.value, replacing: credential, sentAt: sentAt)
            }
            return report.note(.leftBehind)
        }
        switch answer {
        case .granted(let new, let lifetime):
            commit(number, new, lifetime: lifetime, sentAt: sentAt, in: report)
            // The same credential isn't written again, and only a write removes the note.
            if let journal, let spent, new == spent { await journal.removeRefreshIntent(for: spent) }
        case .rejected(let error):
            if let journal, let spent, !wasInterrupted { await journal.removeRefreshIntent(for: spent) }
            let failure: AuthenticationError =
                wasInterrupted
                ? .refreshInterrupted(error, delivery: .notSent) : .refreshRejected(error, delivery: .notSent)
            let now = moment
            switch guarded.with({ $0.refreshTokenRefused(number: number, failure, now: now) }) {
            case .ends: report.note(.rejected(failure))
            case .asksProvider: report.note(.turnedToProvider)
            case .waitsForExpiry: report.note(.failed(error, at: .endpoint, retryAfter: .zero))
            }
        case .failed(let cause, let retryAfter, let refreshToken):
            if let kept = refreshToken.flatMap({ replaceRefreshToken(by: $0, for: number) }) {
                keeper.keep(kept, report, for: self)
            }
            if let journal, let spent, !wasInterrupted, !Self.mayBeSpent(cause) {
                await journal.removeRefreshIntent(for: spent)
            }
            report.note(.failed(cause, at: .endpoint, retryAfter: retryAfter))
        }
    }

    /// The token endpoint has answered for a session that is over.
    private nonisolated func cameLate(
        _ number: Int, _ answer: TokenResponse, replacing credential: TokenCredential?, sentAt: Moment
    ) async {
        switch answer {
        case .granted(let new, let lifetime):
            // It is written if somebody has put the old refresh token back.
            commit(number, new, lifetime: lifetime, sentAt: sentAt, in: nil)
        case .failed(_, _, let refreshToken?):
            if let kept = replaceRefreshToken(by: refreshToken, for: number) {
                await keeper.rewrite(kept, overSpent: credential, for: self)
            }
        case .rejected, .failed: break
        }
        abandon(number)
    }

    /// Takes over a new refresh token beside the same access token.
    private nonisolated func replaceRefreshToken(by refreshToken: String, for number: Int) -> TokenCredential? {
        observe()
        let now = moment
        return guarded.with { $0.refreshTokenReplaced(number: number, by: refreshToken, now: now) }
    }

    private nonisolated func abandon(_ number: Int) {
        let now = moment
        perform(guarded.act { $0.refreshAbandoned(number: number, now: now) })
    }

    /// Whether the server may have accepted a refresh token although its answer
    /// was lost.
    private static func mayBeSpent(_ cause: any Error) -> Bool {
        switch cause {
        case is OAuthError: false
        // A gateway may answer for a server that it has lost, and a server may fail after it has accepted the token.
        // A server that is not ready (RFC 9110 §15.6.4) has accepted nothing.
        case AtomError.response(let response): response.statusCode.map { $0 >= 500 && $0 != 503 } ?? true
        case let error as AtomError: error.delivery == .maybeSent
        default: true
        }
    }

    // MARK: The end

    /// Gives a new credential to the machine; the session uses it from here on,
    /// and the keeper writes it, unless the refresh is outdated.
    ///
    /// - Parameter report: Where the outcome is noted; `nil` if the exchange
    ///   with the keeper is over.
    nonisolated func commit(
        _ number: Int, _ credential: TokenCredential, lifetime: Double?, sentAt: Moment, in report: RefreshReport?
    ) {
        // The app may have signed out by its variable, and no request may have noticed.
        reading(in: report) { machine, read, now in
            machine.refreshSucceeded(
                number: number, credential, lifetime: lifetime, sentAt: sentAt.instant, read: read, now: now)
        }
        // The first outcome counts: if the machine has committed to the credential, that is noted already.
        report?.note(.abandoned)
    }

    /// Tells the machine what a refresh has come to.
    ///
    /// - Parameter error: Why the exchange with the keeper failed, if it did.
    nonisolated func ended(_ number: Int, _ report: RefreshReport, error: (any Error)?) async {
        switch report.outcome {
        case .granted(let credential, let version):
            // Otherwise the app has signed in or out meanwhile, and its own write counts.
            guard
                let hadFailedBefore = await wrote(credential, version: version, over: report.replaced, error: error)
            else { return observe() }
            if let error { return notStored(version: version, error) }
            if hadFailedBefore { announce(.credentialStored) }
            stored(version: version)
        case .turnedToProvider:
            // The exchange with the keeper has failed afterwards.
            failed(number, error ?? AtomError.unexpected, at: .store, retryAfter: nil)
        case .leftBehind:
            // `cameLate` will tell the machine.
            break
        case .abandoned:
            abandon(number)
        case .rejected(let failure):
            let loaded = await keeper.contents(for: self)
            reading { machine, read, now in
                machine.refreshRejected(number: number, failure, read: read ?? loaded, now: now)
            }
        case .failed(let cause, let obstacle, let retryAfter):
            if let kept = report.kept {
                _ = keeper.wrote(kept, over: report.replaced, error: error, for: self)
                if error == nil { guarded.with { $0.written(kept) } }
            }
            failed(number, cause, at: obstacle, retryAfter: retryAfter)
        case nil:
            let cause = error ?? TokenStoreError.refused("its exchange ended without having begun")
            failed(number, cause, at: .store, retryAfter: nil)
        }
    }

    /// Tells the keeper how the write of an exchange has ended.
    ///
    /// On the actor, so that no sign-in or sign-out comes between the check and
    /// the note: what it has to write would be forgotten.
    ///
    /// - Returns: Whether the write succeeded after one that had failed; `nil`
    ///   if it isn't wanted any more.
    private func wrote(
        _ credential: TokenCredential, version: Int, over replaced: UnwrittenCredential.Replaced,
        error: (any Error)?
    ) -> Bool? {
        guard guarded.with({ $0.mayStore(version: version) }) else { return nil }
        return keeper.wrote(credential, over: replaced, error: error, for: self)
    }

    private nonisolated func failed(
        _ number: Int, _ cause: any Error, at obstacle: GuardedMachine.Machine.RefreshObstacle, retryAfter: Duration?
    ) {
        let dice = random()
        let now = moment
        perform(
            guarded.act {
                $0.refreshFailed(
                    number: number, cause: cause, at: obstacle, retryAfter: retryAfter, random: dice, now: now)
            })
    }
}
