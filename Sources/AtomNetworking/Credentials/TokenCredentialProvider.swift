/// An app's own source of credentials: a login screen, an identity provider's SDK, a device flow.
///
/// The session calls it when a request needs a credential and there is none, or the current one has expired or was
/// rejected. It makes one call at a time for all waiting requests, and holds no lock. The call may take as long as
/// ``BearerAuthentication/deadline`` allows, or beside a token endpoint ``BearerAuthentication/signInDeadline``.
///
/// The requests that wait have their own deadlines: give a service whose provider asks a person a longer
/// ``ServiceTimeout/resource`` than 30 seconds, as in <doc:BringYourOwnToken>, which shows a whole login screen.
///
/// <!-- given:
/// func presentLogin() async throws -> TokenCredential { throw CancellationError() }
/// -->
/// ```swift
/// import AtomNetworking
///
/// struct LoginScreen: TokenCredentialProvider {
///     func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
///         try await presentLogin()
///     }
/// }
/// ```
public protocol TokenCredentialProvider: Sendable {
    /// Gets a credential, on a task of the SDK.
    ///
    /// The task is cancelled when the app signs in or out or the deadline passes. A
    /// later result is dropped, and the next call waits up to ten seconds for it.
    ///
    /// A request of the provider's own must not be signed by the same session:
    /// set ``Requestable/requiresAuthorization`` to `false`. A signed one fails
    /// with ``AuthenticationError/missingCredential(delivery:)``.
    ///
    /// Return the credential, and don't call ``Atom/signIn(with:)`` here: it starts another session, and the requests
    /// that wait for this one fail with ``AuthenticationError/signedOut(delivery:)``.
    ///
    /// - Parameter rejected: The credential that has expired, was rejected, or is about to expire if
    ///   ``BearerAuthentication/leeway`` is set; `nil` when no user is signed in. Its refresh token may still be valid.
    /// - Returns: A credential with a different access token, or with a later expiry if the old one had only expired.
    /// - Throws: Any error: the cause of ``AuthenticationError/credentialNotProvided(cause:retryAt:delivery:)`` for all
    ///   waiting requests. The next request calls the provider again at once, unless a ``TokenCredentialProviderError``
    ///   says otherwise.
    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential
}

/// When a ``TokenCredentialProvider`` may be called again; after any other error that is with the next request.
public enum TokenCredentialProviderError: ErrorWithCause {
    /// Not before this time has passed. Until then requests wait if their deadline allows it, and fail at once if not.
    case retryAfter(Duration, any Error)
    /// Not before the app has signed in or out, or the stored credential has changed: the session has ended.
    case retryAfterSignIn(any Error)

    var cause: any Error {
        switch self {
        case .retryAfter(_, let cause), .retryAfterSignIn(let cause): cause
        }
    }
}
