/// What a refresh has come to, noted while it runs: an exchange with a store
/// may still fail when only the write is left.
final class RefreshReport: Sendable {
    private struct State {
        var outcome: RefreshOutcome?
        var replaced = UnwrittenCredential.Replaced.unknown
        var kept: TokenCredential?
    }

    private let state = Guarded(State())

    /// What became of the refresh; `nil` if the exchange has not come to it.
    var outcome: RefreshOutcome? { state.withLock { $0.outcome } }

    /// The credential that the refresh brought, if it did.
    var granted: TokenCredential? { if case .granted(let credential, _) = outcome { credential } else { nil } }

    /// What the store held before.
    var replaced: UnwrittenCredential.Replaced { state.withLock { $0.replaced } }

    /// What the store is to hold although the refresh failed: the server has
    /// replaced the refresh token.
    var kept: TokenCredential? { state.withLock { $0.kept } }

    /// Notes what became of the refresh; the first outcome counts.
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

/// What a refresh has come to, for the machine.
enum RefreshOutcome: Sendable {
    /// It was outdated, or the store held something better.
    case abandoned
    /// The machine has committed to a new credential, of this version.
    case granted(TokenCredential, version: Int)
    /// There is nothing more to be had with what is held.
    case rejected(AuthenticationError)
    /// It did not succeed this time.
    case failed(any Error, at: SessionMachine<any SessionWaiter>.RefreshObstacle, retryAfter: Duration?)
    /// The session that it was for is over; the answer is still to come.
    case leftBehind
}
