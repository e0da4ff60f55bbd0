import Foundation

/// How many tests with the kit run at the same time, or one after the other.
///
/// Few among the other tests, and a thousand with
/// `ATOM_STORM_ROUNDS=1 swift test --filter Storm`.
enum SideBySide {
    static let count = ProcessInfo.processInfo.environment["ATOM_STORM_ROUNDS"] == nil ? 50 : 1_000
}
