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

/// An open file or folder; it is closed when the last reference is released.
final class Descriptor: Sendable {
    let number: Int32

    /// Opens a name in a folder, or a path.
    ///
    /// It never follows a symbolic link in the last component, and a child
    /// process doesn't inherit the descriptor.
    ///
    /// - Parameter mode: Who may use a file that is created, as far as the
    ///   process lets others.
    /// - Returns: `nil` with `errno` set on failure.
    init?(_ name: String, in folder: Descriptor? = nil, _ flags: Int32, mode: mode_t = 0o600) {
        // Opening a named pipe must not wait for its other end.
        let flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let number = uninterrupted { openat(folder?.number ?? AT_FDCWD, name, flags, mode) }
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        // The data has been synchronized, so closing can't report a lost write.
        _ = close(number)
    }

    /// The type, the owner and the mode of the file.
    func status() throws(TokenStoreError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw TokenStoreError(errno, during: "fstat") }
        return status
    }

    /// Reads from the beginning, at most one byte more than `limit`.
    func contents(upTo limit: Int) throws(TokenStoreError) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while data.count <= limit {
            let count = uninterrupted { pread(number, &buffer, buffer.count, off_t(data.count)) }
            guard count >= 0 else { throw TokenStoreError(errno, during: "read") }
            guard count > 0 else { break }
            data.append(contentsOf: buffer[..<count])
        }
        return data.prefix(limit + 1)
    }

    /// Writes all of the data to an empty file.
    func write(_ data: Data) throws(TokenStoreError) {
        let code = writeAll(of: data, to: number, at: 0)
        guard code == 0 else { throw TokenStoreError(code, during: "write", isWriting: true) }
    }

    /// Waits until the data is on the disk.
    func synchronize() throws(TokenStoreError) {
        #if canImport(Darwin)
            // fsync leaves the data in the drive's cache on Apple platforms.
            if uninterrupted({ fcntl(number, F_FULLFSYNC) }) == 0 { return }
        #endif
        guard uninterrupted({ fsync(number) }) == 0 else {
            // Some file systems don't support this for folders, and don't need
            // it.
            if [EINVAL, ENOTSUP, EROFS].contains(errno) { return }
            throw TokenStoreError(errno, during: "fsync", isWriting: true)
        }
    }

    /// Takes the advisory lock, unless this or another process holds it.
    func tryLock() throws(TokenStoreError) -> Bool {
        if uninterrupted({ flock(number, LOCK_EX | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw TokenStoreError(errno, during: "flock") }
        return false
    }

    /// Releases the lock, also for a forked child that still has the
    /// descriptor.
    func unlock() {
        _ = uninterrupted { flock(number, LOCK_UN) }
    }
}

/// Repeats a system call while signals interrupt it.
func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Writes all of the data at a place in a file.
///
/// - Returns: Zero, or an error number.
func writeAll(of data: Data, to file: Int32, at offset: Int64) -> Int32 {
    data.withUnsafeBytes { bytes in
        var done = 0
        while done < bytes.count {
            guard let place = off_t(exactly: offset + Int64(done)) else { return EFBIG }
            let count = uninterrupted {
                pwrite(file, bytes.baseAddress?.advanced(by: done), bytes.count - done, place)
            }
            guard count > 0 else { return count < 0 ? errno : EIO }
            done += count
        }
        return 0
    }
}

extension TokenStoreError {
    /// Whether the system encrypts files with a key that it has only after the
    /// device was unlocked.
    private static var systemProtectsFiles: Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            true
        #else
            false
        #endif
    }

    /// Converts an `errno` to a store's error.
    init(
        _ code: Int32, during operation: String, isWriting: Bool = false,
        protectsFiles: Bool = TokenStoreError.systemProtectsFiles
    ) {
        switch code {
        case ENOSPC, EDQUOT: self = .diskFull
        case EPERM where protectsFiles && ["open", "read"].contains(operation): self = .locked
        case EROFS: self = .readOnly
        case EACCES where isWriting, EPERM where isWriting: self = .readOnly
        default: self = .system(operation: operation, code: Int(code))
        }
    }
}
