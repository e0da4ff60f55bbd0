import AtomNetworking
import Foundation

/// A credential as it stands in the table.
///
/// It is the JSON that `TokenCredential` writes, and the expiry once more as
/// seconds since 2001: `Date` counts from there, and Unix seconds lose its last
/// bit. Without it a credential that was read would differ from the one that
/// was written.
struct StoredCredential {
    let credential: TokenCredential

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    init(text: String) throws(PostgresStoreError) {
        // The decoder's error may quote what it read.
        guard let stored = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { throw .unreadable }
        self = stored
    }

    func text() throws(PostgresStoreError) -> String {
        let encoder = JSONEncoder()
        // What stands in the table is Unix seconds, whatever a credential is written as by default.
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
        // Somebody may have changed the one and left the other; what lies millennia ahead is written as unknown.
        let seconds = try container.decodeIfPresent(Double.self, forKey: .expiresAt)
        let unchanged = [exact?.timeIntervalSince1970, Date.distantFuture.timeIntervalSince1970]
        guard let exact, unchanged.contains(seconds) else {
            credential = plain
            return
        }
        credential = TokenCredential(
            accessToken: plain.accessToken, expiresAt: exact, refreshToken: plain.refreshToken, scope: plain.scope,
            tokenType: plain.tokenType, idToken: plain.idToken)
    }

    func encode(to encoder: any Encoder) throws {
        try credential.encode(to: encoder)
        guard credential.expiresAt != .distantFuture else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(credential.expiresAt.timeIntervalSinceReferenceDate, forKey: .exactExpiry)
    }
}
