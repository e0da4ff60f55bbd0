import Crypto
import Foundation

/// A public key on the curve P-256 as JSON (RFC 7517, RFC 7518 §6.2.1).
struct PublicKey: Codable {
    let kty: String
    let crv: String
    let x: String
    let y: String
    /// A private key's number, which must not be there.
    var d: String?
    var alg: String?
    var kid: String?
    var use: String?

    init(_ key: P256.Signing.PublicKey) {
        let point = key.rawRepresentation
        (kty, crv, x, y) = ("EC", "P-256", Data(point.prefix(32)).base64URL, Data(point.suffix(32)).base64URL)
    }

    /// The key that it describes; `nil` if it is of another kind.
    var key: P256.Signing.PublicKey? {
        guard kty == "EC", crv == "P-256", d == nil, let x = Data(base64URL: x), let y = Data(base64URL: y) else {
            return nil
        }
        return try? P256.Signing.PublicKey(rawRepresentation: x + y)
    }

    /// The hash that stands for it (RFC 7638 §3.2).
    var thumbprint: String {
        let json = #"{"crv":"\#(crv)","kty":"\#(kty)","x":"\#(x)","y":"\#(y)"}"#
        return Data(SHA256.hash(data: Data(json.utf8))).base64URL
    }
}
