import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How many requests a storm has, and how often it comes.
///
/// Few and small among the other tests and under the thread sanitizer, which
/// makes everything ten times as slow; `ATOM_STORM_ROUNDS=20 swift test
/// --filter Storm` has the small ones come twenty times and the large ones as
/// often as it says.
struct StormSize: Sendable, CustomTestStringConvertible {
    let requests: Int
    let rounds: Int

    var testDescription: String { "\(rounds) × \(requests)" }

    static let short = StormSize(requests: 1_000, rounds: isUnderThreadSanitizer ? 2 : 5)
    static let small = StormSize(requests: 1_000, rounds: isUnderThreadSanitizer ? 3 : isFull ? 20 : 5)
    static let large = StormSize(requests: 10_000, rounds: largeRounds)
    static let all = isUnderThreadSanitizer || largeRounds == 0 ? [small] : [small, large]

    /// The sanitizer's runtime is part of the process, then.
    static let isUnderThreadSanitizer: Bool = {
        guard let process = dlopen(nil, RTLD_NOW) else { return false }
        defer { dlclose(process) }
        return dlsym(process, "__tsan_init") != nil
    }()

    /// Whether the storms are all that runs.
    private static let isFull = largeRounds > 0

    private static let largeRounds =
        ProcessInfo.processInfo.environment["ATOM_STORM_ROUNDS"].flatMap { Int($0) } ?? 0
}
