import Foundation

// Another credential in the app's own way.
extension SessionActor {
    /// Asks the app's provider; the store is not held meanwhile, since that
    /// may take a person's time.
    func acquire(
        _ number: Int, for service: any RenewalService, in store: any TokenCredentialStore
    ) async {
        let report = ExchangeReport()
        do {
            let look = try await look(at: store).value.get()
            let (step, actions) = found(number, look.intended)
            perform(actions)
            guard case .goOn(let rejected) = step else {
                report.note(.abandoned)
                return await ended(number, report, storeError: nil, readAgain: { nil })
            }
            let call = Task.detached(priority: .userInitiated) {
                await self.askProvider(of: service, replacing: rejected, for: number)
            }
            guard let answer = await Deadline.valueUnlessCancelled(of: call) else {
                // The app has signed in or out, and a provider may never return.
                report.note(.abandoned)
                return await ended(number, report, storeError: nil, readAgain: { nil })
            }
            switch answer {
            case .success(let credential):
                report.note(stored: look.stored)
                let receivedAt = moment
                let lifetime = lifetime(of: credential)
                let written = await serially { [self] in
                    await Result {
                        let written = try await store.exchange { [self] stored in
                            try await report.once {
                                report.note(stored: stored)
                                let intended = guarded.intended(stored)
                                let isSame = intended?.hasTokens(of: rejected ?? .empty) ?? (rejected == nil)
                                if !isSame, rejected != nil || intended == nil {
                                    // Somebody has signed in or out in another process while this one was asked for.
                                    // Where nobody was signed in, who has just signed in here comes last.
                                    let (step, actions) = found(number, intended)
                                    perform(actions)
                                    guard case .goOn = step else {
                                        report.note(.abandoned)
                                        return intended
                                    }
                                }
                                let outcome = commit(number, credential, lifetime: lifetime, sentAt: receivedAt)
                                report.note(outcome)
                                return if case .granted = outcome { credential } else { intended }
                            }
                        }
                        notice(written, after: report)
                    }
                }.value
                // A person may have signed in for it: it isn't lost because the store can't be had.
                if report.outcome == nil {
                    report.note(commit(number, credential, lifetime: lifetime, sentAt: receivedAt))
                }
                try written.get()
            case .failure(let error):
                report.note(outcome(of: error))
            }
            await ended(number, report, storeError: nil, readAgain: { await self.read(store) })
        } catch {
            await ended(number, report, storeError: error, readAgain: { nil })
        }
    }

    private nonisolated func lifetime(of credential: TokenCredential) -> Double? {
        credential.expiresAt == .distantFuture ? nil : credential.expiresAt.timeIntervalSince(time.date)
    }

    private nonisolated func outcome(of error: any Error) -> RefreshOutcome {
        guard let error = error as? TokenCredentialProviderError else {
            return .failed(error, at: .provider, retryAfter: .zero)
        }
        switch error.retry {
        case .atOnce: return .failed(error.cause, at: .provider, retryAfter: .zero)
        case .after(let duration): return .failed(error.cause, at: .provider, retryAfter: duration.bounded)
        case .afterSignIn:
            return .rejected(.credentialNotProvided(cause: error.cause, retryAt: nil, delivery: .notSent))
        }
    }

    /// How long a provider's call that has been given up is waited for; one
    /// that never returns must not keep everybody from signing in again.
    static let patience = Duration.seconds(10)

    /// One call at a time: an earlier one that has been given up is waited
    /// for, or the app would show two login screens.
    private func askProvider(
        of service: any RenewalService, replacing rejected: TokenCredential?, for number: Int
    ) async -> Result<TokenCredential, any Error> {
        guard let provider = service.provider else { return .failure(AtomError.unexpected) }
        // The app may have signed in or out before this came to run.
        guard guarded.with({ $0.isRunning(number) }) else { return .failure(CancellationError()) }
        let isDead = guarded.with { $0.held?.isRejected ?? false }
        let earlier = providerCall
        let call = Task<Result<TokenCredential, any Error>, Never>.detached(priority: .userInitiated) { [time] in
            if let earlier { _ = await Deadline.value(of: earlier, within: Self.patience, time: time) }
            guard !Task.isCancelled else { return .failure(CancellationError()) }
            return await Result {
                let credential = try await provider.credential(replacing: rejected)
                guard !credential.accessToken.isEmpty, !isDead || credential.accessToken != rejected?.accessToken
                else { throw TokenAnswerError("The provider returned no new access token.") }
                guard HeldCredential.canBeSent(credential.accessToken) else {
                    throw TokenAnswerError("The access token holds characters that can't be sent (RFC 6750 §2.1).")
                }
                return credential
            }
        }
        providerCall = call
        return await Deadline.value(of: call, within: service.providerDeadline, time: time)
    }
}
