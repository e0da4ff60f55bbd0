import Foundation

/// Shows a page of an authorization server to a person, and brings the callback home.
///
/// The library has `WebAuthenticationBrowser` for apps on Apple platforms, and ``LoopbackBrowser`` for tools.
public protocol AuthorizationBrowser: Sendable {
    /// Shows the page, and returns the URL that the server has sent the browser to.
    ///
    /// It is called on any task. When nobody waits any more the task is cancelled, and the page should close.
    ///
    /// - Parameter page: Returns the address of the page for a redirect URI; call it once.
    /// - Throws: ``SignInError/declined`` if the person closes the page. A ``SignInError``, an `AtomError` and a
    ///   `CancellationError` stay what they are, and any other error becomes ``SignInError/browserFailed(_:)``.
    func authorize(_ page: @escaping Page) async throws -> URL

    /// Returns the address of the page for a redirect URI.
    ///
    /// It has a name so that the signature means the same in every module, whatever its language features.
    typealias Page = @Sendable (_ redirectURI: String) async throws -> URL
}
