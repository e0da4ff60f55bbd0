import Foundation

/// A member of a gzip file (RFC 1952) whose content isn't compressed (RFC 1951 §3.2.4).
enum Gzip {
    static func data(_ content: Data) -> Data {
        precondition(content.count < 1 << 16, "a stored block holds no more")
        var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1])
        let length = UInt16(content.count)
        for value in [length, ~length] { data += [UInt8(value & 0xFF), UInt8(value >> 8)] }
        data += content
        for value in [checksum(content), UInt32(content.count)] {
            data += (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) }
        }
        return data
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private static func checksum(_ content: Data) -> UInt32 {
        ~content.reduce(~UInt32(0)) { $0 >> 8 ^ table[Int(UInt8($0 & 0xFF) ^ $1)] }
    }
}
