import AtomNetworking
import Foundation

/// A credential in the format of the table.
///
/// It is the JSON of `TokenCredential`, with the expiry repeated as seconds since 2001: `Date` counts from there, and
/// Unix seconds lose its last bit. Otherwise a credential would differ after it was read back.
struct StoredCredential {
    let credential: TokenCredential

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    init(text: String) throws(PostgresStoreError) {
        // The decoder's error may quote its input.
        guard let stored = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { throw .unreadable }
        self = stored
    }

    func text() throws(PostgresStoreError) -> String {
        let encoder = JSONEncoder()
        // The table contains Unix seconds, whatever a credential's default format is.
        encoder.dateEncodingStrategy = .secondsSince1970
        guard let data = try? encoder.encode(self) else { throw .unwritable }
        return String(decoding: data, as: UTF8.self)
    }
}

extension StoredCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case expiresAt = "expires_at"
        case exactExpiry = "expires_at_since_2001"
    }

    init(from decoder: any Decoder) throws {
        let plain = try TokenCredential(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let exact = try container.decodeIfPresent(Double.self, forKey: .exactExpiry)
            .map(Date.init(timeIntervalSinceReferenceDate:))
        // One of the two may have been changed by hand; dates that are millennia away are written as unknown.
        let seconds = try container.decodeIfPresent(Double.self, forKey: .expiresAt)
        let unchanged = [exact?.timeIntervalSince1970, Date.distantFuture.timeIntervalSince1970]
        guard let exact, unchanged.contains(seconds) else {
            credential = plain
            return
        }
        credential = TokenCredential(
            accessToken: plain.accessToken, expiresAt: exact, refreshToken: plain.refreshToken, scope: plain.scope,
            tokenType: plain.tokenType, idToken: plain.idToken, keyThumbprint: plain.keyThumbprint)
    }

    func encode(to encoder: any Encoder) throws {
        try credential.encode(to: encoder)
        guard credential.expiresAt != .distantFuture else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(credential.expiresAt.timeIntervalSinceReferenceDate, forKey: .exactExpiry)
    }
}
