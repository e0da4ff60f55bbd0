import Foundation

@testable import AtomCommands

/// A folder that goes when nobody needs it any more.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("atom-tests-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// A session that isn't there yet.
    var session: SessionFile { SessionFile(url: url.appendingPathComponent("state/session.json")) }
}
