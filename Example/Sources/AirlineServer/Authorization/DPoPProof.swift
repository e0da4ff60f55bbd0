import Crypto
import Foundation

/// A proof that whoever sends a request has a key (RFC 9449 §4.2), with a signature that is right.
struct DPoPProof {
    private struct Header: Decodable {
        let typ: String
        let alg: String
        let jwk: PublicKey
    }

    private struct Claims: Decodable {
        let jti: String
        let htm: String
        let htu: String
        let iat: Double
        let nonce: String?
        let ath: String?
    }

    /// Stands for the key (RFC 7638).
    let keyThumbprint: String
    /// What no other proof has.
    var id: String { claims.jti }
    var nonce: String? { claims.nonce }
    private let claims: Claims

    /// Reads a proof, and checks its signature (RFC 9449 §4.3, 2 to 7).
    init(_ text: String) throws(OAuthRefusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let decoder = JSONDecoder()
        guard parts.count == 3, let head = Data(base64URL: parts[0]), let body = Data(base64URL: parts[1]),
            let header = try? decoder.decode(Header.self, from: head), header.typ == "dpop+jwt",
            header.alg == "ES256", let key = header.jwk.key,
            let claims = try? decoder.decode(Claims.self, from: body)
        else { throw OAuthRefusal("invalid_dpop_proof", "The proof isn't one.") }
        guard let signature = Data(base64URL: parts[2]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        else { throw OAuthRefusal("invalid_dpop_proof", "The signature of the proof is wrong.") }
        keyThumbprint = PublicKey(key).thumbprint
        self.claims = claims
    }

    /// Checks whether it is for a request (RFC 9449 §4.3, 8, 9, 11 and 12).
    ///
    /// - Parameter now: Unix seconds.
    func check(method: String, url: String, accessToken: String?, now: TimeInterval) throws(OAuthRefusal) {
        let target = claims.htu.prefix { $0 != "?" && $0 != "#" }
        guard claims.htm == method, target == url else {
            throw OAuthRefusal("invalid_dpop_proof", "The proof is for another request.")
        }
        guard abs(now - claims.iat) < ProofLedger.window else {
            throw OAuthRefusal("invalid_dpop_proof", "The proof is too old, or a clock is wrong.")
        }
        let hash = accessToken.map { Data(SHA256.hash(data: Data($0.utf8))).base64URL }
        guard hash == nil || claims.ath == hash else {
            throw OAuthRefusal("invalid_dpop_proof", "The proof is for another token.")
        }
    }
}

/// The nonces that proofs must have, and the proofs that have come (RFC 9449 §8, §11.1).
struct ProofLedger {
    /// How old a proof may be, and how long a nonce is the newest.
    static let window = 300.0

    private var nonces: [String] = []
    private var changedAt = -TimeInterval.infinity
    private var seen: [String: TimeInterval] = [:]

    /// Takes a proof once, if it has the newest nonce or the one before.
    mutating func take(_ proof: DPoPProof, now: TimeInterval) throws(OAuthRefusal) {
        if now - changedAt >= Self.window {
            nonces = [UUID().uuidString] + nonces.prefix(1)
            changedAt = now
        }
        guard let nonce = proof.nonce, nonces.contains(nonce) else {
            throw OAuthRefusal("use_dpop_nonce", "The proof needs the nonce of this response.", nonce: nonces.first)
        }
        seen = seen.filter { now - $0.value < 2 * Self.window }
        guard seen.updateValue(now, forKey: "\(proof.keyThumbprint) \(proof.id)") == nil else {
            throw OAuthRefusal("invalid_dpop_proof", "The proof was used before.")
        }
    }
}
