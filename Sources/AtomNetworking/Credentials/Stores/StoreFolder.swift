import Foundation

/// The folder of a token store: what is written there is on the disk afterwards.
struct StoreFolder {
    private let folder: PrivateFolder

    /// Opens a folder, and creates it if requested; `nil` if there is none.
    init?(_ path: String, creating: Bool) throws(TokenStoreError) {
        do throws(FolderError) {
            guard let folder = try PrivateFolder(path, creating: creating) else { return nil }
            self.folder = folder
        } catch {
            throw TokenStoreError(error)
        }
    }

    /// The lock's key; it is the same for all paths to this folder.
    func key(for name: String) -> StoreLock.Key {
        let status = folder.status
        return .file(device: UInt64(truncatingIfNeeded: status.st_dev), folder: UInt64(status.st_ino), name: name)
    }

    /// The contents of a file, at most one byte more than `limit`; `nil` for none; the access of others is removed.
    func contents(of name: String, upTo limit: Int) throws(TokenStoreError) -> Data? {
        do throws(FolderError) {
            guard let file = try folder.open(name, O_RDONLY) else { return nil }
            let status = try PrivateFolder.status(of: file)
            // This may fail on a read-only disk; reading is still fine.
            if status.st_mode & 0o077 != 0 { _ = fchmod(file.number, 0o600) }
            // 32 bits: it is limited.
            let size = Int(min(Int64(status.st_size), Int64(limit) + 1))
            guard let data = file.read(size, at: 0) else { throw FolderError(errno, during: "read") }
            return data
        } catch {
            throw TokenStoreError(error)
        }
    }

    /// Replaces a file atomically.
    ///
    /// The caller holds the lock, so what other writers left unfinished is removed.
    func replace(_ name: String, with data: Data) throws(TokenStoreError) {
        removeLeftovers(of: name)
        do throws(FolderError) {
            try folder.replace(name, with: data) { file, temporary throws(FolderError) in
                // A backup that is restored on another device would clone the refresh token.
                folder.leaveOutOfBackups(temporary)
                try Self.synchronize(file)
            }
            try Self.synchronize(folder.descriptor)
        } catch {
            throw TokenStoreError(error)
        }
    }

    func remove(_ name: String) throws(TokenStoreError) {
        removeLeftovers(of: name)
        do throws(FolderError) {
            try folder.remove(name)
            try Self.synchronize(folder.descriptor)
        } catch {
            throw TokenStoreError(error)
        }
    }

    /// Renames a file to a unique name, and returns where it is.
    func setAside(_ name: String) throws(TokenStoreError) -> URL {
        let other = PrivateFolder.unique(name, "corrupt")
        do throws(FolderError) {
            try folder.rename(name, to: other)
            try Self.synchronize(folder.descriptor)
        } catch {
            throw TokenStoreError(error)
        }
        return folder.url(of: other)
    }

    /// Takes the lock in this file, which is created if necessary; `nil` if it is taken.
    ///
    /// - Parameter isSame: Whether two `stat` results describe one file; never so on
    ///   some file systems, which are refused.
    func tryLock(
        _ name: String, isSame: (stat, stat) -> Bool = { $0.st_ino == $1.st_ino && $0.st_dev == $1.st_dev }
    ) throws(TokenStoreError) -> Descriptor? {
        do throws(FolderError) {
            for _ in 0..<Self.lockTries {
                guard let file = try folder.open(name, O_RDWR | O_CREAT) else { return nil }
                guard file.tryLock() else {
                    if errno == EWOULDBLOCK { return nil }
                    throw FolderError(errno, during: "flock")
                }
                let locked = try PrivateFolder.status(of: file)
                // If the file was removed in between, its lock excludes nobody later.
                if let named = folder.status(of: name), isSame(locked, named) { return file }
            }
        } catch {
            throw TokenStoreError(error)
        }
        throw .refused(
            "its lock file has a different identity each time, as on some network file systems; use a local disk")
    }

    /// One try is enough unless another process removes the file in between.
    private static let lockTries = 8

    private static func synchronize(_ file: Descriptor) throws(FolderError) {
        try PrivateFolder.check(file.synchronize(), "fsync")
    }

    /// Removes files that killed writers left behind.
    private func removeLeftovers(of name: String) {
        for entry in (try? folder.names()) ?? []
        where PrivateFolder.isUnique(entry, name, PrivateFolder.unfinished) {
            try? folder.remove(entry)
        }
    }
}

extension FilePlace {
    var lock: FilePlace {
        var lock = self
        lock.name += ".lock"
        return lock
    }

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
