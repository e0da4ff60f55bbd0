import AtomNetworking
import Foundation

/// The parts of a JSON Web Token (RFC 7519 §3), whose signature nobody verifies.
enum JSONWebToken {
    /// A token with these claims, and with a signature that is none.
    static func text(_ claims: some Encodable) -> String {
        let claims = (try? JSONEncoder().encode(claims)) ?? Data()
        return [Data(#"{"alg":"ES256","typ":"JWT"}"#.utf8), claims, Data(count: 64)].map(encoded)
            .joined(separator: ".")
    }

    /// Header and claims of a token, if it can have been signed with ES256: its signature has 64 bytes (RFC 7518 §3.4).
    static func parts<Header: Decodable, Claims: Decodable>(
        _ text: String, _: Header.Type, _: Claims.Type
    ) -> (header: Header, claims: Claims)? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).compactMap(decoded)
        guard parts.count == 3, parts[2].count == 64,
            let header = try? JSONDecoder().decode(Header.self, from: parts[0]),
            let claims = try? JSONDecoder().decode(Claims.self, from: parts[1])
        else { return nil }
        return (header, claims)
    }

    /// The digest of a text, as it is in code challenges, thumbprints and proofs (RFC 7636 §4.2).
    static func digest(_ text: String) -> String { encoded(Data(SHA256.digest(Array(text.utf8)))) }

    /// Base64 for URLs, without padding (RFC 7515 §2).
    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static func decoded(_ text: Substring) -> Data? {
        guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4))
    }
}
