import Foundation

/// Parts of a body that a reader has not taken, in a temporary file without a name.
struct OverflowFile {
    private let file: Descriptor
    private var written: Int64 = 0
    private var taken: Int64 = 0

    init() throws(AtomError) {
        let path = NSTemporaryDirectory() + "/AtomNetworking.\(UUID().uuidString)"
        guard let file = Descriptor(path, O_RDWR | O_CREAT | O_EXCL) else { throw Self.failure(errno) }
        unlink(path)
        self.file = file
    }

    mutating func append(_ part: Data) throws(AtomError) {
        guard file.write(part, at: written) else { throw Self.failure(errno) }
        written += Int64(part.count)
    }

    /// The next part, or `nil` if all has been read.
    mutating func read() throws(AtomError) -> Data? {
        guard taken < written else { return nil }
        // 32 bits: it is at most 64 KiB.
        guard let part = file.read(Int(min(written - taken, 64 << 10)), at: taken) else { throw Self.failure(errno) }
        guard !part.isEmpty else { throw Self.failure(EIO) }
        taken += Int64(part.count)
        if taken == written, file.truncate(to: 0) { (taken, written) = (0, 0) }
        return part
    }

    private static func failure(_ code: Int32) -> AtomError {
        .transfer(
            TransferError("A stream that isn't read fast enough could not be kept in a temporary file", writing: code))
    }
}
