import Foundation

/// A file whose bytes follow from its size and its version, so that nothing is
/// stored.
struct SampleFile: Sendable, Hashable {
    let size: Int
    let version: Int

    /// Strong: equal tags mean equal bytes (RFC 9110 §8.8.3).
    var entityTag: String { "\"\(size)-v\(version)\"" }

    /// The length of the pattern: a prime, so that bytes from a wrong offset
    /// are seen.
    private static let period = 65_537

    /// The pattern, which the whole file repeats.
    var pattern: Data {
        var state = UInt32(truncatingIfNeeded: version) &* 2_654_435_761 | 1
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.period)
        for _ in 0..<Self.period {
            state = state &* 1_664_525 &+ 1_013_904_223
            bytes.append(UInt8(truncatingIfNeeded: state >> 24))
        }
        return Data(bytes)
    }

    /// The bytes from an offset on: up to the end of the pattern, the file or
    /// the given count, whichever comes first.
    func part(at offset: Int, upTo count: Int, of pattern: Data) -> Data {
        let start = offset % Self.period
        let length = min(count, size - offset, Self.period - start)
        return pattern.subdata(in: start..<start + max(length, 0))
    }
}
