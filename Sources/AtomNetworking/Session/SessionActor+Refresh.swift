import Foundation

// How another credential is got. Whatever happens, the machine hears of one end.
extension SessionActor {
    /// What a refresh came to, for the machine.
    enum RefreshOutcome: Sendable {
        /// It was outdated, or the store held something better.
        case abandoned
        /// The machine has committed to a new credential, of this version.
        case granted(TokenCredential, version: Int)
        /// There is nothing more to be had with what is held.
        case rejected(AuthenticationError)
        case failed(any Error, at: SessionMachine<any SessionWaiter>.RefreshObstacle, retryAfter: Duration?)
        /// The session that it was for is over; the answer is still to come.
        case leftBehind
    }

    /// Starts a refresh that no caller's task is a parent of.
    func startRefresh(_ number: Int, replacing credential: TokenCredential?, for service: any RenewalService) {
        guarded.lastService = service
        guard guarded.with({ $0.isRunning(number) }) else {
            // The app signed in or out before this came to run: nothing of the session before is sent.
            let now = moment
            return perform(guarded.act { $0.refreshAbandoned(number: number, now: now) })
        }
        let isProvided = service.provider != nil
        switch source {
        case .writable(let writable):
            refreshTask = Task.detached(priority: .userInitiated) {
                await self.refresh(number, credential, for: service, writingTo: writable)
            }
        case .store(let store) where isProvided:
            refreshTask = Task.detached(priority: .userInitiated) {
                await self.acquire(number, for: service, in: store)
            }
        case .store(let store):
            refreshTask = serially { [self] in await refresh(number, for: service, in: store) }
        }
    }

    /// Stops waiting for what is being done for a session that is over.
    ///
    /// A token request that was sent is not cancelled: what it brings is the
    /// successor of a refresh token that may be spent by now.
    func cancelOutdatedRefresh() {
        guard guarded.with({ $0.running?.isOutdated ?? false }) else { return }
        refreshTask?.cancel()
        providerCall?.cancel()
    }

    // MARK: With the app's own variable

    private nonisolated func refresh(
        _ number: Int, _ credential: TokenCredential?, for service: any RenewalService,
        writingTo writable: any TokenCredentialWritable
    ) async {
        let sentAt = moment
        let answer = await ask(service, replacing: credential, sentAt: sentAt).value
        let dice = random()
        switch answer {
        case .granted(let new, let lifetime):
            // Somebody may have signed out by the store while no request came to notice.
            reading(writable) { machine, read, now in
                machine.refreshSucceeded(
                    number: number, new, lifetime: lifetime, sentAt: sentAt.instant, read: read, now: now)
            }
        case .rejected(let error):
            reading(writable) { machine, read, now in
                machine.refreshRejected(
                    number: number, .refreshRejected(error, delivery: .notSent), read: read, now: now)
            }
        case .failed(let cause, let retryAfter, let refreshToken):
            if let refreshToken {
                observe(writable)
                if let kept = keep(refreshToken, ofRefresh: number) {
                    set(writable, to: kept)
                    observe(writable)
                }
            }
            let now = moment
            perform(
                guarded.act {
                    $0.refreshFailed(number: number, cause: cause, retryAfter: retryAfter, random: dice, now: now)
                })
        }
    }

    /// Asks the token endpoint, on a task of its own that nobody cancels.
    private nonisolated func ask(
        _ service: any RenewalService, replacing credential: TokenCredential?, sentAt: Moment
    ) -> Task<TokenAnswer, Never> {
        Task.detached(priority: .userInitiated) { await service.token(replacing: credential, sentAt: sentAt) }
    }

    /// Goes by another refresh token beside the same access token.
    private nonisolated func keep(_ refreshToken: String, ofRefresh number: Int) -> TokenCredential? {
        let now = moment
        return guarded.with { $0.refreshTokenReplaced(number: number, by: refreshToken, now: now) }
    }

    // MARK: In a store

    /// Refreshes with the store held, so that nobody else spends the same
    /// refresh token.
    private nonisolated func refresh(
        _ number: Int, for service: any RenewalService, in store: any TokenCredentialStore
    ) async {
        let report = ExchangeReport()
        do {
            let written = try await store.exchange { [self] stored in
                try await report.once {
                    let intended = guarded.intended(stored)
                    report.note(stored: stored)
                    let (step, actions) = found(number, intended)
                    perform(actions)
                    guard case .goOn(let credential) = step else {
                        report.note(.abandoned)
                        return intended
                    }
                    let outcome = await refresh(number, credential, for: service, noting: store, in: report)
                    report.note(outcome)
                    return if case .granted(let new, _) = outcome { new } else { report.kept ?? intended }
                }
            }
            notice(written, after: report)
            await ended(number, report, storeError: nil, readAgain: { await self.contents(of: store) })
        } catch {
            await ended(number, report, storeError: error, readAgain: { await self.contents(of: store) })
        }
    }

    /// A store that keeps nobody out holds what somebody else has saved while
    /// the refresh ran: that is newer, and those who wait are sent with it.
    nonisolated func notice(_ written: TokenCredential?, after report: ExchangeReport) {
        guard case .granted(let credential, _) = report.outcome else { return }
        let written = guarded.intended(written) ?? .empty
        // A store that keeps less than it is given holds this refresh's all the same.
        guard written.accessToken != credential.accessToken,
            written.refreshToken.isEmpty || written.refreshToken != credential.refreshToken
        else { return }
        let now = moment
        perform(guarded.act { $0.observed(written, now: now) })
        if written.isEmpty { guarded.lastService?.revoke(credential) }
    }

    nonisolated func found(
        _ number: Int, _ stored: TokenCredential?
    ) -> (SessionMachine<any SessionWaiter>.RefreshStep, SessionActions) {
        let now = moment
        return guarded.ask { $0.refreshFound(number: number, stored, now: now) }
    }

    /// Asks the token endpoint, a note in the store meanwhile.
    private nonisolated func refresh(
        _ number: Int, _ credential: TokenCredential?, for service: any RenewalService,
        noting store: any TokenCredentialStore, in report: ExchangeReport
    ) async -> RefreshOutcome {
        let spent = credential.flatMap { $0.refreshToken.isEmpty ? nil : $0 }
        let journal = store as? any RefreshIntentRecording
        var wasInterrupted = false
        if let journal, let spent {
            // Without its note a refresh is still better than none.
            wasInterrupted = (try? await journal.recordRefreshIntent(for: spent)) ?? false
        }
        // The note may have taken its time.
        guard guarded.with({ $0.isRunning(number) }) else {
            if let journal, let spent, !wasInterrupted { await journal.removeRefreshIntent(for: spent) }
            return .abandoned
        }
        let sentAt = moment
        let call = ask(service, replacing: credential, sentAt: sentAt)
        guard let answer = await Deadline.valueUnlessCancelled(of: call) else {
            // The app has signed in or out: the store is let go of, and what the answer brings is still heard.
            Task.detached(priority: .userInitiated) {
                await self.cameLate(number, await call.value, replacing: credential, sentAt: sentAt, in: store)
            }
            return .leftBehind
        }
        switch answer {
        case .granted(let new, let lifetime):
            let outcome = commit(number, new, lifetime: lifetime, sentAt: sentAt)
            // What is the same isn't written, and only a write takes the note's place.
            if let journal, let spent, new == spent { await journal.removeRefreshIntent(for: spent) }
            return outcome
        case .rejected(let error):
            if wasInterrupted { return .rejected(.refreshInterrupted(error, delivery: .notSent)) }
            if let journal, let spent { await journal.removeRefreshIntent(for: spent) }
            return .rejected(.refreshRejected(error, delivery: .notSent))
        case .failed(let cause, let retryAfter, let refreshToken):
            if let kept = refreshToken.flatMap({ keep($0, ofRefresh: number) }) { report.note(kept: kept) }
            if let journal, let spent, !wasInterrupted, !Self.mayBeSpent(cause) {
                await journal.removeRefreshIntent(for: spent)
            }
            return .failed(cause, at: .endpoint, retryAfter: retryAfter)
        }
    }

    /// A refresh for a session that is over has come home.
    private func cameLate(
        _ number: Int, _ answer: TokenAnswer, replacing credential: TokenCredential?, sentAt: Moment,
        in store: any TokenCredentialStore
    ) async {
        switch answer {
        case .granted(let new, let lifetime):
            let outcome = commit(number, new, lifetime: lifetime, sentAt: sentAt)
            // Somebody has put back what it was got for.
            if case .granted(_, let version) = outcome { await rewrite(new, version, in: store) }
        case .failed(_, _, let refreshToken?):
            if let kept = keep(refreshToken, ofRefresh: number) {
                await write(kept, overSpent: credential, in: store)
            }
            abandon(number)
        case .rejected, .failed: abandon(number)
        }
    }

    private func abandon(_ number: Int) {
        let now = moment
        perform(guarded.act { $0.refreshAbandoned(number: number, now: now) })
    }

    /// Whether the server may have taken a refresh token without being heard.
    private static func mayBeSpent(_ cause: any Error) -> Bool {
        switch cause {
        case is OAuthError: false
        // A gateway answers for a server that it no longer hears, and a server that failed may have done so after it
        // had taken the token. One that is not ready (RFC 9110 §15.6.4) has taken nothing.
        case AtomError.response(let response): response.statusCode.map { $0 >= 500 && $0 != 503 } ?? true
        case let error as AtomError: error.delivery == .maybeSent
        default: true
        }
    }

    /// Hands a new credential to the machine: it goes by it from here on.
    nonisolated func commit(
        _ number: Int, _ credential: TokenCredential, lifetime: Double?, sentAt: Moment
    ) -> RefreshOutcome {
        let now = moment
        let (version, actions) = guarded.ask { machine -> (Int?, [GuardedMachine.Machine.Action]) in
            let actions = machine.refreshSucceeded(
                number: number, credential, lifetime: lifetime, sentAt: sentAt.instant, now: now)
            let isCommitted = actions.contains { if case .store = $0 { true } else { false } }
            return (isCommitted ? machine.tokenNumber : nil, actions)
        }
        perform(actions)
        return version.map { .granted(credential, version: $0) } ?? .abandoned
    }

    // MARK: The end

    /// - Parameter readAgain: Reads the store, for what it may hold by now
    ///   that keeps nobody out.
    func ended(
        _ number: Int, _ report: ExchangeReport, storeError: (any Error)?,
        readAgain: @Sendable () async -> TokenCredential?
    ) async {
        let dice = random()
        let now = moment
        switch report.outcome {
        case .granted(let credential, let version):
            // Else the app has signed in or out meanwhile, and writes what counts.
            guard guarded.with({ $0.mayStore(version: version) }) else { return }
            if let storeError {
                keepUnwritten(credential, over: report.stored)
                let failure = AuthenticationError.credentialNotStored(cause: storeError, delivery: .notSent)
                perform(guarded.act { $0.notStored(version: version, failure, now: now) })
            } else {
                let isMadeUpFor = written()
                if isMadeUpFor { announce(.credentialStored) }
                perform(guarded.act { $0.stored(version: version, now: now) })
            }
        case .leftBehind:
            break
        case .abandoned:
            perform(guarded.act { $0.refreshAbandoned(number: number, now: now) })
        case .rejected(let failure):
            let read = await readAgain()
            let now = moment
            perform(guarded.act { $0.refreshRejected(number: number, failure, read: read, now: now) })
        case .failed(let cause, let obstacle, let retryAfter):
            if let kept = report.kept {
                if storeError != nil { keepUnwritten(kept, over: report.stored) } else { written() }
                guarded.with { if storeError == nil { $0.written(kept) } }
            }
            perform(
                guarded.act {
                    $0.refreshFailed(
                        number: number, cause: cause, at: obstacle, retryAfter: retryAfter, random: dice, now: now)
                })
        case nil:
            let cause = storeError ?? TokenStoreError.refused("its exchange ended without having begun")
            perform(
                guarded.act {
                    $0.refreshFailed(
                        number: number, cause: cause, at: .store, retryAfter: nil, random: dice, now: now)
                })
        }
    }
}
