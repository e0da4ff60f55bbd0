import AtomNetworking
import AtomNetworkingExports
import Foundation

/// Says by names and forms what a text may be.
enum SuspiciousText {
    // MARK: Secrets

    /// Why a value may be a secret; `nil` if nothing says so.
    static func secretReason(_ value: String, named name: String) -> String? {
        guard !value.isEmpty, !["true", "false", "null", "0", "1"].contains(value) else { return nil }
        if CredentialName.isOne(name), !isNumber(value) { return "its name says that it is a credential" }
        if CredentialValue.isJWT(in: Array(value.utf8)) { return "it has the form of a JSON Web Token" }
        if value.contains("-----BEGIN ") { return "it has the form of a key or a certificate" }
        if knownPrefixes.contains(where: { value.hasPrefix($0) && value.count > $0.count + 8 }) {
            return "it begins as the keys of a well-known service do"
        }
        let words = value.split(whereSeparator: { $0.isWhitespace || ",;:/?&=\"'<>(){}[]@".contains($0) })
        if words.contains(where: { looksRandom($0) }) {
            return "it looks random, as a token, a key or an identifier does"
        }
        return nil
    }

    /// Header fields that hold no secret, although some look random.
    static func isPlainField(_ name: String) -> Bool { plainFields.contains(name.lowercased()) }

    private static let plainFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "alt-svc",
        "cache-control", "connection", "content-encoding", "content-language", "content-length", "content-range",
        "content-security-policy", "content-type", "date", "etag", "expect", "expires", "host", "if-match",
        "if-modified-since", "if-none-match", "if-unmodified-since", "keep-alive", "last-modified",
        "permissions-policy",
        "range", "referrer-policy", "retry-after", "server", "server-timing", "strict-transport-security",
        "traceparent", "transfer-encoding", "upgrade", "user-agent", "vary", "via", "x-request-id",
    ]

    private static let knownPrefixes = [
        "sk_live_", "sk_test_", "rk_live_", "pk_live_", "whsec_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_",
        "glpat-",
        "xoxb-", "xoxp-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "npm_", "shpat_", "SG.", "eyJ",
    ]

    private static func letters(_ name: String) -> String { name.lowercased().filter { $0.isLetter } }

    private static func isNumber(_ value: String) -> Bool { Double(value) != nil }

    /// A long word of one alphabet in which letters and digits are mixed, and no UUID, date or name.
    private static func looksRandom(_ word: Substring) -> Bool {
        guard word.count >= 20, word.utf8.allSatisfy({ isTokenByte($0) }), UUID(uuidString: String(word)) == nil else {
            return false
        }
        let digits = word.filter { $0.isNumber }.count
        let letters = word.filter { $0.isLetter }.count
        // Words with a number behind them, `2026-11-23T10-00-00` and long numbers are none.
        guard digits >= 2, letters >= 4, changes(word) >= word.count / 5 else { return false }
        return entropy(word) >= 3
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._~+%".utf8.contains(byte)
    }

    /// How often a letter follows a digit, or the other way round, or the case changes.
    private static func changes(_ word: Substring) -> Int {
        let classes = word.map { $0.isNumber ? 0 : $0.isUppercase ? 1 : $0.isLetter ? 2 : 3 }
        return zip(classes, classes.dropFirst()).filter { $0 != $1 }.count
    }

    /// Bits for each character (Shannon).
    private static func entropy(_ word: Substring) -> Double {
        let counts = Dictionary(word.map { ($0, 1.0) }, uniquingKeysWith: +)
        let total = Double(word.count)
        return -counts.values.reduce(0) { $0 + $1 / total * log2($1 / total) }
    }

    // MARK: People

    /// Why a value may be about a person; `nil` if nothing says so.
    static func personalReason(_ value: String, named name: String) -> String? {
        guard !value.isEmpty, !["true", "false", "null"].contains(value) else { return nil }
        if hasAddress(value) { return "it has the form of an e-mail address" }
        if isCardNumber(value) { return "it has the form of a card number" }
        if isPhoneNumber(value) { return "it has the form of a phone number" }
        let plain = letters(name)
        if personalWords.contains(where: { plain.contains($0) }) || personalNames.contains(plain) {
            return "its name says that it is about a person"
        }
        return nil
    }

    private static let personalWords = [
        "firstname", "lastname", "surname", "fullname", "givenname", "familyname", "middlename", "maidenname",
        "nickname", "username", "email", "phone", "mobile", "birth", "passport", "iban", "cardnumber", "streetaddress",
        "postalcode", "zipcode", "socialsecurity", "nationalid", "taxid", "latitude", "longitude", "loyaltynumber",
        "recordlocator", "ipaddress",
    ]
    private static let personalNames: Set<String> = [
        "ssn", "dob", "gender", "sex", "street", "address", "lat", "lon", "lng", "pnr", "tel", "fax", "msisdn",
    ]

    private static func hasAddress(_ value: String) -> Bool {
        value.split(whereSeparator: { $0.isWhitespace || ",;:<>()[]\"'".contains($0) }).contains { word in
            // Without the point of a sentence.
            let word = word.hasSuffix(".") ? word.dropLast() : word
            let parts = word.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return false }
            let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
            return labels.count > 1 && labels.allSatisfy { !$0.isEmpty } && (labels.last?.count ?? 0) > 1
                && labels.last?.allSatisfy(\.isLetter) == true
        }
    }

    /// With a plus sign, as E.164 writes it.
    private static func isPhoneNumber(_ value: String) -> Bool {
        guard value.hasPrefix("+"), value.allSatisfy({ $0.isNumber || "+ ()-./".contains($0) }) else { return false }
        return (8...15).contains(value.filter { $0.isNumber }.count)
    }

    /// 13 to 19 digits with the right check digit (ISO/IEC 7812-1).
    private static func isCardNumber(_ value: String) -> Bool {
        guard value.allSatisfy({ $0.isNumber || $0 == " " || $0 == "-" }) else { return false }
        let digits = value.compactMap(\.wholeNumberValue)
        guard (13...19).contains(digits.count), Set(digits).count > 1 else { return false }
        let sum = digits.reversed().enumerated().reduce(0) { sum, item in
            let (index, digit) = item
            let doubled = index % 2 == 0 ? digit : digit * 2
            return sum + (doubled > 9 ? doubled - 9 : doubled)
        }
        return sum % 10 == 0
    }
}
