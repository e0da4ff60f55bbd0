/// A gzip file (RFC 1952) of many zeros, in three parts; the middle one is zeros itself.
///
/// One block of dynamic Huffman codes (RFC 1951 §3.2.7) has a literal zero and then only matches of 258 bytes at
/// distance 1. Each match is two bits, both zero, so that a byte of the file stands for 1,032 bytes.
struct ZeroBomb {
    let beginning: [UInt8]
    /// The number of zeros in the file.
    let zeros: Int64
    let end: [UInt8]
    /// What is in the file, decompressed.
    let length: Int64

    var compressedLength: Int64 { Int64(beginning.count + end.count) + zeros }

    init(length wanted: Int64) {
        var bits = BitWriter(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        bits.write(1, 1)  // the last block
        bits.write(2, 2)  // dynamic codes
        bits.write(29, 5)  // 286 literal and length codes
        bits.write(0, 5)  // one distance code
        bits.write(14, 4)  // 18 lengths of codes, in this order
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            bits.write(symbol == 18 ? 1 : symbol <= 2 && symbol > 0 ? 2 : 0, 3)
        }
        // The code of 18 is 0, of 1 is 10, of 2 is 11; 18 repeats a length of
        // zero, eleven times and as often as the seven bits say.
        let one: [UInt32] = [1, 0]
        let two: [UInt32] = [1, 1]
        func write(_ code: [UInt32]) { for bit in code { bits.write(bit, 1) } }
        func unused(_ count: UInt32) {
            bits.write(0, 1)
            bits.write(count - 11, 7)
        }
        write(two)  // a literal zero gets the code 10
        unused(138)
        unused(117)
        write(two)  // the end of the block gets 11
        unused(28)
        write(one)  // a length of 258 gets 0
        write(one)  // a distance of 1 gets 0
        write([1, 0])  // the literal zero
        // Zero bits up to the end of this byte belong to the first matches.
        var matchBits: Int64 = 0
        while bits.isInsideByte {
            bits.write(0, 1)
            matchBits += 1
        }
        let wantedBits = 2 * ((max(wanted, 1) - 1 + 257) / 258)
        zeros = max(0, (wantedBits - matchBits + 7) / 8)
        matchBits += 8 * zeros
        beginning = bits.bytes
        var tail = BitWriter(bytes: [])
        if matchBits % 2 != 0 {
            tail.write(0, 1)
            matchBits += 1
        }
        tail.write(0b11, 2)
        length = 1 + 129 * matchBits
        let words = [Self.checksum(ofZeros: length), UInt32(truncatingIfNeeded: length)]
        end = tail.bytes + words.flatMap { word in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    /// The CRC-32 of so many zeros, in as many steps as the number has bits.
    static func checksum(ofZeros count: Int64) -> UInt32 {
        // What one zero byte makes of each bit of a checksum.
        var operation = (0..<32).map { bit in
            (0..<8).reduce(UInt32(1) << UInt32(bit)) { sum, _ in sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        func applied(_ operation: [UInt32], to sum: UInt32) -> UInt32 {
            operation.indices.reduce(0) { $0 ^ (sum >> UInt32($1) & 1 == 0 ? 0 : operation[$1]) }
        }
        var sum = UInt32.max
        var rest = count
        while rest > 0 {
            if rest & 1 == 1 { sum = applied(operation, to: sum) }
            operation = operation.map { applied(operation, to: $0) }
            rest >>= 1
        }
        return ~sum
    }
}

/// Writes bits, the lowest of a byte first.
private struct BitWriter {
    var bytes: [UInt8]
    private var used: UInt32 = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isInsideByte: Bool { used != 0 }

    /// Writes the lowest bits of a value, from the lowest on.
    mutating func write(_ value: UInt32, _ count: UInt32) {
        for index in 0..<count {
            if used == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> index & 1) << UInt8(used)
            used = (used + 1) % 8
        }
    }
}
