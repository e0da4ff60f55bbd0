import Foundation

// Getting another credential from the app's provider.
extension SessionActor {
    /// Asks the app's provider, and stores what it returns in an exchange with
    /// the keeper.
    func acquire(_ number: Int, replacing credential: TokenCredential?, for service: any RefreshService) async {
        let report = RefreshReport()
        var keeperError: (any Error)?
        do {
            let look = try await keeper.look(for: self).value.get()
            switch nextStep(of: number, replacing: credential, after: look) {
            case .stop:
                report.note(.abandoned)
            case .goOn where guarded.with({ $0.means(of: number) }) == .refreshToken:
                // Another process has signed in.
                return refreshAtEndpoint(number, replacing: credential, for: service)
            case .goOn(let rejected):
                let call = Task.detached(priority: .userInitiated) {
                    await self.askProvider(of: service, replacing: rejected, for: number)
                }
                switch await BoundedWait.valueUnlessCancelled(of: call) {
                case .success(let new)?:
                    report.note(replaced: look?.stored)
                    try await take(new, replacing: rejected, for: number, in: report)
                case .failure(let error)?:
                    report.note(outcome(of: error))
                case nil:
                    // The app has signed in or out; the provider may never return.
                    report.note(.abandoned)
                }
            }
        } catch {
            keeperError = error
        }
        await ended(number, report, error: keeperError)
    }

    /// Commits to the provider's credential, unless somebody has signed in or
    /// out meanwhile.
    ///
    /// - Throws: Why it could not be stored.
    private func take(
        _ credential: TokenCredential, replacing rejected: TokenCredential?, for number: Int, in report: RefreshReport
    ) async throws {
        guarded.with { $0.refreshProvided(number: number) }
        let receivedAt = moment
        let lifetime = lifetime(of: credential)
        let exchange = keeper.serially(for: self) { [self] in
            await Result {
                try await keeper.exchange(report, for: self) { [self] look in
                    guard isStillWanted(number, replacing: rejected, after: look) else {
                        return report.note(.abandoned)
                    }
                    commit(number, credential, lifetime: lifetime, sentAt: receivedAt, in: report)
                }
            }
        }
        let result = await exchange.value
        // A person may have signed in for it: it isn't lost if the store can't be reached.
        if report.outcome == nil {
            commit(number, credential, lifetime: lifetime, sentAt: receivedAt, in: report)
        }
        try result.get()
    }

    /// Whether nobody has signed in or out in another process while the
    /// provider was asked.
    private nonisolated func isStillWanted(
        _ number: Int, replacing rejected: TokenCredential?, after look: CredentialLook?
    ) -> Bool {
        guard let look else { return true }
        let isSame = look.intended?.hasTokens(of: rejected ?? .empty) ?? (rejected == nil)
        // If nobody was signed in when the provider was asked, its sign-in is the latest one.
        guard !isSame, rejected != nil || look.intended == nil else { return true }
        if case .goOn = nextStep(of: number, replacing: rejected, after: look) { return true }
        return false
    }

    private nonisolated func lifetime(of credential: TokenCredential) -> Double? {
        credential.expiresAt == .distantFuture ? nil : credential.expiresAt.timeIntervalSince(time.date)
    }

    private nonisolated func outcome(of error: any Error) -> RefreshOutcome {
        switch error as? TokenCredentialProviderError {
        case .retryAfter(let duration, let cause): .failed(cause, at: .provider, retryAfter: duration.bounded)
        case .retryAfterSignIn(let cause):
            .rejected(.credentialNotProvided(cause: cause, retryAt: nil, delivery: .notSent))
        case nil: .failed(error, at: .provider, retryAfter: .zero)
        }
    }

    /// How long a provider's call that has been given up is waited for; one
    /// that never returns must not keep everybody from signing in again.
    static let patience = Duration.seconds(10)

    /// One call at a time: an earlier one that has been given up is waited
    /// for, or the app would show two login screens.
    private func askProvider(
        of service: any RefreshService, replacing rejected: TokenCredential?, for number: Int
    ) async -> Result<TokenCredential, any Error> {
        guard let provider = service.provider else { return .failure(AtomError.unexpected) }
        // Not within the deadline of this call: it might be shorter than the patience.
        if let providerCall { _ = await BoundedWait.result(of: providerCall, within: Self.patience, time: time) }
        // The app may have signed in or out by now.
        guard guarded.with({ $0.isRunning(number) }) else { return .failure(CancellationError()) }
        let isDead = guarded.with { $0.held?.isRejected ?? false }
        let mark = SessionOperation(of: self)
        let call = Task<Result<TokenCredential, any Error>, Never>.detached(priority: .userInitiated) {
            guard !Task.isCancelled else { return .failure(CancellationError()) }
            return await Result {
                defer { mark.end() }
                let credential = try await SessionOperation.$ofProvider.withValue(mark) {
                    try await provider.credential(replacing: rejected)
                }
                guard !credential.accessToken.isEmpty, !isDead || credential.accessToken != rejected?.accessToken
                else { throw TokenResponseError("The provider returned no new access token.") }
                guard HeldCredential.canBeSent(credential.accessToken) else {
                    throw TokenResponseError("The access token holds characters that can't be sent (RFC 6750 §2.1).")
                }
                return credential
            }
        }
        providerCall = call
        return await BoundedWait.result(of: call, within: service.providerDeadline, time: time)
    }
}
