import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How much the tests do.
///
/// A test run walks the shortest ways of each model, and storms are small: what
/// takes both processors for a long time disturbs all other tests. With
/// `ATOM_TESTS=whole swift test --no-parallel` everything has its full size.
enum TestExtent {
    static let isWhole = ProcessInfo.processInfo.environment["ATOM_TESTS"] == "whole"

    /// Whether the thread sanitizer's runtime is part of the process; everything is
    /// ten times slower then.
    static let isUnderThreadSanitizer: Bool = {
        guard let process = dlopen(nil, RTLD_NOW) else { return false }
        defer { dlclose(process) }
        return dlsym(process, "__tsan_init") != nil
    }()
}

/// The number of requests in a storm, and how often it runs.
struct StormSize: Sendable, CustomTestStringConvertible {
    let requests: Int
    let rounds: Int

    var testDescription: String { "\(rounds) × \(requests)" }

    static let short = StormSize(requests: 1_000, rounds: TestExtent.isUnderThreadSanitizer ? 2 : 5)
    static let small = StormSize(
        requests: 1_000, rounds: TestExtent.isUnderThreadSanitizer ? 3 : TestExtent.isWhole ? 20 : 5)
    static let large = StormSize(requests: 10_000, rounds: 1)
    static let all = TestExtent.isWhole ? [small, large] : [small]
}
