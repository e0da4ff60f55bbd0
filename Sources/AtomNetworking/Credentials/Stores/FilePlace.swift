import Foundation

/// A file, identified by its folder and its name.
struct FilePlace: Hashable, Sendable {
    /// The absolute path of the folder, without a slash at its end.
    let folder: String
    let name: String

    /// Splits a file URL into folder and name.
    init(_ url: URL) throws(TokenStoreError) {
        guard url.isFileURL, ["", "localhost"].contains(url.host ?? "") else {
            throw .refused("its URL is not a local file URL")
        }
        let path = url.absoluteURL.path
        guard path.hasPrefix("/") else { throw .refused("its path is not absolute") }
        guard !path.utf8.contains(0) else { throw .refused("its path contains a NUL character") }
        // With a trailing dot or slash, the system would follow a link.
        var parts = path.split(separator: "/").filter { $0 != "." }
        guard let name = parts.popLast(), name != ".." else { throw .refused("its path doesn't name a file") }
        guard parts.last != ".." else { throw .refused("the path of its folder ends with ..") }
        self.name = String(name)
        folder = "/" + parts.joined(separator: "/")
    }

    private init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// The lock file for this file.
    var lock: FilePlace { FilePlace(folder: folder, name: name + ".lock") }
}

extension FilePlace {
    /// The key of the lock in this file; creates the folder.
    func lockKey() throws(TokenStoreError) -> StoreLock.Key {
        try openFolder().key(for: name)
    }

    /// Takes the lock in this file, unless another process holds it.
    func tryLock() throws(TokenStoreError) -> StoreLock.Attempt {
        try openFolder().tryLock(name).map { .taken($0) } ?? .busy
    }

    private func openFolder() throws(TokenStoreError) -> StoreFolder {
        guard let opened = try StoreFolder(folder, creating: true) else {
            throw TokenStoreError(ENOENT, during: "open", isWriting: true)
        }
        return opened
    }
}
