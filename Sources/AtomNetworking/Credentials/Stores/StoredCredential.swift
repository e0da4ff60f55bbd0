import Foundation

/// The contents of the SDK's stores, and their format.
///
/// ```json
/// {"credential":{"access_token":"…","expires_from_2001":"811692800.0","refresh_token":"…"},"version":1}
/// ```
///
/// The version increases when an older reader could misunderstand the data;
/// optional members are added without a new version.
struct StoredCredential: Equatable, Sendable {
    static let version = 1

    /// Larger data isn't a credential, and isn't read into memory.
    static let sizeLimit = 1 << 20

    var credential: TokenCredential?

    /// The refresh that was started and whose result is unknown: one write replaces it and the token.
    var intent: RefreshIntent?

    /// The origin of the authorization server that the credential came from; `nil` if nobody has said so.
    var server: String?
}

extension StoredCredential {
    init(_ data: Data) throws(TokenStoreError) {
        guard data.count <= Self.sizeLimit else { throw .corrupt("it is too large", keptAt: nil) }
        guard !data.isEmpty else { throw .corrupt("it is empty", keptAt: nil) }
        let decoder = JSONDecoder()
        // Only the version has the same meaning in every version.
        guard let header = try? decoder.decode(Header.self, from: data), header.version > 0 else {
            throw .corrupt("it is not a JSON object with a version", keptAt: nil)
        }
        guard header.version <= Self.version else { throw .newerFormat(version: header.version) }
        guard let document = try? decoder.decode(Document.self, from: data),
            document.credential == nil || document.credential?.credential != nil,
            // It is shown in an error.
            document.server.map({ (try? BaseURL(string: $0)) != nil }) ?? true
        else { throw .corrupt("its members are not those of a credential", keptAt: nil) }
        credential = document.credential?.credential
        intent = document.intent
        server = document.server
    }

    func encoded() throws(TokenStoreError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let document = Document(
            version: Self.version, credential: credential.map(Members.init), intent: intent, server: server)
        guard let data = try? encoder.encode(document), data.count <= Self.sizeLimit else {
            throw .refused("the credential is larger than \(Self.sizeLimit) bytes")
        }
        return data
    }
}

private struct Header: Decodable {
    let version: Int
}

private struct Document: Codable {
    enum CodingKeys: String, CodingKey {
        case version
        case credential
        case intent = "refresh_begun"
        case server = "authorization_server"
    }

    let version: Int
    let credential: Members?
    let intent: RefreshIntent?
    let server: String?
}

extension Document {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        credential = try container.decodeIfPresent(Members.self, forKey: .credential)
        // An unreadable note is ignored: the credential is more important.
        intent = try? container.decodeIfPresent(RefreshIntent.self, forKey: .intent)
        server = try container.decodeIfPresent(String.self, forKey: .server)
    }
}

/// The members of a credential.
///
/// Stored and new data are compared. So the expiry is a text, which reads back as
/// the same number: seconds since 1970 lose the last bit of a `Date`.
private struct Members: Codable {
    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case expiry = "expires_from_2001"
        case refreshToken = "refresh_token"
        case scope
        case tokenType = "token_type"
        case idToken = "id_token"
        case keyThumbprint = "jkt"
    }

    let accessToken: String
    let expiry: String?
    let refreshToken: String?
    let scope: String?
    let tokenType: String?
    let idToken: String?
    let keyThumbprint: String?
}

extension Members {
    init(_ credential: TokenCredential) {
        let date = credential.expiresAt
        self.init(
            accessToken: credential.accessToken,
            expiry: date == .distantFuture ? nil : "\(date.timeIntervalSinceReferenceDate)",
            refreshToken: credential.refreshToken, scope: credential.scope, tokenType: credential.tokenType,
            idToken: credential.idToken, keyThumbprint: credential.keyThumbprint)
    }

    /// `nil` if the expiry isn't a number.
    var credential: TokenCredential? {
        let date = expiry.map { Double($0).map { Date(timeIntervalSinceReferenceDate: $0) } } ?? .distantFuture
        return date.map {
            TokenCredential(
                accessToken: accessToken, expiresAt: $0, refreshToken: refreshToken ?? "", scope: scope,
                tokenType: tokenType, idToken: idToken, keyThumbprint: keyThumbprint)
        }
    }
}

/// A note that a refresh token is about to be sent.
///
/// It needs no protection: the token itself is stored next to it.
struct RefreshIntent: Codable, Hashable, Sendable {
    let salt: String
    let fingerprint: String

    /// Makes a note for the refresh token; each is different.
    init(refreshToken: String, salt: UInt64 = .random(in: .min ... .max)) {
        self.salt = String(salt, radix: 16)
        fingerprint = Self.fingerprint(of: refreshToken, salt: self.salt)
    }

    func concerns(_ refreshToken: String) -> Bool {
        fingerprint == Self.fingerprint(of: refreshToken, salt: salt)
    }

    /// FNV-1a with 64 bits, of the salt, a byte that is in neither, and the token.
    private static func fingerprint(of refreshToken: String, salt: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in salt.utf8 { add(byte) }
        add(0xff)
        for byte in refreshToken.utf8 { add(byte) }
        return String(hash, radix: 16)
    }
}
