import Foundation

/// What libFuzzer has made up, read in the way that a target needs.
struct Input {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    var data: Data { Data(bytes) }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The texts between bytes that no UTF-8 has: `0xFF`.
    var texts: [String] {
        bytes.split(separator: 0xFF, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// One of the texts; empty if there are fewer.
    func text(_ index: Int) -> String { texts.dropFirst(index).first ?? "" }

    /// A number that the bytes decide (FNV-1a).
    var number: UInt64 { bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }

    /// The bytes in parts, in several ways: byte by byte, in parts of equal size, and in such of any size.
    var splits: [[Data]] {
        var random = Generator(state: number)
        var parts: [Data] = []
        var rest = data
        while !rest.isEmpty {
            let part = rest.prefix(Int(random.next() % 9))
            parts.append(Data(part))
            rest = rest.dropFirst(part.count)
        }
        return [bytes.map { Data([$0]) }, inParts(of: 1 + Int(number % 13)), parts]
    }

    private func inParts(of size: Int) -> [Data] {
        stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min($0 + size, bytes.count)]) }
    }
}

/// SplitMix64.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var number = state
        number = (number ^ (number >> 30)) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ (number >> 27)) &* 0x94d0_49bb_1331_11eb
        return number ^ (number >> 31)
    }
}

extension String {
    /// Whether it could end a header field or a C string.
    var breaksLine: Bool { utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }

    /// Whether every byte is visible ASCII.
    var isVisibleASCII: Bool { utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }

    /// Whether the bytes of another text occur in it, whatever characters they are part of.
    func has(_ other: String) -> Bool {
        guard let first = other.utf8.first else { return true }
        let (bytes, other) = (Array(utf8), Array(other.utf8))
        return bytes.indices.contains { bytes[$0] == first && bytes[$0...].starts(with: other) }
    }

    /// In lower case, but only letters of ASCII.
    var folded: [UInt8] { utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}
