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
    ///   - size: Where to go on; what follows is cut off. The file has to exist,
    ///     and must not be shorter.
    ///   - isKept: Whether a later download may go on with it. Then its name is
    ///     always the same.
    ///   - mode: Who may use it, as far as the process lets others.
    ///   - prepare: Called when no other download can use the file, before it is
    ///     changed.
    init(
        _ path: String, size: Int64, isKept: Bool, mode: mode_t, prepare: () throws(AtomError) -> Void
    ) throws(AtomError) {
        let flags = O_RDWR | (size > 0 ? 0 : O_CREAT) | (isKept ? 0 : O_EXCL)
        guard let descriptor = Descriptor(path, flags, mode: mode) else {
            throw Self.failure(errno, size > 0 ? "opened" : "created", path)
        }
        let isFree: Bool? = try? descriptor.tryLock()
        // Until it was locked, another download may have moved or removed it.
        guard isFree != false, Self.isNamed(path, descriptor) else {
            throw DownloadPlace.unusable(
                "another download writes “\(DownloadPlace.name(of: path))”", delivery: .answered)
        }
        guard size == 0 || Self.status(of: descriptor).map({ Int64($0.st_size) >= size }) == true else {
            throw DownloadPlace.unusable(
                "“\(DownloadPlace.name(of: path))” was changed during the request", delivery: .answered)
        }
        try prepare()
        guard let end = off_t(exactly: size) else { throw Self.failure(EFBIG, "written", path) }
        guard uninterrupted({ ftruncate(descriptor.number, end) }) == 0 else {
            throw Self.failure(errno, "written", path)
        }
        self.path = path
        self.descriptor = descriptor
        self.isKept = isKept
        state = Guarded(State(size: size))
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

    /// Whether the file has these bytes at this place.
    func holds(_ part: Data, at offset: Int64) -> Bool {
        guard let place = off_t(exactly: offset) else { return false }
        var bytes = [UInt8](repeating: 0, count: part.count)
        // A file of the disk reads short only at its end.
        let count = uninterrupted { pread(descriptor.number, &bytes, bytes.count, place) }
        return count == part.count && part.elementsEqual(bytes)
    }

    /// Leaves the file for a later download, or removes it.
    ///
    /// - Parameter isUseless: Whether no later download can go on with it.
    /// - Returns: Whether there is a file for a later download.
    @discardableResult
    func giveUp(isUseless: Bool = false) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return isKept && state.size > 0 }
            state.isOver = true
            let remains = isKept && state.size > 0 && !isUseless
            if !remains { unlink(path) }
            descriptor.unlock()
            return remains
        }
    }

    /// Moves the file to its destination, in place of what is there.
    ///
    /// - Parameter mode: Who may use it; `nil` for those who may already.
    func move(to destination: String, mode: mode_t?) throws(AtomError) {
        let code = state.withLock { state -> Int32 in
            guard !state.isOver else { return ECANCELED }
            guard Self.isNamed(path, descriptor) else { return ENOENT }
            // A file system without modes refuses it, and nobody misses them there.
            if let mode { _ = fchmod(descriptor.number, mode) }
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
