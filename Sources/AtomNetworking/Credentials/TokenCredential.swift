import Foundation

/// The tokens of a session (RFC 6749 §1.4, §1.5).
public struct TokenCredential: Model, Hashable {
    /// The access token; `""` for none.
    public let accessToken: String

    /// When the access token expires by the device's clock; `.distantFuture` if
    /// that isn't known, also if the given date is not a number.
    public let expiresAt: Date

    /// The refresh token; `""` for none.
    public let refreshToken: String

    /// The scope of the access token, as the server sent it (RFC 6749 §3.3).
    public let scope: String?

    /// The token's type as the server sent it, usually `Bearer`.
    public let tokenType: String?

    /// The ID token from the same response (OpenID Connect Core §3.1.3.3).
    public let idToken: String?

    /// The thumbprint of the key that the tokens are bound to (RFC 7638, RFC 9449 §6); `nil` for none.
    public let keyThumbprint: String?

    /// Creates a credential.
    public init(
        accessToken: String, expiresAt: Date, refreshToken: String, scope: String? = nil, tokenType: String? = nil,
        idToken: String? = nil
    ) {
        self.init(
            accessToken: accessToken, expiresAt: expiresAt, refreshToken: refreshToken, scope: scope,
            tokenType: tokenType, idToken: idToken, keyThumbprint: nil)
    }

    /// Creates a credential whose tokens are bound to a key.
    public init(
        accessToken: String, expiresAt: Date, refreshToken: String, scope: String? = nil, tokenType: String? = nil,
        idToken: String? = nil, keyThumbprint: String?
    ) {
        self.accessToken = accessToken
        // Foundation traps when it prints such a date, which isn't even equal to itself.
        self.expiresAt = expiresAt.timeIntervalSinceReferenceDate.isNaN ? .distantFuture : expiresAt
        self.refreshToken = refreshToken
        self.scope = scope
        self.tokenType = tokenType
        self.idToken = idToken
        self.keyThumbprint = keyThumbprint
    }

    /// The type of tokens that are bound to a key, and their scheme in `Authorization` (RFC 9449 §5, §7.1).
    static let boundType = "DPoP"

    /// Whether the tokens are sent with a proof.
    var isBound: Bool { tokenType?.lowercased() == Self.boundType.lowercased() }

    /// Whether it contains nothing that a session could use.
    var isEmpty: Bool { accessToken.isEmpty && refreshToken.isEmpty }

    /// The credential of an empty store.
    static let empty = TokenCredential(accessToken: "", expiresAt: .distantFuture, refreshToken: "")

    func withRefreshToken(_ refreshToken: String) -> TokenCredential {
        TokenCredential(
            accessToken: accessToken, expiresAt: expiresAt, refreshToken: refreshToken, scope: scope,
            tokenType: tokenType, idToken: idToken, keyThumbprint: keyThumbprint)
    }

    func hasTokens(of other: TokenCredential) -> Bool {
        accessToken == other.accessToken && refreshToken == other.refreshToken
    }

    /// Whether it is the same expiry, for a store that keeps whole seconds only.
    func expires(at date: Date) -> Bool { expiresAt == date || abs(expiresAt.timeIntervalSince(date)) < 1 }
}

extension TokenCredential {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case expiresAt = "expires_at"
        case exactExpiry = "expires_from_2001"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case scope
        case tokenType = "token_type"
        case idToken = "id_token"
        case keyThumbprint = "jkt"
    }

    /// Reads the response of a token endpoint, what ``encode(to:)`` writes, and what other libraries wrote.
    ///
    /// The expiry is `expires_at`, or otherwise `expires_in`, counted from now: by the
    /// ``ServiceConfiguration/timeSource`` of the service whose response it is in, if it is in one. Without either it
    /// is unknown, as from the year 4000 on. `expires_at` is read with the decoder's own date strategy. If it has none,
    /// or can't read the value, a number below 1.2e9 is in seconds since 2001, as `JSONEncoder` writes dates by
    /// default, one above 1e11 in milliseconds since 1970, and any other in Unix seconds. A string is such a number or
    /// ISO 8601. A decoder that converts keys from snake case may be used too.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        // A decoder that converts keys from snake case shows them so.
        let isConverted = container.contains(TextKey("accessToken"))
        func key(_ key: CodingKeys) -> TextKey {
            guard isConverted else { return TextKey(key.rawValue) }
            let words = key.rawValue.split(separator: "_")
            return TextKey(words.prefix(1).joined() + words.dropFirst().map(\.capitalized).joined())
        }
        accessToken = try container.decode(String.self, forKey: key(.accessToken))
        refreshToken = try container.decodeIfPresent(String.self, forKey: key(.refreshToken)) ?? ""
        // Some servers send a list, such as Twitch's.
        let scopes = try? container.decodeIfPresent([String].self, forKey: key(.scope))
        scope = try scopes?.joined(separator: " ") ?? container.decodeIfPresent(String.self, forKey: key(.scope))
        tokenType = try container.decodeIfPresent(String.self, forKey: key(.tokenType))
        idToken = try container.decodeIfPresent(String.self, forKey: key(.idToken))
        keyThumbprint = try container.decodeIfPresent(String.self, forKey: key(.keyThumbprint))
        if let date = try Self.expiresAt(in: container, key) {
            expiresAt = date >= LooseTime.never ? .distantFuture : max(date, .distantPast)
        } else if let lifetime = try container.decodeIfPresent(LooseTime.self, forKey: key(.expiresIn)) {
            expiresAt = ResponseDecoder.date + (try lifetime.seconds(at: container.codingPath))
        } else {
            expiresAt = .distantFuture
        }
    }

    private static func expiresAt(
        in container: KeyedDecodingContainer<TextKey>, _ key: (CodingKeys) -> TextKey
    ) throws -> Date? {
        let expiresAt = key(.expiresAt)
        if let seconds = try? container.decode(Double.self, forKey: key(.exactExpiry)), seconds.isFinite {
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        guard container.contains(expiresAt), try !container.decodeNil(forKey: expiresAt) else { return nil }
        // With the default strategy a number is a date, whoever wrote it.
        let number = try? container.decode(Double.self, forKey: expiresAt)
        if let date = try? container.decode(Date.self, forKey: expiresAt),
            date.timeIntervalSinceReferenceDate.isFinite, date.timeIntervalSinceReferenceDate != number
        {
            return date
        }
        return try container.decode(LooseTime.self, forKey: expiresAt).date
    }

    /// Writes the keys of RFC 6749 §5.1, and `expires_at` as a `Date` with the
    /// encoder's own strategy, as Atom does, also if the expiry is unknown.
    ///
    /// If the number of a date would be read as a different date, the date is also written as `expires_from_2001`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(accessToken, forKey: .accessToken)
        let date = min(max(expiresAt, .distantPast), .distantFuture)
        try container.encode(date, forKey: .expiresAt)
        if date < LooseTime.never, date.timeIntervalSinceReferenceDate >= LooseTime.firstUnixTime {
            try container.encode(date.timeIntervalSinceReferenceDate, forKey: .exactExpiry)
        }
        try container.encode(refreshToken, forKey: .refreshToken)
        try container.encodeIfPresent(scope, forKey: .scope)
        try container.encodeIfPresent(tokenType, forKey: .tokenType)
        try container.encodeIfPresent(idToken, forKey: .idToken)
        try container.encodeIfPresent(keyThumbprint, forKey: .keyThumbprint)
    }
}

extension TokenCredential: Redacted {
    /// Shows only the expiry.
    public var description: String {
        expiresAt == .distantFuture
            ? "TokenCredential(…)" : "TokenCredential(…, expires \(expiresAt.formatted(.iso8601)))"
    }
}
