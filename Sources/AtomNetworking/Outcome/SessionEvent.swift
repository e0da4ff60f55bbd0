import Foundation

/// What a session of bearer tokens is doing.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SessionState: Sendable {
    /// The token store hasn't been read yet.
    case unknown

    /// Nobody is signed in.
    case signedOut

    /// Somebody is signed in.
    case signedIn

    /// An access token is being got: in place of one that is no good any more,
    /// or, with a ``TokenCredentialProvider``, the first.
    case refreshing

    /// Somebody has to sign in again, for the reason given.
    case ended(AuthenticationError)
}

/// Something that happened to a session of bearer tokens.
///
/// Told after those who waited for it. No token is in it.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SessionEvent: Sendable {
    /// The app signed in.
    case signedIn

    /// The app signed out, or the store was emptied from outside.
    case signedOut

    /// There is a new access token; `nil` when its expiry isn't known.
    case refreshed(expiresAt: Date?)

    /// The store held other tokens than the session's, and the session goes by
    /// them: another process has refreshed, or signed in.
    case credentialChanged

    /// A refresh failed; the same error that its waiters got.
    case refreshFailed(AuthenticationError)

    /// Somebody has to sign in again.
    case ended(AuthenticationError)

    /// The store can't be written; what it should hold is kept in memory.
    case credentialNotStored(AuthenticationError)

    /// What could not be stored is stored now.
    case credentialStored
}

extension SessionEvent {
    /// Why the session can't go on without a new sign-in, if this says so.
    ///
    /// What passes by itself is none: apps sign people out on it.
    var reasonToSignIn: AuthenticationError? {
        switch self {
        case .ended(let error): error
        case .refreshFailed(let error) where error.isRefusedRefresh: error
        case .refreshFailed, .signedIn, .signedOut, .refreshed, .credentialChanged, .credentialNotStored,
            .credentialStored:
            nil
        }
    }
}
