package enum CredentialName {
    /// Whether a field, a query item or a key of this name holds a credential.
    package static func isOne(_ name: String) -> Bool {
        let words = words(of: name.utf8)
        let joined = words.joined()
        guard !harmless.contains(joined) else { return false }
        if hasFragment(joined.utf8) || words.contains(where: { $0 == "pw" || whole.contains($0) }) { return true }
        if isPassword(words) { return true }
        // An API's key, but not the key of a table.
        return words.last == "key" && !words.dropLast().contains { harmlessKeys.contains($0) }
    }

    /// `pass`, `db_pass`, `newPass`, `new_pass_confirm`, `dbpass2` and `userpwd`, but not `boarding_pass` or `bypass`.
    package static func isPassword(_ words: [String]) -> Bool {
        let words = words.dropLast(words.reversed().prefix { $0.utf8.allSatisfy(\.isDigit) }.count)
        guard let last = words.last else { return false }
        let others = words.filter { !passwordForms.contains($0) }
        if others == ["pass"], words.count > 1, passwordForms.contains(last) { return true }
        let name = last.utf8.reversed().drop(while: \.isDigit)
        if name.starts(with: "dwp".utf8) { return true }
        guard name.starts(with: "ssap".utf8) else { return false }
        let prefix = String(decoding: Array(name.dropFirst(4).reversed()), as: UTF8.self)
        return !harmlessPasses.contains(prefix.isEmpty ? words.dropLast().last ?? "" : prefix)
    }

    package static func hasFragment(_ letters: some Collection<UInt8>) -> Bool {
        let letters = Array(letters)
        return letters.indices.contains { index in
            let place = Int(letters[index]) - 0x61
            return fragments.indices.contains(place)
                && fragments[place].contains { letters[index...].starts(with: $0) }
        }
    }

    /// By their first letters: one pass finds all of them.
    private static let fragments: [[[UInt8]]] = (UInt8(0x61)...0x7A).map { first in
        fragmentTexts.map { Array($0.utf8) }.filter { $0.first == first }
    }
    private static let fragmentTexts = [
        "authorization", "token", "secret", "password", "passwd", "passphrase", "passcode", "signature", "credential",
        "apikey", "accesskey", "privatekey", "cookie", "jwt", "assertion", "bearer", "codeverifier", "csrf", "xsrf",
        "authentication", "dpop", "samlresponse", "devicecode", "usercode", "mfacode", "verificationcode",
        "recoverycode", "otpcode", "pincode", "authcode", "authorizationcode", "backupcode", "securitycode",
        "oauthverifier", "smscode", "onetimecode",
    ]
    package static let whole: Set<String> = [
        "auth", "sig", "sid", "session", "sessionid", "sessid", "jsessionid", "phpsessid", "pwd", "pin", "otp", "hmac",
        "cvv", "cvv2", "cvc", "cvc2", "totp", "authkey", "masterkey", "signingkey", "encryptionkey", "sessionkey",
        "sharedkey",
        "licensekey", "streamkey",
    ]
    private static let passwordForms: Set<String> = [
        "new", "old", "confirm", "confirmation", "repeat", "again", "hash",
    ]
    /// What is before `pass` in words for tickets, filters and the like.
    private static let harmlessPasses: Set<String> = [
        "boarding", "season", "day", "travel", "lounge", "ski", "bus", "train", "rail", "transit", "guest", "visitor",
        "event", "parking", "hall", "mobile", "wallet", "first", "second", "single", "high", "low", "band", "render",
        "is", "did", "free", "by", "com", "encom", "tres", "sur", "over", "under",
    ]
    private static let harmless: Set<String> = [
        "tokentype", "tokentypehint", "requestedtokentype", "subjecttokentype", "actortokentype", "granttype",
        "maxtokens", "maxoutputtokens", "maxcompletiontokens", "tokenendpoint", "clientassertiontype",
        "accesscontrolallowcredentials", "codechallengemethod",
    ]
    private static let harmlessKeys: Set<String> = [
        "idempotency", "sort", "primary", "partition", "public", "cache", "surrogate", "foreign", "object",
        "translation", "range",
    ]

    /// `X-Api-Key` and `apiKey` are three words and two, in lower case.
    package static func words(of name: some Sequence<UInt8>) -> [String] {
        var words: [[UInt8]] = [[]]
        var last: UInt8 = 0
        for byte in name {
            let isPartOfWord = byte.isLetter || byte.isDigit
            if !isPartOfWord || byte.isCapital && last.isLetter && !last.isCapital { words.append([]) }
            // A digit has this bit already.
            if isPartOfWord { words[words.count - 1].append(byte | 0x20) }
            last = byte
        }
        return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}
