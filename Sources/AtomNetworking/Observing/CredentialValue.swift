import Foundation

/// Decides by its form whether a value is a credential.
enum CredentialValue {
    /// Whether a value can be a token at all: a word such as `true` can't.
    static func mayBeToken(_ value: some Collection<UInt8>) -> Bool {
        value.count >= 16 && !value.contains { $0 <= 0x20 }
    }

    /// Whether a JSON Web Token is in a text (RFC 7519): parts in base64url with
    /// dots between them, of which the first is JSON that begins with `{"`.
    static func isJWT(in text: some Collection<UInt8>) -> Bool {
        let text = Array(text)
        guard CredentialSearch.contains(text, "eyJ") else { return false }
        return text.split(whereSeparator: { !isBase64URL($0) && $0 != dot }).contains { word in
            let parts = word.split(separator: dot, omittingEmptySubsequences: false)
            // The second part of an encrypted token may be empty.
            return parts.indices.dropLast(2).contains { index in
                parts[index].starts(with: "eyJ".utf8) && !parts[index + 2].isEmpty
            }
        }
    }

    private static let dot = UInt8(ascii: ".")

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "=")
    }
}
