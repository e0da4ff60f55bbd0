import AtomNetworking
import Foundation

/// Requests of a client to its authorization server: forms in, JSON out, no redirects, no cookies.
struct ServerRequest: Sendable {
    private let atom: Atom
    private let client: OAuthClient

    init(of client: OAuthClient) {
        fatalError("to be written")
    }

    /// The time of the client's configuration.
    var time: any TimeSource { client.configuration.timeSource }

    /// Sends a form with the client's authentication (RFC 6749 §2.3.1), and once more where a proof's nonce is missing.
    ///
    /// - Returns: The response, with a status of 200 to 299 and without an error in it.
    /// - Throws: ``SignInError/refused(_:)`` with the server's error, in an `AtomError`; other failures as they are.
    func send(_ form: [QueryItem], to endpoint: AuthorizationEndpoint) async throws(AtomError) -> AtomResponse {
        fatalError("to be written")
    }

    /// Exchanges a grant for a credential, and checks its type (RFC 6749 §5.1, §7.1; RFC 9449 §5).
    func credential(_ form: [QueryItem]) async throws(AtomError) -> TokenCredential {
        fatalError("to be written")
    }
}
