import AtomNetworking

extension CredentialName {
    /// Whether the name of a value, and its form, say that it is a credential.
    ///
    /// `access` and `refresh` are names of tokens, but also of settings.
    static func isOne(_ name: String, value: some Collection<UInt8>) -> Bool {
        if isOne(name) { return true }
        return CredentialValue.mayBeToken(value) && ["access", "refresh"].contains(words(of: name.utf8).joined())
    }

    /// Whether a name is `code`, also as a list: `code[]`.
    static func isCode(_ name: String) -> Bool { name.utf8.filter(\.isLetter).map { $0 | 0x20 } == Array("code".utf8) }

    /// Whether a `code` beside a value of this name is an authorization code (RFC 6749 §4.1.3), as no other code is.
    static func isBesideCode(_ name: String) -> Bool {
        // The longest one has 13 letters.
        name.utf8.count < 20 && besideCode.contains(words(of: name.utf8).joined())
    }

    /// Whether a text of unknown grammar mentions a credential by name, or has a JSON Web Token in it.
    static func isMentioned(in text: some Collection<UInt8>) -> Bool {
        // UTF-16 has one beside each letter.
        let bytes = text.filter { $0 != 0 }
        let letters = bytes.filter(\.isLetter).map { $0 | 0x20 }
        // No name is shorter. Many texts are only numbers and dates.
        guard letters.count > 1 else { return false }
        if hasFragment(letters) { return true }
        let words = words(of: bytes)
        if words.contains(where: { $0 == "key" || whole.contains($0) || isPassword([$0]) }) { return true }
        // In bytes that aren't text, two letters occur by chance.
        if words.contains("pw"), String(bytes: bytes, encoding: .utf8) != nil { return true }
        let hasCode = words.contains("code") && besideCode.contains { CredentialSearch.contains(letters, $0) }
        return hasCode || CredentialValue.isJWT(in: Array(bytes))
    }

    private static let besideCode: Set<String> = ["granttype", "redirecturi", "clientid", "codeverifier"]
}
