import AtomNetworking
import Foundation

/// Binds tokens to a key, so that a stolen token is of no use (RFC 9449).
///
/// Create one object for a key, and share it between services: it keeps the nonces that servers have sent, in memory.
/// <doc:SigningIn#Bind-tokens-to-a-key> says more.
public final class DPoP: TokenProof {
    /// The thumbprint of the key (RFC 7638).
    public let keyThumbprint: String

    private let key: any DPoPKey
    private let jwk: JSONWebKey
    private let identifier: @Sendable () -> String
    private let nonces = Guarded(ServerNonces())

    /// Creates proofs with a key, whose public part is read now.
    ///
    /// - Throws: `AtomError.requestable` if the public key isn't a point of 65 bytes.
    public convenience init(key: any DPoPKey) throws(AtomError) {
        try self.init(key: key, identifier: DPoPProof.randomIdentifier)
    }

    init(key: any DPoPKey, identifier: @escaping @Sendable () -> String) throws(AtomError) {
        jwk = try JSONWebKey(point: key.publicKey)
        keyThumbprint = jwk.thumbprint
        self.key = key
        self.identifier = identifier
    }

    /// Sets the field `DPoP` to a new proof (RFC 9449 §4.2).
    ///
    /// - Throws: What the key throws, or `AtomError.requestable` if its signature hasn't 64 bytes.
    public func sign(_ request: inout SignableRequest) throws {
        let nonce = nonces.withLock { $0[request.target] }
        let message = try DPoPProof(of: request, identifier: identifier(), nonce: nonce).message(jwk)
        let signature = try key.signature(for: Data(message.utf8))
        guard signature.count == 64 else {
            throw JSONWebKey.refusal("an ES256 signature has 64 bytes (RFC 7518 §3.4), and not \(signature.count)")
        }
        try request.setHeader("DPoP", to: message + "." + Base64URL.encode(signature))
    }

    /// Keeps the nonce of a response for later proofs (RFC 9449 §8.2), and returns whether the server wants one now.
    public func received(_ response: AtomResponse) -> Bool {
        let sent = response.headerFields.values(for: "DPoP-Nonce")
        // A response has no more than one (RFC 9449 §8). It is that of the origin: only who issued it accepts it (§9).
        guard sent.count == 1, let url = response.url,
            nonces.withLock({ $0.keep(sent[0], of: url) })
        else { return false }
        return switch response.statusCode {
        case 400: (try? JSONDecoder().decode(Refusal.self, from: response.data))?.error == Self.nonceIsMissing
        case 401: response.challenges.contains { $0.scheme == "dpop" && $0["error"] == Self.nonceIsMissing }
        default: false
        }
    }

    /// The error for a nonce that is missing, and for one that is no longer valid (RFC 9449 §8).
    private static let nonceIsMissing = "use_dpop_nonce"

    /// An error of a token endpoint (RFC 6749 §5.2).
    private struct Refusal: Decodable {
        let error: String
    }
}

extension DPoP: Redacted {}
