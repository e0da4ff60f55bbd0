import Foundation

/// Chance that a seed decides (SplitMix64).
struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ seed: UInt64, _ parts: UInt64...) {
        state = seed
        for part in parts { state = next() ^ (part &* 0x9E37_79B9_7F4A_7C15) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Whether something happens that does so in this share of all cases.
    mutating func happens(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// A value behind a lock.
final class Locked<Value: Sendable>: @unchecked Sendable {
    // The lock guards the value.
    private var stored: Value
    private let lock = NSLock()

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }

    func with<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&stored) } }
}
