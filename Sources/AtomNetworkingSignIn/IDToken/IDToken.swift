import AtomNetworking
import Foundation

/// The claims of an ID token: who has signed in, when, and for which client (OpenID Connect Core §2).
///
/// ``OAuthClient`` checks that of each token response, whatever the grant. One that comes with a refresh is stored as it
/// is. The signature isn't checked: a token that comes from the token endpoint over TLS needs none (§3.1.3.7). Never
/// take one from anywhere else.
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
        guard token.utf8.count <= Self.longest else { throw Self.refusal("it is longer than 64 KiB") }
        // Header, claims and signature, which is empty with the algorithm `none` (RFC 7515 §7.1).
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { Base64URL.decode($0) }
        guard parts.count == 3, let header = parts[0], !header.isEmpty, let json = parts[1], parts[2] != nil else {
            throw Self.refusal("it doesn't consist of three parts in base64url (RFC 7515 §7.1)")
        }
        claims = Data(json)
        let read = try Self.decode(Claims.self, from: claims)
        (issuer, subject, audiences) = (read.issuer, read.subject, read.audiences)
        (authorizedParty, nonce) = (read.authorizedParty, read.nonce)
        (expiresAt, issuedAt) = (read.expiresAt, read.issuedAt)
    }

    /// The claims as a type of the app's own, such as `name` and `email`.
    public func claims<T: Decodable>(_ type: T.Type) throws(AtomError) -> T {
        try Self.decode(type, from: claims)
    }

    /// Checks it by the rules of OpenID Connect Core §3.1.3.7, 2 to 5, 9 and 11.
    ///
    /// Not checked are the signature (6 to 8), since the token comes from the token endpoint over TLS, `at_hash`
    /// (§3.1.3.6), since the access token comes in the same response, and what an app can ask for by parameters of its
    /// own, `acr` and `auth_time` (12 and 13): the app reads them with ``claims(_:)``. Of `iat` (10) only that it is a
    /// number.
    ///
    /// - Parameter nonce: That of the request; `nil` if none was sent.
    func check(issuer: String, clientID: String, nonce: String?, at now: Date) throws(AtomError) {
        guard self.issuer == issuer else { throw Self.refusal("another server has issued it (iss, rule 2)") }
        guard audiences.contains(clientID) else { throw Self.refusal("it is for another client (aud, rule 3)") }
        guard authorizedParty != nil || audiences.count == 1 else {
            throw Self.refusal("it is for several, and doesn't say for whom first (azp, rule 4)")
        }
        guard authorizedParty == nil || authorizedParty == clientID else {
            throw Self.refusal("it was issued to another client (azp, rule 5)")
        }
        guard now < expiresAt + Self.leeway else { throw Self.refusal("it has expired (exp, rule 9)") }
        guard nonce == nil || self.nonce == nonce else {
            throw Self.refusal("it belongs to another sign-in (nonce, rule 11)")
        }
    }

    private static let longest = 1 << 16
    /// How far the device's clock may be ahead of the server's, in seconds.
    private static let leeway: TimeInterval = 60

    private static func refusal(_ reason: String) -> AtomError {
        .signIn(.invalidIDToken(reason), delivery: .answered)
    }

    /// Decodes claims; dates are `NumericDate` (RFC 7519 §2).
    private static func decode<T: Decodable>(_ type: T.Type, from claims: Data) throws(AtomError) -> T {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        do {
            return try decoder.decode(type, from: claims)
        } catch {
            // The error itself may show a value.
            let claim = (error as? DecodingError)?.claim.map { "“\(Redaction.subject($0))” is" } ?? "a claim is"
            throw refusal("\(claim) missing, or isn't what it must be")
        }
    }

    private struct Claims: Decodable {
        private enum CodingKeys: String, CodingKey {
            case iss, sub, aud, azp, exp, iat, nonce
        }

        let issuer: String
        let subject: String
        let audiences: [String]
        let authorizedParty: String?
        let expiresAt: Date
        let issuedAt: Date
        let nonce: String?

        init(from decoder: any Decoder) throws {
            let claims = try decoder.container(keyedBy: CodingKeys.self)
            func date(_ key: CodingKeys) throws -> Date {
                let seconds = try claims.decode(Double.self, forKey: key)
                // Until the year 9999. Later dates trap where they are printed.
                guard (0..<253_402_300_800).contains(seconds) else {
                    throw DecodingError.dataCorruptedError(forKey: key, in: claims, debugDescription: "")
                }
                return Date(timeIntervalSince1970: seconds)
            }
            issuer = try claims.decode(String.self, forKey: .iss)
            subject = try claims.decode(String.self, forKey: .sub)
            audiences =
                try (try? [claims.decode(String.self, forKey: .aud)])
                ?? claims.decode([String].self, forKey: .aud)
            authorizedParty = try claims.decodeIfPresent(String.self, forKey: .azp)
            expiresAt = try date(.exp)
            issuedAt = try date(.iat)
            nonce = try claims.decodeIfPresent(String.self, forKey: .nonce)
        }
    }
}

extension IDToken: Redacted {}

extension DecodingError {
    /// The name of the outermost claim that could not be read.
    fileprivate var claim: String? {
        switch self {
        case .keyNotFound(let key, let context): (context.codingPath.first ?? key).stringValue
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.first?.stringValue
        @unknown default: nil
        }
    }
}
