import AtomNetworking
import Foundation

/// Signs a user in when a request needs it, once for all requests that wait.
public final class SignIn: TokenCredentialProvider {
    /// Signs in with a browser (RFC 6749 §4.1, RFC 8252).
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - browser: Shows the page.
    ///   - store: The store of the service, in which a sign-in of another process is found.
    ///   - lock: A file that processes lock which share the store, so that one page opens; `nil`, the default, for none.
    public init(
        _ client: OAuthClient, browser: any AuthorizationBrowser, store: (any TokenCredentialStore)? = nil,
        lock: URL? = nil
    ) {
        fatalError("to be written")
    }

    /// Signs in on another device (RFC 8628).
    ///
    /// - Parameter show: Shows code and address to the person.
    public init(
        _ client: OAuthClient, store: (any TokenCredentialStore)? = nil, lock: URL? = nil,
        showingCode show: @escaping @Sendable (DeviceAuthorization) async throws -> Void
    ) {
        fatalError("to be written")
    }

    /// Signs in for requests that wait, as the session asks.
    public func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        fatalError("to be written")
    }

    /// Signs in at once, because the person asks for it, and begins a session with the tokens.
    public func signIn(to atom: Atom) async throws(AtomError) {
        fatalError("to be written")
    }

    /// Signs in for more, and goes on with the session; if the person declines, the session stays as it is.
    public func signIn(to atom: Atom, for challenge: ScopeChallenge) async throws(AtomError) {
        fatalError("to be written")
    }

    /// Makes a request, and if the token isn't enough for it signs in for more and makes it once more.
    public func withStepUp<T: Sendable>(
        of atom: Atom, _ request: @Sendable () async throws(AtomError) -> T
    ) async throws(AtomError) -> T {
        fatalError("to be written")
    }
}
