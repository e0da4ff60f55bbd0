import Foundation

/// How many tests with the kit run at the same time, or one after the other.
///
/// Few among the other tests, and a thousand with
/// `ATOM_TESTS=whole swift test --no-parallel`.
enum SideBySide {
    static let count = ProcessInfo.processInfo.environment["ATOM_TESTS"] == "whole" ? 1_000 : 50
}
