import Foundation

/// Waits as long as bytes take at a limited speed.
enum Pace {
    static func wait(for count: Int, at bytesPerSecond: Int?) async throws {
        guard let bytesPerSecond, bytesPerSecond > 0 else { return }
        try await Task.sleep(for: .seconds(Double(count) / Double(bytesPerSecond)))
    }
}
