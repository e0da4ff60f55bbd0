import AtomNetworkingSignIn
import Foundation

/// The browser of a test, with a person who signs in at a ``ScriptedAuthorizationServer``.
///
/// It shows nothing. The server checks each authorization request as a real one would, and the person approves, unless
/// ``ScriptedAuthorizationServer/nextPage(_:times:)`` says otherwise.
public struct ScriptedBrowser: AuthorizationBrowser {
    /// How a page ends: what the person does, or what an attacker does to the callback.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Ending: Sendable, Hashable {
        /// The person signs in and approves.
        case approved
        /// The person declines: the callback has the error `access_denied` (RFC 6749 §4.1.2.1).
        case declined
        /// The person closes the page: there is no callback.
        case closed
        /// The callback has this error, such as `server_error`.
        case error(String)
        /// The callback has this `state`, or none: an attacker has sent it (RFC 6749 §10.12).
        case state(String?)
        /// The callback has this `iss`, or none: another server has sent it (RFC 9207 §2).
        case issuer(String?)
        /// The callback is for this redirect URI.
        case redirectURI(String)
        /// The callback has the code of another sign-in (RFC 9700 §4.5).
        case stolenCode
    }

    private let server: ScriptedAuthorizationServer

    /// The redirect URI of the app, as it is registered at the server.
    public var redirectURI = "com.example.app:/signed-in"

    init(_ server: ScriptedAuthorizationServer) {
        self.server = server
    }

    /// Plays a page from its beginning to its callback.
    ///
    /// - Throws: `SignInError.declined` if the person closes it, and a ``ScriptProblem`` for a request that a server
    ///   must answer with a page of its own: it is of an unknown client, or for another redirect URI.
    public func authorize(_ page: @escaping Page) async throws -> URL {
        let url = try await page(redirectURI)
        if let gate = server.beginPage() {
            let (held, end) = AsyncStream<Never>.makeStream()
            gate.whenReleased { end.finish() }
            for await _ in held {}
            try Task.checkCancellation()
        }
        return try server.endPage(url, redirectURI: redirectURI)
    }
}
