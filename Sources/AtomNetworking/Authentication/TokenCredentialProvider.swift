import Foundation

/// An app's own way to a credential: a login screen, an identity provider's
/// SDK, a device flow.
///
/// The session asks it when there is no credential, and when the one that
/// there is has expired or was rejected, as long as a request wants one. It is
/// asked once at a time, however many requests wait, and holds no lock: it may
/// take as long as ``BearerAuthentication/deadline`` allows.
///
/// <!-- given:
/// @MainActor func presentLogin() async throws -> TokenCredential { throw CancellationError() }
/// -->
/// ```swift
/// struct LoginScreen: TokenCredentialProvider {
///     func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
///         try await presentLogin()
///     }
/// }
/// ```
public protocol TokenCredentialProvider: Sendable {
    /// Gets a credential.
    ///
    /// Called on a task of the SDK's, which is cancelled when the session is
    /// signed out or in and when the deadline passes. What it returns after
    /// that is dropped; the next call waits up to ten seconds for it to return.
    ///
    /// Return the credential, and leave ``Atom/signIn(with:)`` to others: it
    /// begins another session, and those who wait for this one are told
    /// ``AuthenticationError/signedOut(delivery:)``.
    ///
    /// - Parameter rejected: The credential that has expired, was refused, or
    ///   is about to expire if ``BearerAuthentication/leeway`` is set; `nil`
    ///   when nobody is signed in. Its refresh token may still be good.
    /// - Returns: A credential with another access token than the rejected
    ///   one, or with a later expiry if that had only expired.
    /// - Throws: Anything; it becomes the cause of
    ///   ``AuthenticationError/credentialNotProvided(cause:retryAt:delivery:)``
    ///   for all who wait. The next request asks again at once, unless it is a
    ///   ``TokenCredentialProviderError`` that says otherwise.
    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential
}

/// What a ``TokenCredentialProvider`` throws to say when it may be asked again.
public struct TokenCredentialProviderError: ErrorWithCause {
    /// When the provider may be asked again.
    public enum Retry: Sendable, Hashable {
        /// By the next request.
        case atOnce
        /// Not before so much time has passed; until then requests wait for it
        /// if their own time allows, and fail at once if not.
        case after(Duration)
        /// Not before somebody has signed in, or out, or the stored credential
        /// has changed: the session has ended.
        case afterSignIn
    }

    /// What went wrong.
    public let cause: any Error

    /// When the provider may be asked again.
    public let retry: Retry

    /// Makes an error.
    public init(_ cause: any Error, retry: Retry) {
        self.cause = cause
        self.retry = retry
    }
}
