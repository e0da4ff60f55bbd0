import AtomNetworking
import Foundation

/// A public key on the curve P-256 (RFC 7518 §6.2.1).
struct JSONWebKey: Sendable {
    /// The members that a thumbprint needs, in its order, and no others (RFC 7638 §3.2).
    let json: String

    /// - Throws: `AtomError.requestable` if it isn't a point without compression.
    init(point: Data) throws(AtomError) {
        let bytes = Array(point)
        guard bytes.count == 65, bytes[0] == 4 else {
            throw Self.refusal("a public key has 65 bytes and begins with 0x04 (SEC 1 §2.3.3), as x963Representation")
        }
        let (x, y) = (Base64URL.encode(bytes[1..<33]), Base64URL.encode(bytes[33...]))
        json = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    }

    /// RFC 7638 §3, with SHA-256.
    var thumbprint: String { Base64URL.encode(SHA256.digest(Array(json.utf8))) }

    static func refusal(_ reason: String) -> AtomError {
        .requestable(.unsupportedConfiguration(.init(subject: "DPoP key", reason: reason)))
    }
}
