import Crypto
import Foundation

/// Says in ID tokens who has signed in (OpenID Connect Core §2), signed with a key of its own.
struct IDTokenIssuer {
    private let key = P256.Signing.PrivateKey()

    /// The key for those who check the signature.
    var publicKey: PublicKey {
        var key = PublicKey(key.publicKey)
        (key.alg, key.kid, key.use) = ("ES256", key.thumbprint, "sig")
        return key
    }

    private struct Header: Encodable {
        let alg = "ES256"
        let typ = "JWT"
        let kid: String
    }

    struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let iat: Int
        let exp: Int
        let nonce: String?
        let name: String
    }

    /// The token with these claims; `nil` if they can't be written or signed.
    func token(_ claims: Claims) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let header = try? encoder.encode(Header(kid: PublicKey(key.publicKey).thumbprint)),
            let body = try? encoder.encode(claims)
        else { return nil }
        let message = "\(header.base64URL).\(body.base64URL)"
        return (try? key.signature(for: Data(message.utf8))).map { "\(message).\($0.rawRepresentation.base64URL)" }
    }
}
