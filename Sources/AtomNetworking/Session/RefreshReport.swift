/// The result of a refresh, noted while it runs: an exchange with a store may
/// fail after the refresh, when it writes.
final class RefreshReport: Sendable {
    private struct State {
        var outcome: RefreshOutcome?
        var replaced = UnwrittenCredential.Replaced.unknown
        var kept: TokenCredential?
    }

    private let state = Guarded(State())

    /// The outcome of the refresh; `nil` if the exchange failed before.
    var outcome: RefreshOutcome? { state.withLock { $0.outcome } }

    /// The new credential, if the refresh has succeeded.
    var granted: TokenCredential? { if case .granted(let credential, _) = outcome { credential } else { nil } }

    /// What the store held before.
    var replaced: UnwrittenCredential.Replaced { state.withLock { $0.replaced } }

    /// What the store has to hold although the refresh failed, because the
    /// server has replaced the refresh token.
    var kept: TokenCredential? { state.withLock { $0.kept } }

    /// Notes the outcome of the refresh; the first one counts.
    func note(_ outcome: RefreshOutcome) {
        state.withLock { $0.outcome = $0.outcome ?? outcome }
    }

    func note(kept: TokenCredential) {
        state.withLock { $0.kept = kept }
    }

    func note(replaced: TokenCredential?) {
        state.withLock { $0.replaced = .known(replaced) }
    }
}

/// The outcome of a refresh, for the machine.
enum RefreshOutcome: Sendable {
    /// The refresh was outdated, or the store held a better credential.
    case abandoned
    /// The machine has committed to a new credential, of this version.
    case granted(TokenCredential, version: Int)
    /// The credential can't be renewed any more.
    case rejected(AuthenticationError)
    /// The refresh has failed; another one may succeed.
    case failed(any Error, at: SessionMachine<any SessionWaiter>.RefreshObstacle, retryAfter: Duration?)
    /// The refresh goes on with the app's provider.
    case turnedToProvider
    /// The session was signed out or in; the answer is still to come.
    case leftBehind
}
