import Foundation

/// What a path names, for whoever writes there: a file, which is replaced as a whole, or what can only be written to.
package struct FileDestination: Sendable {
    /// Why nothing is written there; it has no full stop.
    package struct Refusal: Error {
        package let reason: String
    }

    /// The path without symbolic links.
    let path: String
    /// Whether it is never replaced: a device, a pipe, or what a process has open, as by `/dev/stdout`.
    let isStream: Bool

    /// Follows the path, whose file need not exist.
    ///
    /// What another user has put into a folder for everybody is not used, as with the kernel's `protected_symlinks`: a
    /// link may lead to any file of this user, and a pipe to whoever reads it.
    package init(_ url: URL) throws(Refusal) {
        guard url.isFileURL else { throw Refusal(reason: "its URL is not a file URL") }
        let named = url.absoluteURL.path
        guard !named.utf8.contains(0) else { throw Refusal(reason: "its path contains a NUL character") }
        var (parts, rest) = ([String](), Self.parts(of: named))
        var (links, status) = (0, stat())
        while !rest.isEmpty {
            let (part, folder) = (rest.removeFirst(), Self.path(of: parts))
            if part == ".." { _ = parts.popLast() }
            if part == "." || part == ".." { continue }
            parts.append(part)
            let here = Self.path(of: parts)
            guard lstat(here, &status) == 0 else { continue }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            if isLink || rest.isEmpty, Self.isOfStranger(status, in: folder) {
                throw Refusal(reason: "“\(Redaction.subject(part))” belongs to another user, in a folder for everybody")
            }
            guard isLink, !Self.holdsDescriptors(folder) else { continue }
            links += 1
            guard links <= 40, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: here) else {
                throw Refusal(reason: "“\(Redaction.subject(part))” is a symbolic link that can't be followed")
            }
            rest = Self.parts(of: target) + rest
            parts = target.utf8.first == UInt8(ascii: "/") ? [] : parts.dropLast()
        }
        path = Self.path(of: parts)
        let name = Redaction.subject(url.lastPathComponent)
        guard stat(path, &status) == 0 else {
            guard lstat(named, &status) != 0 else {
                throw Refusal(reason: "“\(name)” is a symbolic link to a file that doesn't exist")
            }
            isStream = false
            return
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw Refusal(reason: "“\(name)” is a folder; name a file in it") }
        isStream = kind != S_IFREG || Self.holdsDescriptors(Self.path(of: parts.dropLast()))
    }

    private static func parts(of path: String) -> [String] {
        // By bytes: a slash may be part of a longer `Character`.
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    private static func path(of parts: some Sequence<String>) -> String { "/" + parts.joined(separator: "/") }

    private static func holdsDescriptors(_ folder: String) -> Bool {
        folder == "/dev/fd" || folder.hasPrefix("/proc/") && folder.hasSuffix("/fd")
    }

    /// Whether this is another user's in a folder that everybody may write to, and isn't the folder's owner's.
    static func isOfStranger(_ status: stat, in folder: String) -> Bool {
        var parent = stat()
        let shared = S_ISVTX | S_IWOTH
        return stat(folder, &parent) == 0 && parent.st_mode & shared == shared
            && ![geteuid(), parent.st_uid].contains(status.st_uid)
    }

    var folder: String { Self.path(of: Self.parts(of: path).dropLast()) }

    /// A name in the same folder that nobody else uses.
    func makeTemporary(_ ending: String) -> String {
        var name = Redaction.subject(Self.parts(of: path).last ?? "")
        // With what is added it must not be longer than a name may be.
        while name.utf8.count > 100 { name.removeLast() }
        return "\(folder)/.\(name).\(UUID().uuidString.prefix(8)).\(ending)"
    }

    /// Replaces the file, or writes to what can't be replaced until all is taken.
    ///
    /// A file keeps its mode, and a new one is for this user only. A pipe that nobody reads is an error.
    package func write(_ data: Data) throws {
        func failure(_ code: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        if isStream {
            guard let stream = Descriptor(path, O_WRONLY | O_APPEND, followsLink: true) else { throw failure(errno) }
            // Only to be opened it must not wait.
            _ = fcntl(stream.number, F_SETFL, fcntl(stream.number, F_GETFL) & ~O_NONBLOCK)
            return try stream.withoutSignal {
                try FileHandle(fileDescriptor: stream.number, closeOnDealloc: false).write(contentsOf: data)
            }
        }
        let temporary = makeTemporary("new")
        guard let file = Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL) else { throw failure(errno) }
        var old = stat()
        // A file system without modes refuses it, and nobody misses them there.
        if stat(path, &old) == 0 { _ = fchmod(file.number, mode_t(truncatingIfNeeded: old.st_mode & 0o777)) }
        guard file.write(data), file.synchronize(), rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw failure(code)
        }
    }
}
