import Foundation

/// A folder of its own, which is removed with its content when it is released.
final class TransferFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("AtomNetworking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String, _ content: Data? = nil) throws -> URL {
        let file = url.appendingPathComponent(name)
        try content?.write(to: file)
        return file
    }

    /// The names of all that is in it.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }
}
