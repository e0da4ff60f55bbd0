/// Percent-encoding of URL components (RFC 3986 §2).
package enum PercentEncoding {
    /// `unreserved` (RFC 3986 §2.3).
    package static let unreserved = ByteSet.alphanumeric.union("-._~")

    /// `pchar` and `/`, without the percent sign (RFC 3986 §3.3).
    static let path = unreserved.union("!$&'()*+,;=:@/")

    /// `query` without the ampersand and the percent sign (RFC 3986 §3.4).
    static let queryItem = unreserved.union("!$'()*+,;=:@/?")

    /// Encodes every byte that isn't in `allowed`.
    package static func encode(_ text: String, allowing allowed: ByteSet) -> String {
        guard let first = text.utf8.firstIndex(where: { !allowed.contains($0) }) else { return text }
        var bytes = Array(text.utf8[..<first])
        for byte in text.utf8[first...] {
            if allowed.contains(byte) {
                bytes.append(byte)
            } else {
                append(byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes every byte that isn't in `allowed`, but for the percent signs of encoded octets.
    static func complete(_ given: [UInt8], allowing allowed: ByteSet) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(given.count)
        for (index, byte) in given.enumerated() {
            let isOctet =
                byte == UInt8(ascii: "%") && given[(index + 1)...].prefix(2).compactMap(hexValue).count == 2
            if isOctet || allowed.contains(byte) { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return bytes
    }

    /// Appends `%XX`.
    static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(hexDigits[Int(byte >> 4)])
        bytes.append(hexDigits[Int(byte & 0x0F)])
    }

    /// The value of a hexadecimal digit.
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// `name=value&…` with everything except unreserved characters encoded, so that
    /// all keep their meaning also for readers of forms; an encoded item is taken as it is.
    package static func query(_ items: [QueryItem]) -> String {
        items.map {
            $0.encoded ?? "\(encode($0.name, allowing: unreserved))=\(encode($0.value, allowing: unreserved))"
        }
        .joined(separator: "&")
    }

    /// `application/x-www-form-urlencoded`: a space becomes `+`.
    static func form(_ items: [QueryItem]) -> String {
        items.map { $0.encoded ?? "\(formEncode($0.name))=\(formEncode($0.value))" }.joined(separator: "&")
    }

    /// One name or value of a form.
    package static func formEncode(_ text: String) -> String {
        let encoded = encode(text, allowing: formSafe)
        guard encoded.utf8.contains(0x20) else { return encoded }
        return String(decoding: encoded.utf8.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }

    private static let formSafe = ByteSet.alphanumeric.union("-._* ")

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
