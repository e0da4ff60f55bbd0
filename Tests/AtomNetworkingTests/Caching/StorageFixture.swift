import Foundation
import Testing

@testable import AtomNetworking

/// A folder of kept responses, in a folder that is removed with this object, and the clock of its storages.
final class StorageFixture: Sendable {
    let parent: TemporaryFolder
    let clock = Locked(Date())
    var url: URL { parent["outer/responses"] }

    init() throws { parent = try TemporaryFolder() }

    /// Another storage of the folder: another process, as far as one process can stand for two.
    func storage(capacity: Int64 = 1 << 20) -> FolderResponseStorage {
        .init(.init(folder: url, capacity: capacity), now: { [clock] in clock.value })
    }

    func pass(_ seconds: TimeInterval) { clock.with { $0 += seconds } }

    /// What is in the folder, with what is in the folders of the groups.
    var entries: [String] { (FileManager.default.subpaths(atPath: url.path) ?? []).sorted() }

    func place(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The sum of all files, of which each takes a block.
    var taken: Int64 {
        entries.reduce(0) { sum, entry in
            guard let status = try? status(of: place(entry)), status.kind == S_IFREG else { return sum }
            return sum + max(Int64(status.st_size), 4_096)
        }
    }
}

extension ResponseStorage {
    func text(_ name: String, _ group: String = "g") throws -> String? {
        try data(named: name, in: group).map { String(decoding: $0, as: UTF8.self) }
    }

    func store(_ text: String, _ name: String, _ group: String = "g") throws {
        try store(Data(text.utf8), named: name, in: group)
    }
}

extension FolderError {
    /// The codes for which an error of a storage stands, without the path.
    static func code(of body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? FolderError)?.code ?? -1
        }
    }
}
