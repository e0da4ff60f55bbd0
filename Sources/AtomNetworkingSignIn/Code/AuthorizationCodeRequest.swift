import AtomNetworking
import Foundation

/// A sign-in in a browser that has begun: the address of its page, and what its callback is checked by.
///
/// It holds the secrets of the sign-in, the state, the nonce and the code verifier, and so no description shows it.
public struct AuthorizationCodeRequest: Sendable {
    /// The page that the browser shows.
    public let url: URL
    /// Where the server sends the browser afterwards.
    public let redirectURI: String
    /// What is asked for.
    public let scopes: [String]
    /// Ties the callback to this request (RFC 6749 §10.12).
    let state: String
    /// Ties the ID token to this request (OpenID Connect Core §3.1.2.1); `nil` where none is asked for.
    let nonce: String?
    /// Ties the code to this request (RFC 7636 §4.1).
    let codeVerifier: String
}

extension AuthorizationCodeRequest: Redacted {}
