import Foundation

/// What a store of the SDK's keeps, and how it is written down.
///
/// ```json
/// {"credential":{"access_token":"…","expires_from_2001":"811692800.0","refresh_token":"…"},"version":1}
/// ```
///
/// A version is raised when an older reader could misunderstand what is
/// written; members that it may overlook are added without.
struct StoredCredential: Equatable, Sendable {
    /// The version of the format that is written here.
    static let version = 1

    /// More than this is no credential, and isn't read into memory.
    static let sizeLimit = 1 << 20

    var credential: TokenCredential?

    /// The refresh that was begun and hasn't been heard of since.
    ///
    /// It lies beside the credential, so that one write replaces both: a note
    /// never outlives the token that it is about.
    var intent: RefreshIntent?

    init(credential: TokenCredential?, intent: RefreshIntent? = nil) {
        self.credential = credential
        self.intent = intent
    }

    /// Reads what was written down.
    init(_ data: Data) throws(TokenStoreError) {
        guard data.count <= Self.sizeLimit else { throw .corrupt("it is too large", keptAt: nil) }
        guard !data.isEmpty else { throw .corrupt("it is empty", keptAt: nil) }
        let decoder = JSONDecoder()
        // Only the version is known to mean the same in every version.
        guard let header = try? decoder.decode(Header.self, from: data), header.version > 0 else {
            throw .corrupt("it is not a JSON object with a version", keptAt: nil)
        }
        guard header.version <= Self.version else { throw .newerFormat(version: header.version) }
        guard let document = try? decoder.decode(Document.self, from: data) else {
            throw .corrupt("its members are not those of a credential", keptAt: nil)
        }
        credential = document.credential?.credential
        intent = document.intent
    }

    /// What is to be written down.
    func encoded() throws(TokenStoreError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let document = Document(version: Self.version, credential: credential.map(Members.init), intent: intent)
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
    }

    let version: Int
    let credential: Members?
    let intent: RefreshIntent?

    init(version: Int, credential: Members?, intent: RefreshIntent?) {
        self.version = version
        self.credential = credential
        self.intent = intent
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        credential = try container.decodeIfPresent(Members.self, forKey: .credential)
        // A note that can't be read is none: the credential is worth more.
        intent = try? container.decodeIfPresent(RefreshIntent.self, forKey: .intent)
    }
}

/// A credential, with an expiry that reads back to the last bit.
///
/// What is stored is compared with what is to be stored, and seconds since
/// 1970 don't keep the last bit of a `Date`.
private struct Members: Codable {
    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case expiry = "expires_from_2001"
        case refreshToken = "refresh_token"
        case scope
        case tokenType = "token_type"
        case idToken = "id_token"
    }

    let credential: TokenCredential

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let expiry = try container.decodeIfPresent(String.self, forKey: .expiry).map { text in
            guard let seconds = Double(text) else {
                throw DecodingError.dataCorruptedError(forKey: .expiry, in: container, debugDescription: "No number.")
            }
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        credential = TokenCredential(
            accessToken: try container.decode(String.self, forKey: .accessToken),
            expiresAt: expiry ?? .distantFuture,
            refreshToken: try container.decodeIfPresent(String.self, forKey: .refreshToken) ?? "",
            scope: try container.decodeIfPresent(String.self, forKey: .scope),
            tokenType: try container.decodeIfPresent(String.self, forKey: .tokenType),
            idToken: try container.decodeIfPresent(String.self, forKey: .idToken))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(credential.accessToken, forKey: .accessToken)
        if credential.expiresAt != .distantFuture {
            // Text: the shortest that reads back as the same number, also for one that JSON has no number for.
            try container.encode("\(credential.expiresAt.timeIntervalSinceReferenceDate)", forKey: .expiry)
        }
        try container.encode(credential.refreshToken, forKey: .refreshToken)
        try container.encodeIfPresent(credential.scope, forKey: .scope)
        try container.encodeIfPresent(credential.tokenType, forKey: .tokenType)
        try container.encodeIfPresent(credential.idToken, forKey: .idToken)
    }
}

/// A note that a refresh token is about to be spent.
///
/// It tells one token from another, and doesn't hide the token from somebody
/// who guesses: while the note exists, the token lies next to it.
struct RefreshIntent: Codable, Hashable, Sendable {
    let salt: String
    let fingerprint: String

    /// Notes the refresh token, with a salt that makes every note different.
    init(refreshToken: String, salt: UInt64 = .random(in: .min ... .max)) {
        self.salt = String(salt, radix: 16)
        fingerprint = Self.fingerprint(of: refreshToken, salt: self.salt)
    }

    /// Whether the note is about this refresh token.
    func concerns(_ refreshToken: String) -> Bool {
        fingerprint == Self.fingerprint(of: refreshToken, salt: salt)
    }

    /// FNV-1a with 64 bits, of the salt, a byte that is in neither, and the
    /// token.
    private static func fingerprint(of refreshToken: String, salt: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in salt.utf8 { add(byte) }
        add(0xff)
        for byte in refreshToken.utf8 { add(byte) }
        return String(hash, radix: 16)
    }
}
