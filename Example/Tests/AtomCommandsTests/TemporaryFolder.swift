import Foundation

@testable import AtomCommands

/// A folder that is removed with this object.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("atom-tests-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The names in the folder, in order.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }

    /// The path of a session that doesn't exist yet.
    var session: SessionFile { SessionFile(url: url.appendingPathComponent("state/session.json")) }
}
