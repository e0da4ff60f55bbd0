import AtomNetworking
import Foundation

/// Decides by its form whether a value is a credential.
package enum CredentialValue {
    /// Whether a value can be a token at all: a word such as `true` can't.
    static func mayBeToken(_ value: some Collection<UInt8>) -> Bool {
        value.count >= 16 && !value.contains { $0 <= 0x20 }
    }

    /// Whether a JSON Web Token is in a text (RFC 7519): parts in base64url with
    /// dots between them, of which the first is a JSON object.
    package static func isJWT(in text: [UInt8]) -> Bool {
        guard text.contains(dot) else { return false }
        return text.split(whereSeparator: { !base64URL.contains($0) }).contains { word in
            let parts = word.split(separator: dot, omittingEmptySubsequences: false)
            return parts.indices.dropLast().contains { index in
                guard isObject(parts[index]) else { return false }
                // The second part of an encrypted token may be empty, the last one of a token without a signature.
                return index + 2 < parts.count && !parts[index + 2].isEmpty || isObject(parts[index + 1])
            }
        }
    }

    /// Whether a part is an object in base64url, maybe behind a prefix.
    private static func isObject(_ part: ArraySlice<UInt8>) -> Bool {
        if beginnings.contains(where: { part.starts(with: $0) }) { return true }
        // A word has these letters in it too, but seldom so far from its end.
        return CredentialSearch.firstIndex(of: "eyJ", in: part.dropLast(7)) != nil
    }

    /// `{"`, also with white space between them.
    private static let beginnings = ["eyJ", "eyAi", "ewog", "ewoi", "ewoJ", "ew0K"].map { Array($0.utf8) }
    private static let dot = UInt8(ascii: ".")
    private static let base64URL = ByteSet.alphanumeric.union("-_=.")

    /// Whether a text has the scheme of an `Authorization` field with a credential behind it (RFC 9110 §11.4).
    static func isAuthorization(_ text: [UInt8]) -> Bool {
        let words = text.split { $0 <= 0x20 }
        return zip(words, words.dropFirst()).enumerated().contains { index, pair in
            guard pair.0.count < 20, let scheme = scheme(pair.0), !isParameter(pair.1) else { return false }
            let isCommon = ["basic", "bearer"].contains(scheme)
            // Many servers don't keep to the grammar.
            if isCommon, pair.1.count >= 16, pair.1.allSatisfy({ (0x21...0x7E).contains($0) }) { return true }
            guard pair.1.allSatisfy(token68.contains) else { return false }
            if pair.1.count >= 16 { return true }
            // In a sentence, such as “Basic plans are free”, words are short.
            let isWhole = index == 0 && (words.count == 2 || pair.1.last.map { ",;".utf8.contains($0) } ?? false)
            let (letters, digits) = (pair.1.filter { $0 > 0x40 }, pair.1.count { (0x30...0x39).contains($0) })
            let capitals = letters.dropFirst().count { $0 < 0x5B }
            let isMixed = digits > 0 && !letters.isEmpty || capitals > 0 && capitals < letters.count - 1
            return isCommon ? isWhole || isMixed : isWhole && isMixed && pair.1.count >= 8
        }
    }

    /// The scheme that a word is; `nil` if it is none.
    static func scheme(_ word: some Sequence<UInt8>) -> String? {
        let letters = word.filter { !"\"':,".utf8.contains($0) }
        let name = String(decoding: letters, as: UTF8.self).lowercased()
        return schemes.contains(name) ? name : nil
    }

    /// Whether a word has `=` in it, and not only at its end: `realm=""`.
    private static func isParameter(_ word: ArraySlice<UInt8>) -> Bool {
        CredentialSearch.firstIndex(of: "=\"", in: word) != nil
            || word.drop { $0 != UInt8(ascii: "=") }.contains { ByteSet.alphanumeric.contains($0) }
    }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "hmac", "negotiate", "token", "oauth", "apikey", "aws4-hmac-sha256",
    ]
    private static let token68 = ByteSet.alphanumeric.union("-._~+/=,;\"'")
}
