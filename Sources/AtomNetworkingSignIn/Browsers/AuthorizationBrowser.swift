import Foundation

/// Shows a page of an authorization server to a person, and brings the callback home.
///
/// The library has ``WebAuthenticationBrowser`` for Apple's platforms, and ``LoopbackBrowser`` for tools.
public protocol AuthorizationBrowser: Sendable {
    /// Shows the page, and returns the URL that the server has sent the browser to.
    ///
    /// It may be called on any task, is cancelled when nobody waits any more, and should close the page then.
    ///
    /// - Parameter page: Returns the address of the page for a redirect URI; called once.
    /// - Throws: ``SignInError/declined`` if the person closes the page; anything else as ``SignInError/browserFailed(_:)``.
    func authorize(_ page: @escaping Page) async throws -> URL

    /// Returns the address of the page for a redirect URI.
    ///
    /// It has a name so that the signature means the same in every module, whatever its language features.
    typealias Page = @Sendable (_ redirectURI: String) async throws -> URL
}
