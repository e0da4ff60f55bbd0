import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A range of bytes in a buffer, for example a line; valid until that buffer changes.
///
/// It isn't an `UnsafeBufferPointer`, whose generic methods take most of the time of a request in a debug build.
struct Bytes {
    let base: UnsafePointer<UInt8>
    let count: Int

    var isEmpty: Bool { count == 0 }

    var text: String { String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) }

    /// The beginning, in printable form.
    var quoted: String { self[0, min(count, 80)].text.debugDescription }

    subscript(from: Int, to: Int) -> Bytes { Bytes(base: base + from, count: to - from) }

    func index(of byte: UInt8, from: Int = 0) -> Int? {
        guard from < count, let found = memchr(base + from, Int32(byte), count - from) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// Without surrounding whitespace (RFC 9110 §5.5).
    var trimmed: Bytes {
        var from = 0
        var to = count
        while from < to, base[from] == 0x20 || base[from] == 0x09 { from += 1 }
        while from < to, base[to - 1] == 0x20 || base[to - 1] == 0x09 { to -= 1 }
        return self[from, to]
    }
}

extension Bytes {
    /// Whether it is a token, like methods and field names (RFC 9110 §5.6.2).
    var isToken: Bool {
        let tokens = Self.tokens
        var index = 0
        while index < count {
            let byte = base[index]
            if byte >= 128 || (byte < 64 ? tokens.low : tokens.high) & (1 << UInt64(byte & 63)) == 0 {
                return false
            }
            index += 1
        }
        return count > 0
    }

    private static let tokens: (low: UInt64, high: UInt64) = {
        var flags: (low: UInt64, high: UInt64) = (0, 0)
        let text = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        for byte in text.utf8 {
            if byte < 64 { flags.low |= 1 << UInt64(byte) } else { flags.high |= 1 << UInt64(byte - 64) }
        }
        return flags
    }()

    /// Whether it is printable ASCII without spaces and fragments; other characters must be percent-encoded.
    var isTarget: Bool {
        var index = 0
        while index < count {
            let byte = base[index]
            if byte <= 0x20 || byte >= 0x7F || byte == 0x23 { return false }
            index += 1
        }
        return count > 0
    }

    /// Whether it contains a control character that isn't allowed in a head, except the given ones.
    func hasControl(exceptTab: Bool = true, exceptReturn: Bool = false) -> Bool {
        var index = 0
        while index < count {
            let byte = base[index]
            if byte < 0x20 || byte == 0x7F, !(exceptTab && byte == 0x09), !(exceptReturn && byte == 0x0D) {
                return true
            }
            index += 1
        }
        return false
    }
}
