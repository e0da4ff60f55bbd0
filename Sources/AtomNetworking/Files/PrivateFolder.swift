import Foundation

/// An open folder in which other users can't replace our files; a change of its path doesn't lead to another one.
struct PrivateFolder {
    let descriptor: Descriptor
    let status: stat
    private let path: String

    /// Opens a folder by its path, or by its name in another one, and creates it if requested; `nil` if there is none.
    init?(_ name: String, in parent: PrivateFolder? = nil, creating: Bool) throws(FolderError) {
        let path = parent.map { "\($0.path)/\(name)" } ?? name
        var opened = Descriptor(name, in: parent?.descriptor, O_RDONLY | O_DIRECTORY)
        if opened == nil, errno == ENOENT {
            guard creating else { return nil }
            if let parent { try parent.make(name) } else { try Self.make(path) }
            opened = Descriptor(name, in: parent?.descriptor, O_RDONLY | O_DIRECTORY)
        }
        guard let descriptor = opened else {
            let code = errno
            var found = stat()
            // Of a link to a folder, one system says ENOTDIR, the other ELOOP.
            if [ENOTDIR, ELOOP].contains(code),
                fstatat(parent?.descriptor.number ?? AT_FDCWD, name, &found, AT_SYMLINK_NOFOLLOW) == 0
            {
                guard found.kind == S_IFLNK else { throw .refused("its folder is not a directory", code: ENOTDIR) }
                throw .refused("its folder is a symbolic link", code: ELOOP)
            }
            throw FolderError(
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
    private static func make(_ path: String) throws(FolderError) {
        var code: Int32 = mkdir(path, 0o700) == 0 ? 0 : errno
        if code == ENOENT, path != "/" {
            try make(parent(of: path))
            code = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        switch code {
        case EEXIST: return
        case 0:
            guard let parent = Descriptor(parent(of: path), O_RDONLY | O_DIRECTORY) else { return }
            try check(parent.synchronize(), "fsync")
        default: throw FolderError(code, during: "mkdir", isWriting: true)
        }
    }

    /// Creates a folder in this one, which is left out of backups with its content.
    private func make(_ name: String) throws(FolderError) {
        if mkdirat(descriptor.number, name, 0o700) == 0 { return leaveOutOfBackups(name) }
        try Self.check(errno == EEXIST, "mkdir")
    }

    private static func parent(of path: String) -> String {
        let parent = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        return parent.isEmpty ? "/" : String(parent)
    }

    /// Opens a regular file of this user; `nil` if it doesn't exist.
    func open(_ name: String, _ flags: Int32) throws(FolderError) -> Descriptor? {
        let isWriting = flags & O_CREAT != 0
        guard let file = Descriptor(name, in: descriptor, flags) else {
            let code = errno
            switch code {
            case ENOENT where !isWriting: return nil
            case ELOOP, EMLINK: throw .refused("the file is a symbolic link", code: ELOOP)
            case EISDIR, ENXIO: throw .refused("the file is not a regular file", code: code)
            default:
                throw FolderError(
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

    /// Replaces a file atomically: whoever is killed at any moment leaves the old one or the new one, and perhaps a
    /// temporary one beside it.
    ///
    /// - Parameter finish: What is done with the temporary file, which has this name, when all is written.
    func replace(
        _ name: String, with data: Data, finish: (Descriptor, String) throws(FolderError) -> Void
    ) throws(FolderError) {
        let temporary = Self.unique(name, Self.unfinished)
        guard let file = Descriptor(temporary, in: descriptor, O_WRONLY | O_CREAT | O_EXCL) else {
            throw FolderError(errno, during: "open", isWriting: true)
        }
        do throws(FolderError) {
            // The process's umask may have changed the mode.
            try Self.check(fchmod(file.number, 0o600) == 0, "fchmod")
            try Self.check(file.write(data), "write")
            try finish(file, temporary)
            try rename(temporary, to: name)
        } catch {
            unlinkat(descriptor.number, temporary, 0)
            throw error
        }
    }

    /// Leaves a file or a folder in this one out of backups; whatever replaces it needs the mark again.
    func leaveOutOfBackups(_ name: String) {
        #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var url = URL(fileURLWithPath: path).appendingPathComponent(name)
            try? url.setResourceValues(values)
        #endif
    }

    func url(of name: String) -> URL { URL(fileURLWithPath: path).appendingPathComponent(name) }

    func rename(_ old: String, to new: String) throws(FolderError) {
        try Self.check(renameat(descriptor.number, old, descriptor.number, new) == 0, "rename")
    }

    /// Removes a file, if there is one.
    func remove(_ name: String) throws(FolderError) {
        try Self.check(unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT, "unlink")
    }

    /// Removes a folder, if there is one, with what is in it, also with what others are writing there.
    func removeFolder(_ name: String) throws(FolderError) {
        for _ in 0..<Self.removals {
            if unlinkat(descriptor.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
            if errno == ENOTDIR { return try remove(name) }
            try Self.check([ENOTEMPTY, EEXIST].contains(errno), "rmdir")
            guard let folder = try PrivateFolder(name, in: self, creating: false) else { return }
            for entry in try folder.names() where unlinkat(folder.descriptor.number, entry, 0) != 0 {
                // Of a folder, the systems don't agree on the code.
                if [EISDIR, EPERM].contains(errno) {
                    try folder.removeFolder(entry)
                } else {
                    try Self.check(errno == ENOENT, "unlink")
                }
            }
        }
        throw FolderError(ENOTEMPTY, during: "rmdir", isWriting: true)
    }

    /// Once more than others have added a file in between.
    private static let removals = 100

    func names() throws(FolderError) -> [String] {
        guard let names = descriptor.names() else { throw FolderError(errno, during: "readdir") }
        return names
    }

    /// The status of what has the name, and not of what it may lead to.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    static func status(of file: Descriptor) throws(FolderError) -> stat {
        guard let status = file.status() else { throw FolderError(errno, during: "fstat") }
        return status
    }

    static func check(_ isDone: Bool, _ operation: String) throws(FolderError) {
        if !isDone { throw FolderError(errno, during: operation, isWriting: true) }
    }

    // MARK: Names

    /// The kind of name that a file has until all of it is written.
    static let unfinished = "tmp"

    /// A name that nobody else uses.
    static func unique(_ name: String, _ kind: String) -> String {
        let suffix = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(name).\(kind)-\(String(repeating: "0", count: 16 - suffix.count))\(suffix)"
    }

    /// Whether an entry has such a name, of which this is the beginning if there is one.
    static func isUnique(_ entry: String, _ name: String? = nil, _ kind: String) -> Bool {
        let suffix = entry.utf8.suffix(16)
        guard suffix.count == 16, suffix.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return false }
        let beginning = entry.dropLast(16)
        return name.map { beginning == "\($0).\(kind)-" } ?? beginning.hasSuffix(".\(kind)-")
    }
}

extension stat {
    var kind: mode_t { st_mode & S_IFMT }

    /// When the content was changed.
    var modified: Date {
        #if canImport(Darwin)
            let time = st_mtimespec
        #else
            let time = st_mtim
        #endif
        return Date(timeIntervalSince1970: TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9)
    }
}
