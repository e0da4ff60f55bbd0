import Foundation

/// The state of a session of bearer tokens.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SessionState: Sendable {
    /// The token store hasn't been read yet.
    case unknown

    /// No user is signed in.
    case signedOut

    /// A user is signed in.
    case signedIn

    /// A new access token is being obtained, to replace an invalid one or, with
    /// a ``TokenCredentialProvider``, as the first one.
    case refreshing

    /// The user has to sign in again, for the given reason.
    case ended(AuthenticationError)
}

extension SessionState {
    /// The reasons of an end aren't compared.
    func isSame(as other: SessionState) -> Bool {
        switch (self, other) {
        case (.unknown, .unknown), (.signedOut, .signedOut), (.signedIn, .signedIn), (.refreshing, .refreshing),
            (.ended, .ended):
            true
        default: false
        }
    }
}

/// An event of a session of bearer tokens.
///
/// Listeners get it after the requests that waited. It contains no token. The
/// requests get `AtomError.authentication` with the same error.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SessionEvent: Sendable {
    /// The app signed in.
    case signedIn

    /// The app signed out, or another process emptied the store.
    case signedOut

    /// There is a new access token; `nil` if its expiry isn't known.
    case refreshed(expiresAt: Date?)

    /// The store contained other tokens, and the session uses them: another process has refreshed, or signed in.
    case credentialChanged

    /// A refresh failed, with the error that its waiting requests got.
    case refreshFailed(AuthenticationError)

    /// The user has to sign in again.
    case ended(AuthenticationError)

    /// The store can't be written; the change is kept in memory, and the write is tried again. It comes a second time
    /// when that is given up, after eleven minutes.
    case credentialNotStored(AuthenticationError)

    /// A change that could not be stored has been stored.
    case credentialStored
}

extension SessionEvent {
    /// Why the session can't continue without a new sign-in: apps sign users out on it.
    var reasonToSignIn: AuthenticationError? {
        if case .ended(let error) = self { error } else { refusedRefresh(with: 400) }
    }

    /// Why a refresh failed that the token endpoint answered with a 401: the same one won't succeed (RFC 6749 §5.2).
    var unauthorizedRefresh: AuthenticationError? {
        switch self {
        // It comes first as `refreshFailed`, and once more here.
        case .ended(.refreshRejected(let cause, _)), .ended(.refreshInterrupted(let cause, _)):
            cause.response?.statusCode == 401 ? reasonToSignIn : nil
        default: refusedRefresh(with: 401)
        }
    }

    /// The failure of a refresh that the token endpoint has refused for a reason that doesn't end the session.
    private func refusedRefresh(with statusCode: Int) -> AuthenticationError? {
        guard case .refreshFailed(let error) = self, case .refreshFailed(let cause, _, _) = error else { return nil }
        // The server has looked at nothing but the proof (RFC 9449 §8): the next attempt has its nonce.
        if (cause as? OAuthError)?.code == "use_dpop_nonce" { return nil }
        return error.response?.statusCode == statusCode ? error : nil
    }
}
