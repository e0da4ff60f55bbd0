/// The base64 of URLs, without padding (RFC 4648 §5, RFC 7515 §2).
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 0x3F)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; `nil` for padding, another alphabet, or a text that no bytes are encoded as.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for sign in text.utf8 {
            guard let value = value(of: sign) else { return nil }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // The bits that are left over are zero (RFC 4648 §3.5).
        return count < 6 && bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func value(of sign: UInt8) -> UInt8? {
        switch sign {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): sign - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): sign - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): sign - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
