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

    /// A state, a nonce or a code verifier: 256 bits, in 43 characters (RFC 7636 §4.1).
    @Sendable static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// What the server compares the verifier with, by the method S256 (RFC 7636 §4.2).
    static func codeChallenge(for verifier: String) -> String { Base64URL.encode(SHA256.digest(Array(verifier.utf8))) }
}

// The callback (RFC 6749 §4.1.2).
extension AuthorizationCodeRequest {
    /// The code in a callback, after all checks.
    ///
    /// The state is compared first: without it anybody may have made the rest.
    func code(in callback: URL, of server: AuthorizationServer) throws(AtomError) -> String {
        guard RedirectURI(of: callback.absoluteString) == RedirectURI(of: redirectURI) else {
            throw .signIn(.invalidCallback("it is not for the redirect URI"))
        }
        let parameters = CallbackParameters(of: callback)
        guard parameters.values("state") == [state] else { throw .signIn(.wrongState) }
        let secrets = [state, codeVerifier] + [nonce].compactMap { $0 } + parameters.values("code").compactMap { $0 }

        let issuers = parameters.values("iss")
        if issuers.count > 1 { throw .signIn(.invalidCallback("iss is there twice")) }
        // Some servers leave it out where nothing but an error is said, which is believed of anybody.
        let isExpected = server.sendsIssuerInCallback && parameters.values("error").isEmpty
        if !issuers.isEmpty || isExpected, issuers != [server.issuer] {
            // Compared as a text (RFC 9207 §2.4).
            let found = issuers.first?.map { Redaction.withoutTokens($0, secrets: secrets) }
            throw .signIn(.wrongIssuer(expected: server.issuer, found: found))
        }
        if !parameters.values("error").isEmpty {
            guard let error = try parameters.value("error") else { throw .signIn(.invalidCallback("error is empty")) }
            throw .signIn(error == "access_denied" ? .declined : .refused(parameters.refusal(error, without: secrets)))
        }
        guard let code = try parameters.value("code") else { throw .signIn(.invalidCallback("it has no code")) }
        return code
    }
}

extension AuthorizationCodeRequest: Redacted {}

/// The parameters in the query of a callback, a form (RFC 6749 appendix B).
private struct CallbackParameters {
    /// `nil` for a value that isn't percent-encoded UTF-8.
    private let items: [(name: String, value: String?)]

    init(of callback: URL) {
        let text = callback.absoluteString.unicodeScalars.prefix { $0 != "#" }
        let query = text.drop { $0 != "?" }.dropFirst()
        items = query.split(separator: "&").compactMap { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                String($0).replacingOccurrences(of: "+", with: " ").removingPercentEncoding
            }
            return halves[0].map { ($0, halves.count > 1 ? halves[1] : "") }
        }
    }

    func values(_ name: String) -> [String?] { items.filter { $0.name == name }.map(\.value) }

    /// The only value; `nil` if there is none, or an empty one.
    func value(_ name: String) throws(AtomError) -> String? {
        let values = values(name)
        // None is there more than once (RFC 6749 §3.1).
        if values.count > 1 { throw .signIn(.invalidCallback("\(name) is there twice")) }
        return values.first.flatMap { $0 }.flatMap { $0.isEmpty ? nil : $0 }
    }

    func refusal(_ code: String, without secrets: [String]) -> OAuthError {
        func text(_ name: String) -> String? { (try? value(name)).flatMap { $0 } }
        return OAuthError(code: code, explanation: text("error_description"), uri: text("error_uri"), hiding: secrets)
    }
}
