/// The checksum of zip, gzip and PNG (ISO 3309), for comparing bytes.
///
/// It finds transmission errors; it doesn't protect against an attacker.
///
/// ```swift
/// var checksum = CRC32()
/// checksum.update(with: data)
/// print(checksum.description)  // cbf43926
/// ```
public struct CRC32: Sendable, Hashable {
    private var register: UInt32 = 0xFFFF_FFFF

    /// The checksum of nothing.
    public init() {}

    /// Adds bytes.
    public mutating func update(with bytes: some Sequence<UInt8>) {
        var register = register
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes { register = table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8) }
        }
        self.register = register
    }

    /// The checksum of the bytes so far.
    public var value: UInt32 { ~register }

    /// The register's change for each byte, from the reversed polynomial.
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }
}

extension CRC32: CustomStringConvertible {
    /// Eight hexadecimal digits, as `crc32` prints them.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
