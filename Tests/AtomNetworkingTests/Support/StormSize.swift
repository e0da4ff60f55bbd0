import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The number of requests in a storm, and how often it runs.
///
/// It is small among the other tests and with the thread sanitizer, which makes
/// everything ten times slower. With `ATOM_STORM_ROUNDS=20 swift test --filter
/// Storm` the small storms run twenty times, and the large ones as often as
/// specified.
struct StormSize: Sendable, CustomTestStringConvertible {
    let requests: Int
    let rounds: Int

    var testDescription: String { "\(rounds) × \(requests)" }

    static let short = StormSize(requests: 1_000, rounds: isUnderThreadSanitizer ? 2 : 5)
    static let small = StormSize(requests: 1_000, rounds: isUnderThreadSanitizer ? 3 : isFull ? 20 : 5)
    static let large = StormSize(requests: 10_000, rounds: largeRounds)
    static let all = isUnderThreadSanitizer || largeRounds == 0 ? [small] : [small, large]

    /// In that case the sanitizer's runtime is part of the process.
    static let isUnderThreadSanitizer: Bool = {
        guard let process = dlopen(nil, RTLD_NOW) else { return false }
        defer { dlclose(process) }
        return dlsym(process, "__tsan_init") != nil
    }()

    /// Whether only the storms run.
    private static let isFull = largeRounds > 0

    private static let largeRounds =
        ProcessInfo.processInfo.environment["ATOM_STORM_ROUNDS"].flatMap { Int($0) } ?? 0
}
