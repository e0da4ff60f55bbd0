import Foundation

/// An open folder in which other users can't replace our files; a change of its path doesn't lead to another one.
struct StoreFolder {
    private let path: String
    private let descriptor: Descriptor
    private let status: stat

    /// Opens a folder, and creates it if requested; `nil` if there is none.
    init?(_ path: String, creating: Bool) throws(TokenStoreError) {
        var opened = Descriptor(path, O_RDONLY | O_DIRECTORY)
        if opened == nil, errno == ENOENT {
            guard creating else { return nil }
            try Self.make(path)
            opened = Descriptor(path, O_RDONLY | O_DIRECTORY)
        }
        guard let descriptor = opened else {
            let code = errno
            var found = stat()
            // Of a link to a folder, one system says ENOTDIR, the other ELOOP.
            if [ENOTDIR, ELOOP].contains(code), lstat(path, &found) == 0 {
                let isLink = found.kind == S_IFLNK
                throw .refused(isLink ? "its folder is a symbolic link" : "its folder is not a directory")
            }
            throw TokenStoreError(
                code, during: "open",
                permission: "read its folder “\(Redaction.file(path))”, or to enter one above it")
        }
        let status = try Self.status(of: descriptor)
        guard [geteuid(), 0].contains(status.st_uid) else { throw .refused("its folder belongs to another user") }
        // With the sticky bit, others can add files but can't change ours.
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || status.st_mode & S_ISVTX != 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            let name = (path as NSString).lastPathComponent
            throw .refused("other users can write to its folder “\(name)” (mode \(mode)); use mode 700")
        }
        self.path = path
        self.descriptor = descriptor
        self.status = status
    }

    /// Creates a folder and its parents.
    private static func make(_ path: String) throws(TokenStoreError) {
        var code: Int32 = mkdir(path, 0o700) == 0 ? 0 : errno
        if code == ENOENT, path != "/" {
            try make(parent(of: path))
            code = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        switch code {
        case EEXIST: return
        case 0: try Descriptor(parent(of: path), O_RDONLY | O_DIRECTORY).map(synchronize)
        default: throw TokenStoreError(code, during: "mkdir", isWriting: true)
        }
    }

    private static func parent(of path: String) -> String {
        let parent = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        return parent.isEmpty ? "/" : String(parent)
    }

    /// The lock's key; it is the same for all paths to this folder.
    func key(for name: String) -> StoreLock.Key {
        .file(device: UInt64(truncatingIfNeeded: status.st_dev), folder: UInt64(status.st_ino), name: name)
    }

    /// Opens a regular file of this user; `nil` if it doesn't exist.
    private func open(_ name: String, _ flags: Int32) throws(TokenStoreError) -> Descriptor? {
        let isWriting = flags & O_CREAT != 0
        guard let file = Descriptor(name, in: descriptor, flags) else {
            switch errno {
            case ENOENT where !isWriting: return nil
            case ELOOP, EMLINK: throw .refused("the file is a symbolic link")
            case EISDIR, ENXIO: throw .refused("the file is not a regular file")
            case let code:
                throw TokenStoreError(
                    code, during: "open", isWriting: isWriting,
                    permission: "read the file “\(Redaction.file("\(path)/\(name)"))”")
            }
        }
        let status = try Self.status(of: file)
        guard status.kind == S_IFREG else { throw .refused("the file is not a regular file") }
        guard status.st_uid == geteuid() else { throw .refused("the file belongs to another user") }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .refused("other users can write to the file") }
        return file
    }

    /// The contents of a file, at most one byte more than `limit`; `nil` for none; the access of others is removed.
    func contents(of name: String, upTo limit: Int) throws(TokenStoreError) -> Data? {
        guard let file = try open(name, O_RDONLY) else { return nil }
        let status = try Self.status(of: file)
        // This may fail on a read-only disk; reading is still fine.
        if status.st_mode & 0o077 != 0 { _ = fchmod(file.number, 0o600) }
        // 32 bits: it is limited.
        let size = Int(min(Int64(status.st_size), Int64(limit) + 1))
        guard let data = file.read(size, at: 0) else { throw TokenStoreError(errno, during: "read") }
        return data
    }

    /// Replaces a file atomically.
    ///
    /// The caller holds the lock, so what other writers left unfinished is removed.
    func replace(_ name: String, with data: Data) throws(TokenStoreError) {
        removeLeftovers(of: name)
        let temporary = Self.name(name, Self.unfinished)
        guard let file = Descriptor(temporary, in: descriptor, O_WRONLY | O_CREAT | O_EXCL) else {
            throw TokenStoreError(errno, during: "open", isWriting: true)
        }
        do throws(TokenStoreError) {
            // The process's umask may have changed the mode.
            try Self.check(fchmod(file.number, 0o600) == 0, "fchmod")
            try Self.check(file.write(data), "write")
            leaveOutOfBackups(temporary)
            try Self.synchronize(file)
            try rename(temporary, to: name)
        } catch {
            unlinkat(descriptor.number, temporary, 0)
            throw error
        }
        try Self.synchronize(descriptor)
    }

    /// A backup that is restored on another device would clone the refresh token; every new file needs the mark.
    private func leaveOutOfBackups(_ name: String) {
        #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var url = URL(fileURLWithPath: path).appendingPathComponent(name)
            try? url.setResourceValues(values)
        #endif
    }

    func remove(_ name: String) throws(TokenStoreError) {
        removeLeftovers(of: name)
        try Self.check(unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT, "unlink")
        try Self.synchronize(descriptor)
    }

    /// Renames a file to a unique name, and returns where it is.
    func setAside(_ name: String) throws(TokenStoreError) -> URL {
        let other = Self.name(name, "corrupt")
        try rename(name, to: other)
        try Self.synchronize(descriptor)
        return URL(fileURLWithPath: path).appendingPathComponent(other)
    }

    private func rename(_ old: String, to new: String) throws(TokenStoreError) {
        try Self.check(renameat(descriptor.number, old, descriptor.number, new) == 0, "rename")
    }

    /// Takes the lock in this file, which is created if necessary; `nil` if it is taken.
    ///
    /// - Parameter isSame: Whether two `stat` results describe one file; never so on
    ///   some file systems, which are refused.
    func tryLock(
        _ name: String, isSame: (stat, stat) -> Bool = { $0.st_ino == $1.st_ino && $0.st_dev == $1.st_dev }
    ) throws(TokenStoreError) -> Descriptor? {
        for _ in 0..<Self.lockTries {
            guard let file = try open(name, O_RDWR | O_CREAT) else { return nil }
            guard file.tryLock() else {
                if errno == EWOULDBLOCK { return nil }
                throw TokenStoreError(errno, during: "flock")
            }
            let locked = try Self.status(of: file)
            var named = stat()
            // If the file was removed in between, its lock excludes nobody later.
            if fstatat(descriptor.number, name, &named, AT_SYMLINK_NOFOLLOW) == 0, isSame(locked, named) {
                return file
            }
        }
        throw .refused(
            "its lock file has a different identity each time, as on some network file systems; use a local disk")
    }

    /// One try is enough unless another process removes the file in between.
    private static let lockTries = 8

    private static func status(of file: Descriptor) throws(TokenStoreError) -> stat {
        guard let status = file.status() else { throw TokenStoreError(errno, during: "fstat") }
        return status
    }

    private static func synchronize(_ file: Descriptor) throws(TokenStoreError) {
        try check(file.synchronize(), "fsync")
    }

    private static func check(_ isDone: Bool, _ operation: String) throws(TokenStoreError) {
        if !isDone { throw TokenStoreError(errno, during: operation, isWriting: true) }
    }

    // MARK: Names

    private static let unfinished = "tmp"

    private static func name(_ name: String, _ kind: String) -> String {
        let suffix = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(name).\(kind)-\(String(repeating: "0", count: 16 - suffix.count))\(suffix)"
    }

    /// Removes files that killed writers left behind.
    private func removeLeftovers(of name: String) {
        let prefix = "\(name).\(Self.unfinished)-"
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] where entry.hasPrefix(prefix) {
            let suffix = entry.dropFirst(prefix.count).utf8
            guard suffix.count == 16, suffix.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { continue }
            unlinkat(descriptor.number, entry, 0)
        }
    }
}

extension stat {
    fileprivate var kind: mode_t { st_mode & S_IFMT }
}

/// A file, identified by its folder and its name.
struct FilePlace: Hashable, Sendable {
    /// The absolute path of the folder, without a slash at its end.
    let folder: String
    private(set) var name: String

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
