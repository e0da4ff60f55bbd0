#if os(Linux)
    import Foundation

    /// Just enough of the compressed formats for answers that no compressor
    /// would make.
    enum Deflate {
        /// A gzip member with the data in stored blocks (RFC 1951 §3.2.4, RFC
        /// 1952).
        static func gzip(_ data: Data) -> Data {
            gzipHead + stored(data) + littleEndian(checksum(data)) + littleEndian(UInt32(data.count))
        }

        /// A zlib stream with the data in stored blocks (RFC 1950).
        static func zlib(_ data: Data) -> Data {
            var (low, high): (UInt32, UInt32) = (1, 0)
            for byte in data {
                low = (low + UInt32(byte)) % 65_521
                high = (high + low) % 65_521
            }
            return Data([0x78, 0x01]) + stored(data) + withUnsafeBytes(of: (high << 16 | low).bigEndian) { Data($0) }
        }

        static let gzipHead = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

        private static func stored(_ data: Data) -> Data {
            var blocks = Data()
            var rest = data
            repeat {
                let part = rest.prefix(65_535)
                rest = rest.dropFirst(part.count)
                let length = UInt16(part.count)
                blocks.append(rest.isEmpty ? 1 : 0)
                withUnsafeBytes(of: length.littleEndian) { blocks.append(contentsOf: $0) }
                withUnsafeBytes(of: (~length).littleEndian) { blocks.append(contentsOf: $0) }
                blocks += part
            } while !rest.isEmpty
            return blocks
        }

        private static func littleEndian(_ number: UInt32) -> Data {
            withUnsafeBytes(of: number.littleEndian) { Data($0) }
        }

        private static func checksum(_ data: Data) -> UInt32 {
            var checksum = ~UInt32(0)
            for byte in data {
                checksum ^= UInt32(byte)
                for _ in 0..<8 { checksum = checksum & 1 == 1 ? (checksum >> 1) ^ 0xEDB8_8320 : checksum >> 1 }
            }
            return ~checksum
        }

        /// The byte of eight bits from a place on, the lowest first.
        private static func byte(of bits: [UInt8], at start: Int) -> UInt8 {
            bits[start..<start + 8].reversed().reduce(0) { $0 << 1 | $1 }
        }

        /// A deflate stream that never ends, 158 times as large as it looks.
        ///
        /// After one literal each 13 bits repeat it 258 times (RFC 1951 §3.2.6).
        static func bomb(_ repeats: Int) -> Data {
            var bits: [UInt8] = [1, 1, 0]  // the last block, with fixed codes
            func append(_ code: Int, _ length: Int) {
                for shift in (0..<length).reversed() { bits.append(UInt8((code >> shift) & 1)) }
            }
            append(0x30 + 0x61, 8)
            for _ in 0..<9 {
                append(0b1100_0101, 8)
                append(0, 5)
            }
            let start = (0..<15).map { byte(of: bits, at: 8 * $0) }
            // Eight repeats are 13 bytes, which come again and again.
            var bytes = Data(start.prefix(2))
            for _ in 0..<(repeats / 8) { bytes += start.suffix(13) }
            return bytes
        }

        /// A gzip member that never ends; its content is gzip members without any, 23
        /// bytes each, and 129 times as large.
        static func emptyMembers(_ repeats: Int) -> Data {
            var bits: [UInt8] = [0, 1, 0]  // a block with fixed codes
            func append(_ code: Int, _ length: Int) {
                for shift in (0..<length).reversed() { bits.append(UInt8((code >> shift) & 1)) }
            }
            for byte in gzip(Data()).map(Int.init) { byte < 144 ? append(0x30 + byte, 8) : append(0x100 + byte, 9) }
            // Then each 16 bits copy 258 bytes from 23 bytes before (RFC 1951 §3.2.5).
            for _ in 0..<2 {
                append(0b1100_0101, 8)
                append(8, 5)
                bits += [0, 1, 1]
            }
            let start = (0..<26).map { byte(of: bits, at: 8 * $0) }
            var bytes = gzipHead + start.prefix(24)
            for _ in 0..<repeats { bytes += start.suffix(2) }
            return bytes
        }

        /// The same with zstd: blocks that repeat one byte 131,072 times (RFC
        /// 8878 §3.1.1.2).
        static func zstdBomb(_ repeats: Int) -> Data {
            Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x68]) + Data((0..<repeats).flatMap { _ in [0x02, 0x00, 0x10, 0x00] })
        }

        /// The same with brotli: 64 MiB of zeros.
        static let brotliBomb =
            Data(
                base64Encoded: """
                    y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwW\
                    AOje//H//w/+CYA4LADQvf/L//8//BMAcVgAoHv/Bw==
                    """) ?? Data()
    }
#endif
