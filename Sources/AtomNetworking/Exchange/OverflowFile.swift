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

/// Parts of a body that a reader has not taken, in a temporary file without a
/// name.
///
/// It is used under the lock of its stream.
final class OverflowFile: @unchecked Sendable {
    // Used under the lock of its stream.
    private let number: Int32
    private var written: Int64 = 0
    private var taken: Int64 = 0

    init() throws(AtomError) {
        var path = Array((NSTemporaryDirectory() + "/AtomNetworking.XXXXXX").utf8CString)
        let number = mkstemp(&path)
        guard number >= 0 else { throw Self.failure(errno) }
        self.number = number
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        unlink(path)
    }

    deinit { _ = close(number) }

    func append(_ part: Data) throws(AtomError) {
        let code = writeAll(of: part, to: number, at: written)
        guard code == 0 else { throw Self.failure(code) }
        written += Int64(part.count)
    }

    /// The next part, or `nil` if all has been read.
    func read() throws(AtomError) -> Data? {
        guard taken < written else { return nil }
        // 32 bits: it is at most 64 KiB.
        var part = Data(count: Int(min(written - taken, 64 << 10)))
        guard let place = off_t(exactly: taken) else { throw Self.failure(EFBIG) }
        let count = part.withUnsafeMutableBytes { bytes in
            uninterrupted { pread(number, bytes.baseAddress, bytes.count, place) }
        }
        guard count > 0 else { throw Self.failure(count < 0 ? errno : EIO) }
        taken += Int64(count)
        return part.prefix(count)
    }

    private static func failure(_ code: Int32) -> AtomError {
        .transfer(
            TransferError(
                code == ENOSPC || code == EDQUOT ? .noSpace : .writingFailed,
                "A stream that isn't read fast enough could not be kept in a temporary file: "
                    + "\(String(cString: strerror(code))).",
                delivery: .answered, underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) }))
    }
}
