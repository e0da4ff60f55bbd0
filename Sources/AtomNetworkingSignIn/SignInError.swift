import AtomNetworking

/// Why a sign-in has brought no credential.
///
/// Direct calls throw it, and requests that waited for a ``SignIn`` get it, as the cause of
/// `AuthenticationError.credentialNotProvided`. `AtomError.signInError` reads it from there. Network failures stay what
/// they are, an `AtomError`. <doc:SigningIn#When-nobody-was-signed-in> says what to do about each case.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SignInError: Error, Sendable, Hashable {
    /// The person has closed the page, or has refused (`access_denied`, RFC 6749 §4.1.2.1).
    case declined
    /// The authorization server has refused, with any other error.
    case refused(OAuthError)
    /// Nobody has finished the sign-in in time.
    case timedOut
    /// The user code has expired before anybody entered it (RFC 8628 §3.5).
    case deviceCodeExpired
    /// The callback's `state` is missing, or isn't that of the request (RFC 6749 §10.12).
    case wrongState
    /// Another server has answered than the one that was asked (RFC 9207, RFC 8414 §3.3); the servers' addresses.
    case wrongIssuer(expected: String, found: String?)
    /// The callback is not for the redirect URI, or has no code and no error, or has one twice; what is wrong.
    case invalidCallback(String)
    /// The ID token is missing, or breaks a rule of OpenID Connect Core §3.1.3.7; which one.
    case invalidIDToken(String)
    /// A server's metadata can't be used; what is wrong (RFC 8414, RFC 9728).
    case invalidMetadata(String)
    /// The token response can't be used, or it has a token of another type than was asked for; what is wrong.
    case invalidTokenResponse(String)
    /// The server doesn't offer what this sign-in needs; what is missing.
    case unsupported(String)
    /// Somebody else than the person of the session has signed in for more.
    case differentUser
    /// The browser could not be opened, or no port for its callback; what has failed.
    case browserFailed(String)
}

extension SignInError: RedactedError {
    /// One or two sentences, without code, state, verifier and token.
    public var description: String {
        switch self {
        case .declined: "The sign-in was declined, or its page was closed."
        case .refused(let error):
            "The authorization server refused: \(error.description)" + (error.description.hasSuffix(".") ? "" : ".")
        case .timedOut: "Nobody finished the sign-in in time."
        case .deviceCodeExpired: "The code expired before anybody entered it. Ask for another one."
        case .wrongState: "The callback doesn't belong to this sign-in: its state is missing or another one."
        case .wrongIssuer(let expected, let found):
            "The response is of another server: \(Redaction.url(expected)) was asked, and "
                + (found.map { "\(Redaction.url($0)) answered." } ?? "it doesn't say who answered.")
        case .invalidCallback(let reason): "The callback can't be used: \(reason)."
        case .invalidIDToken(let reason): "The ID token can't be used: \(reason)."
        case .invalidMetadata(let reason): "The server's metadata can't be used: \(reason)."
        case .invalidTokenResponse(let reason): "The token response can't be used: \(reason)."
        case .unsupported(let what): "The authorization server doesn't offer \(what)."
        case .differentUser: "Somebody else has signed in: sign out first."
        case .browserFailed(let reason): "The browser could not be used: \(reason)."
        }
    }
}

extension AtomError {
    /// Why a sign-in has brought no credential, if that is what this error is about.
    public var signInError: SignInError? {
        guard case .authentication(.credentialNotProvided(let cause, _, _)) = self else { return nil }
        return cause as? SignInError
    }

    /// A sign-in that has failed.
    static func signIn(_ error: SignInError, delivery: AuthenticationError.Reach = .notSent) -> AtomError {
        .authentication(.credentialNotProvided(cause: error, retryAt: nil, delivery: delivery))
    }
}
