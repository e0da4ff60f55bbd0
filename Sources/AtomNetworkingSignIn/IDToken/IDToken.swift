import AtomNetworking
import Foundation

/// The claims of an ID token: who has signed in, when, and for which client (OpenID Connect Core §2).
///
/// The signature isn't checked: a token that comes from the token endpoint over TLS needs none (§3.1.3.7). Never take
/// one from anywhere else.
public struct IDToken: Sendable, Hashable {
    /// Who has issued it (`iss`).
    public let issuer: String
    /// The person, within the issuer (`sub`).
    public let subject: String
    /// For whom it is (`aud`).
    public let audiences: [String]
    /// The client that it was issued to (`azp`).
    public let authorizedParty: String?
    /// When it ends (`exp`).
    public let expiresAt: Date
    /// When it was issued (`iat`).
    public let issuedAt: Date
    /// What ties it to a request (`nonce`).
    let nonce: String?
    /// The claims as JSON.
    private let claims: Data

    /// Reads the claims without any check but that they are there.
    ///
    /// - Throws: ``SignInError/invalidIDToken(_:)`` in an `AtomError`.
    public init(_ token: String) throws(AtomError) {
        fatalError("to be written")
    }

    /// The claims as a type of the app's own, such as `name` and `email`.
    public func claims<T: Decodable>(_ type: T.Type) throws(AtomError) -> T {
        fatalError("to be written")
    }

    /// Checks it by the rules of OpenID Connect Core §3.1.3.7, 2 to 5 and 9 to 11.
    func check(issuer: String, clientID: String, nonce: String?, at now: Date) throws(AtomError) {
        fatalError("to be written")
    }
}

extension IDToken: Redacted {}
