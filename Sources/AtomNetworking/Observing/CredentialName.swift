import Foundation

/// Decides by a name whether a value is a credential.
enum CredentialName {
    /// Whether the name of a header field, a query item or a key says that its
    /// value is a credential.
    static func isOne(_ name: String) -> Bool {
        let words = words(of: name)
        let joined = words.joined()
        guard !harmless.contains(joined) else { return false }
        if fragments.contains(where: { joined.contains($0) }) { return true }
        if words.contains(where: { whole.contains($0) }) { return true }
        if exact.contains(joined) { return true }
        // An API's key, but not the key of a table.
        return words.last == "key" && !words.dropLast().contains { harmlessKeys.contains($0) }
    }

    /// Whether the name of a value, and its form, say that it is a credential.
    ///
    /// `access` and `refresh` are names of tokens, but also of settings.
    static func isOne(_ name: String, value: some Collection<UInt8>) -> Bool {
        if isOne(name) { return true }
        return CredentialValue.mayBeToken(value) && ["access", "refresh"].contains(words(of: name).joined())
    }

    /// Whether a text of unknown grammar mentions a credential by name, or has a
    /// JSON Web Token in it.
    static func isMentioned(in bytes: some Sequence<UInt8>) -> Bool {
        let bytes = Array(bytes)
        let text = bytes.lazy.filter { isLetter($0) }.map { $0 | 0x20 }
        let joined = String(decoding: Array(text), as: UTF8.self)
        // No name is shorter. Many texts are only numbers and dates.
        guard joined.utf8.count > 1 else { return false }
        if fragments.contains(where: { joined.contains($0) }) { return true }
        let words = words(of: bytes)
        if words.contains(where: { whole.contains($0) || ["pass", "key", "userpass"].contains($0) }) { return true }
        // In bytes that aren't text, two letters occur by chance.
        if words.contains("pw"), String(bytes: bytes, encoding: .utf8) != nil { return true }
        return CredentialValue.isJWT(in: bytes)
    }

    private static let fragments = [
        "authorization", "token", "secret", "password", "passwd", "passphrase", "passcode", "signature", "credential",
        "apikey", "accesskey", "privatekey", "cookie", "jwt", "assertion", "bearer", "codeverifier", "csrf", "xsrf",
        "authentication", "dpop", "samlresponse", "devicecode", "usercode", "mfacode", "verificationcode",
        "recoverycode", "otpcode", "authcode", "authorizationcode", "backupcode", "securitycode",
    ]
    private static let whole: Set<String> = [
        "auth", "sig", "sid", "session", "sessionid", "sessid", "jsessionid", "phpsessid", "pwd", "pin", "otp", "hmac",
        "cvv", "cvc",
    ]
    /// These are credentials only if they are the whole name.
    private static let exact: Set<String> = ["pass", "pw", "userpass"]
    private static let harmless: Set<String> = [
        "tokentype", "tokentypehint", "requestedtokentype", "subjecttokentype", "actortokentype", "granttype",
        "maxtokens", "maxoutputtokens", "maxcompletiontokens", "tokenendpoint", "clientassertiontype",
        "accesscontrolallowcredentials", "codechallengemethod",
    ]
    private static let harmlessKeys: Set<String> = [
        "idempotency", "sort", "primary", "partition", "public", "cache", "surrogate", "routing", "foreign", "object",
        "translation", "range",
    ]

    /// `X-Api-Key`, `api_key` and `apiKey` are two or three words each, in lower
    /// case.
    private static func words(of name: String) -> [String] { words(of: Array(name.utf8)) }

    private static func words(of name: [UInt8]) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var last: UInt8 = 0
        for byte in name {
            let startsWord = isCapital(byte) && isLetter(last) && !isCapital(last)
            if startsWord || !(isLetter(byte) || isDigit(byte)) {
                if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
                word = []
            }
            if isLetter(byte) { word.append(byte | 0x20) } else if isDigit(byte) { word.append(byte) }
            last = byte
        }
        if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
        return words
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
