import Foundation

/// An open file or folder; it is closed when the last reference is released.
///
/// A function that fails says so in its result, and why in `errno`. Signals interrupt none.
final class Descriptor: Sendable {
    /// For the system's functions that only one caller needs.
    let number: Int32

    /// Opens a name in a folder, or a path, whose last component may be a symbolic link if it says so.
    ///
    /// A child process doesn't inherit the descriptor. Opening waits for nobody: a name
    /// may have become that of a pipe or a terminal.
    init?(
        _ name: String, in folder: Descriptor? = nil, _ flags: Int32, followsLink: Bool = false, mode: mode_t = 0o600
    ) {
        let flags = flags | (followsLink ? 0 : O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let number = Self.uninterrupted { openat(folder?.number ?? AT_FDCWD, name, flags, mode) }
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        // What matters has been synchronized: closing can't report a lost write.
        _ = close(number)
    }

    /// The type, the owner, the mode, the size and the times of the file.
    func status() -> stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// Sets when the content was changed.
    func setModified(_ date: Date) -> Bool {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard let whole = time_t(exactly: seconds) else {
            errno = EINVAL
            return false
        }
        let rest = min(max(0, (date.timeIntervalSince1970 - seconds) * 1e9), 999_999_999)
        // 32 bits: it is less than a thousand million.
        let time = timespec(tv_sec: whole, tv_nsec: Int(rest))
        return futimens(number, [time, time]) == 0
    }

    /// The names of what is in a folder; `nil` on failure.
    func names() -> [String]? {
        // A descriptor of its own begins at the start, and is closed with the stream.
        let copy = Self.uninterrupted { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard copy >= 0 else { return nil }
        guard let stream = fdopendir(copy) else {
            let code = errno
            _ = close(copy)
            errno = code
            return nil
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { return errno == 0 ? names : nil }
            // In place: the type is longer than an entry.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// The size of the file, as this process sees it; nothing else goes by the place that this changes.
    ///
    /// A network's file system would first write what it holds back for ``status()``.
    var size: Int64? {
        let end = lseek(number, 0, SEEK_END)
        return end < 0 ? nil : Int64(end)
    }

    /// Reads bytes from a place on, fewer only at the end; `nil` on failure.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        var done = 0
        while done < buffer.count {
            guard let place = Self.place(offset + Int64(done)) else { return nil }
            // The systems refuse to read or write more than this at once.
            let wanted = min(buffer.count - done, Int(Int32.max))
            let count = Self.uninterrupted { pread(number, buffer.baseAddress?.advanced(by: done), wanted, place) }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads so many bytes from a place on, or what there is.
    func read(_ count: Int, at offset: Int64) -> Data? {
        var data = Data(count: count)
        return data.withUnsafeMutableBytes { read(into: $0, at: offset) }.map { data.prefix($0) }
    }

    func write(_ data: Data, at offset: Int64 = 0) -> Bool {
        data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                guard let place = Self.place(offset + Int64(done)) else { return false }
                let rest = min(bytes.count - done, Int(Int32.max))
                let count = Self.uninterrupted { pwrite(number, bytes.baseAddress?.advanced(by: done), rest, place) }
                if count == 0 { errno = EIO }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// Cuts off what is behind so many bytes.
    func truncate(to size: Int64) -> Bool {
        guard let end = Self.place(size) else { return false }
        return Self.uninterrupted { ftruncate(number, end) } == 0
    }

    /// Waits until what was written is on the disk.
    func synchronize() -> Bool {
        #if canImport(Darwin)
            // fsync leaves the data in the drive's cache on Apple platforms.
            if Self.uninterrupted({ fcntl(number, F_FULLFSYNC) }) == 0 { return true }
        #endif
        // Some file systems don't support this for folders, and don't need it.
        return Self.uninterrupted { fsync(number) } == 0 || [EINVAL, ENOTSUP, EROFS].contains(errno)
    }

    /// Takes the advisory lock; `EWOULDBLOCK` says that somebody holds it, also in this process.
    func tryLock() -> Bool { Self.uninterrupted { flock(number, LOCK_EX | LOCK_NB) } == 0 }

    /// Releases the lock, also that of a forked child.
    func unlock() {
        _ = Self.uninterrupted { flock(number, LOCK_UN) }
    }

    /// Writes to it without the signal that ends a process when nobody reads a pipe any more.
    func withoutSignal(_ write: () throws -> Void) rethrows {
        #if canImport(Darwin)
            _ = fcntl(number, F_SETNOSIGPIPE, 1)
            try write()
        #else
            var (signals, before, pending) = (sigset_t(), sigset_t(), sigset_t())
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, &before)
            defer {
                var taken: CInt = 0
                sigpending(&pending)
                if sigismember(&before, SIGPIPE) == 0, sigismember(&pending, SIGPIPE) == 1 { sigwait(&signals, &taken) }
                pthread_sigmask(SIG_SETMASK, &before, nil)
            }
            try write()
        #endif
    }

    /// Some systems have 32 bits for it.
    private static func place(_ offset: Int64) -> off_t? {
        let place = off_t(exactly: offset)
        if place == nil { errno = EFBIG }
        return place
    }

    /// Repeats a system call while signals interrupt it.
    private static func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }
}
