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

/// The file that a download is written to, beside its destination.
///
/// Unless it has been moved, it is closed or removed when it is released.
final class DownloadFile: Sendable {
    private struct State {
        var size: Int64
        /// Whether nothing may be written any more: another download may.
        var isOver = false
    }

    private let path: String
    private let descriptor: Descriptor
    private let state: Guarded<State>
    /// Whether a later download may go on with it.
    let isKept: Bool

    /// The bytes that have been written.
    var size: Int64 { state.withLock { $0.size } }

    /// Opens the file to go on, or creates it.
    ///
    /// - Parameters:
    ///   - offset: Where to go on; what follows is cut off. The file has to
    ///     exist, and to be longer.
    ///   - isKept: Whether a later download may go on with it. Then its name is
    ///     always the same.
    ///   - prepare: Called when no other download can use the file, before it is
    ///     changed.
    init(
        _ path: String, offset: Int64, isKept: Bool, prepare: () throws(AtomError) -> Void
    ) throws(AtomError) {
        let flags = O_RDWR | (offset > 0 ? 0 : O_CREAT) | (isKept ? 0 : O_EXCL)
        guard let descriptor = Descriptor(path, flags, mode: 0o666) else {
            throw Self.failure(errno, offset > 0 ? "opened" : "created", path)
        }
        let isFree: Bool? = try? descriptor.tryLock()
        // Until it was locked, another download may have moved or removed it.
        guard isFree != false, Self.isNamed(path, descriptor) else {
            throw DownloadPlace.unusable(
                "another download writes “\(DownloadPlace.name(of: path))”", delivery: .answered)
        }
        guard offset == 0 || Self.status(of: descriptor).map({ Int64($0.st_size) > offset }) == true else {
            throw DownloadPlace.unusable(
                "“\(DownloadPlace.name(of: path))” was changed during the request", delivery: .answered)
        }
        try prepare()
        guard let end = off_t(exactly: offset) else { throw Self.failure(EFBIG, "written", path) }
        guard uninterrupted({ ftruncate(descriptor.number, end) }) == 0 else {
            throw Self.failure(errno, "written", path)
        }
        self.path = path
        self.descriptor = descriptor
        self.isKept = isKept
        state = Guarded(State(size: offset))
    }

    deinit { giveUp() }

    /// Adds a part, unless the file has been given up.
    func append(_ part: Data) throws(AtomError) {
        let code = state.withLock { state -> Int32 in
            guard !state.isOver else { return 0 }
            let code = writeAll(of: part, to: descriptor.number, at: state.size)
            if code == 0 { state.size += Int64(part.count) }
            return code
        }
        guard code == 0 else { throw Self.failure(code, "written", path) }
    }

    /// Leaves the file for a later download, or removes it.
    ///
    /// - Returns: Whether there is a file for a later download.
    @discardableResult
    func giveUp() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return isKept && state.size > 0 }
            state.isOver = true
            let remains = isKept && state.size > 0
            if !remains { unlink(path) }
            descriptor.unlock()
            return remains
        }
    }

    /// Moves the file to its destination, in place of what is there.
    func move(to destination: String) throws(AtomError) {
        let code = state.withLock { state -> Int32 in
            guard !state.isOver else { return ECANCELED }
            guard Self.isNamed(path, descriptor) else { return ENOENT }
            guard rename(path, destination) == 0 else { return errno }
            state.isOver = true
            return 0
        }
        guard code == 0 else { throw Self.failure(code, "moved to its destination", path) }
    }

    private static func status(of descriptor: Descriptor) -> stat? {
        var status = stat()
        return fstat(descriptor.number, &status) == 0 ? status : nil
    }

    /// Whether the path still names the open file.
    private static func isNamed(_ path: String, _ descriptor: Descriptor) -> Bool {
        var named = stat()
        guard lstat(path, &named) == 0, let opened = status(of: descriptor) else { return false }
        return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
    }

    private static func failure(_ code: Int32, _ action: String, _ path: String) -> AtomError {
        let isFull = code == ENOSPC || code == EDQUOT
        let words = isFull ? "the disk has no space left" : String(cString: strerror(code))
        return .transfer(
            TransferError(
                isFull ? .noSpace : .writingFailed,
                "The file “\(DownloadPlace.name(of: path))” could not be \(action): \(words).", delivery: .answered,
                underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) }))
    }
}
