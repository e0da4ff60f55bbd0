import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// An open folder in which nobody else can put a file in place of ours.
///
/// Everything is named relative to the open folder, so that a path that is
/// changed meanwhile doesn't lead elsewhere.
struct StoreFolder {
    private let path: String
    private let descriptor: Descriptor
    private let status: stat

    /// Opens a folder, and makes it if asked to.
    ///
    /// - Returns: `nil` if there is none, and none is to be made.
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
            // A link to a folder is ENOTDIR to one system and ELOOP to the other.
            if [ENOTDIR, ELOOP].contains(code), lstat(path, &found) == 0 {
                let isLink = found.kind == S_IFLNK
                throw .refused(isLink ? "its folder is a symbolic link" : "its folder is not a directory")
            }
            throw TokenStoreError(code, during: "open")
        }
        let status = try descriptor.status()
        guard [geteuid(), 0].contains(status.st_uid) else { throw .refused("its folder belongs to another user") }
        // Where the sticky bit is set, others can add names, and can't touch ours.
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || status.st_mode & S_ISVTX != 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw .refused("other users can write to its folder (mode \(mode)); use mode 700")
        }
        self.path = path
        self.descriptor = descriptor
        self.status = status
    }

    /// Makes a folder and those it lies in, for this user only.
    private static func make(_ path: String) throws(TokenStoreError) {
        var code: Int32 = mkdir(path, 0o700) == 0 ? 0 : errno
        if code == ENOENT, path != "/" {
            try make(parent(of: path))
            code = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        switch code {
        case EEXIST: return
        case 0: try Descriptor(parent(of: path), O_RDONLY | O_DIRECTORY)?.synchronize()
        default: throw TokenStoreError(code, during: "mkdir", isWriting: true)
        }
    }

    private static func parent(of path: String) -> String {
        let parent = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        return parent.isEmpty ? "/" : String(parent)
    }

    /// The same for all paths that lead here.
    func key(for name: String) -> StoreLock.Key {
        .file(device: UInt64(truncatingIfNeeded: status.st_dev), folder: UInt64(status.st_ino), name: name)
    }

    /// Opens a file that is ours and plain; `nil` if there is none.
    private func open(_ name: String, _ flags: Int32) throws(TokenStoreError) -> Descriptor? {
        let isWriting = flags & O_CREAT != 0
        guard let file = Descriptor(name, in: descriptor, flags) else {
            switch errno {
            case ENOENT where !isWriting: return nil
            case ELOOP, EMLINK: throw .refused("the file is a symbolic link")
            case EISDIR, ENXIO: throw .refused("the file is not a regular file")
            case let code: throw TokenStoreError(code, during: "open", isWriting: isWriting)
            }
        }
        let status = try file.status()
        guard status.kind == S_IFREG else { throw .refused("the file is not a regular file") }
        guard status.st_uid == geteuid() else { throw .refused("the file belongs to another user") }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .refused("other users can write to the file") }
        return file
    }

    /// What a file holds, one byte more than `limit` at most; `nil` if there
    /// is no such file.
    ///
    /// A file that others can read is closed to them.
    func contents(of name: String, upTo limit: Int) throws(TokenStoreError) -> Data? {
        guard let file = try open(name, O_RDONLY) else { return nil }
        if try file.status().st_mode & 0o077 != 0 {
            // It may be on a disk that can't be written; reading it is still right.
            _ = fchmod(file.number, 0o600)
        }
        return try file.contents(upTo: limit)
    }

    /// Puts a file in the place of another: at each moment there is the old
    /// one or the new one, whole.
    ///
    /// Call it under the lock: what other writers have left unfinished is
    /// removed.
    func replace(_ name: String, with data: Data) throws(TokenStoreError) {
        removeLeftovers(of: name)
        let temporary = Self.name(name, Self.unfinished)
        guard let file = Descriptor(temporary, in: descriptor, O_WRONLY | O_CREAT | O_EXCL) else {
            throw TokenStoreError(errno, during: "open", isWriting: true)
        }
        do throws(TokenStoreError) {
            // The mode it was made with is subject to the process's umask.
            guard fchmod(file.number, 0o600) == 0 else {
                throw TokenStoreError(errno, during: "fchmod", isWriting: true)
            }
            try file.write(data)
            try file.synchronize()
            try rename(temporary, to: name)
        } catch {
            unlinkat(descriptor.number, temporary, 0)
            throw error
        }
        try descriptor.synchronize()
    }

    /// Removes a file, if it is there.
    func remove(_ name: String) throws(TokenStoreError) {
        removeLeftovers(of: name)
        guard unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT else {
            throw TokenStoreError(errno, during: "unlink", isWriting: true)
        }
        try descriptor.synchronize()
    }

    /// Gives a file a name that nothing else has.
    ///
    /// - Returns: Where it is now.
    func setAside(_ name: String) throws(TokenStoreError) -> URL {
        let other = Self.name(name, "corrupt")
        try rename(name, to: other)
        try descriptor.synchronize()
        return URL(fileURLWithPath: path).appendingPathComponent(other)
    }

    private func rename(_ old: String, to new: String) throws(TokenStoreError) {
        guard renameat(descriptor.number, old, descriptor.number, new) == 0 else {
            throw TokenStoreError(errno, during: "rename", isWriting: true)
        }
    }

    /// Takes the lock that lies in this file, which is made if there is none.
    ///
    /// - Parameter isSame: Whether two answers of the system are about one
    ///   file.
    /// - Returns: `nil` if somebody has it.
    /// - Throws: `TokenStoreError.refused` if the system never says that the
    ///   file which was locked is the one of this name.
    func tryLock(
        _ name: String, isSame: (stat, stat) -> Bool = { $0.st_ino == $1.st_ino && $0.st_dev == $1.st_dev }
    ) throws(TokenStoreError) -> Descriptor? {
        for _ in 0..<Self.lockTries {
            guard let file = try open(name, O_RDWR | O_CREAT), try file.tryLock() else { return nil }
            let locked = try file.status()
            var named = stat()
            // Removed in between, it excludes nobody who comes later.
            if fstatat(descriptor.number, name, &named, AT_SYMLINK_NOFOLLOW) == 0, isSame(locked, named) {
                return file
            }
        }
        throw .refused(
            "its lock file has a different identity each time, as on some network file systems; use a local disk")
    }

    /// Once is enough unless somebody removes the file in between.
    private static let lockTries = 8

    // MARK: Names

    private static let unfinished = "tmp"

    private static func name(_ name: String, _ kind: String) -> String {
        let suffix = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(name).\(kind)-\(String(repeating: "0", count: 16 - suffix.count))\(suffix)"
    }

    /// Removes what writers that were killed have left.
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
    /// What kind of file it is.
    fileprivate var kind: mode_t { st_mode & S_IFMT }
}
