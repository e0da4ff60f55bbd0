import Foundation

/// A body of known length in pieces; files are read while they are sent.
struct BodySegments: Sendable {
    let segments: [Segment]

    let length: Int64

    enum Segment: Sendable {
        case data(Data)
        case file(FileSegment)

        var length: Int64 {
            switch self {
            case .data(let data): Int64(data.count)
            case .file(let file): file.length
            }
        }
    }

    /// Creates a body from its pieces, whose length has to fit into 63 bits.
    init(_ segments: [Segment]) throws(AtomError) {
        var length: Int64 = 0
        for segment in segments {
            let (sum, overflows) = length.addingReportingOverflow(segment.length)
            guard !overflows else {
                throw .requestable(.invalidBody(.init(reason: "the files are too large to be sent together")))
            }
            length = sum
        }
        self.segments = segments
        self.length = length
    }

    /// A new reader; all readers of a body give the same bytes, or fail.
    func makeReader() -> SegmentReader { SegmentReader(segments) }
}

/// Reads a body on one thread at a time, with at most one file open.
final class SegmentReader {
    private var segments: ArraySlice<BodySegments.Segment>
    private var offset: Int64 = 0
    /// The file of the first segment, once something of it was asked for.
    private var file: Descriptor?
    private var failure: AtomError?

    init(_ segments: [BodySegments.Segment]) {
        self.segments = segments[...]
    }

    /// Fills the buffer, which must not be empty, with the next bytes.
    ///
    /// The last bytes of a file are given only after a check that it is still the one
    /// that was noted, so a body from a changed file never looks complete.
    ///
    /// - Returns: How many; fewer than fit only at the end, and 0 behind it.
    /// - Throws: From then on always the same error.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(AtomError) -> Int {
        if let failure { throw failure }
        do {
            var count = 0
            while let segment = segments.first {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                // 32 bits: both are limited by a buffer in memory.
                let wanted = Int(min(Int64(rest.count), segment.length - offset))
                switch segment {
                case .data(let data):
                    // 32 bits: the offset is within the data.
                    let start = data.startIndex + Int(offset)
                    data.copyBytes(to: rest, from: start..<start + wanted)
                case .file(let noted):
                    // A full buffer waits with the next file.
                    if rest.isEmpty { return count }
                    try read(wanted, of: noted, to: rest)
                }
                count += wanted
                offset += Int64(wanted)
                guard offset == segment.length else { return count }
                segments.removeFirst()
                offset = 0
            }
            return count
        } catch {
            close()
            failure = .transfer(error)
            throw .transfer(error)
        }
    }

    func close() {
        segments = []
        file = nil
    }

    /// Reads bytes of the first segment; after the last, its file is checked.
    private func read(
        _ wanted: Int, of noted: FileSegment, to buffer: UnsafeMutableRawBufferPointer
    ) throws(TransferError) {
        let file = try openFile(of: noted)
        let wantedBytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
        guard let count = file.read(into: wantedBytes, at: offset) else { throw Self.unreadable(noted, errno) }
        guard count == wanted else { throw Self.changed(noted, "became shorter") }
        guard offset + Int64(wanted) == noted.length else { return }
        try check(file, noted)
        // Some files of the system have more in them than their length says.
        guard let more = file.read(1, at: noted.length) else { throw Self.unreadable(noted, errno) }
        guard more.isEmpty else { throw Self.changed(noted, "is longer than its length says") }
        self.file = nil
    }

    private func openFile(of noted: FileSegment) throws(TransferError) -> Descriptor {
        if let file { return file }
        guard let file = noted.open(noted.path) else { throw Self.unreadable(noted, errno) }
        try check(file, noted)
        self.file = file
        return file
    }

    private func check(_ file: Descriptor, _ noted: FileSegment) throws(TransferError) {
        guard let status = file.status() else { throw Self.unreadable(noted, errno) }
        guard let state = FileSegment.State(status) else { throw Self.changed(noted, "was replaced") }
        guard state.length <= noted.length else { throw Self.changed(noted, "became longer") }
        guard state.length >= noted.length else { throw Self.changed(noted, "became shorter") }
        guard state == noted.state else { throw Self.changed(noted, "was changed") }
    }

    private static func changed(_ noted: FileSegment, _ event: String) -> TransferError {
        TransferError(
            .bodyLengthChanged,
            """
            The file “\(noted.name)” \(event) after the request was prepared. \
            Send a copy if other code writes to the file.
            """,
            delivery: .maybeSent)
    }

    private static func unreadable(_ noted: FileSegment, _ code: Int32) -> TransferError {
        let explanation =
            switch code {
            case ENOENT, ENOTDIR: "The file “\(noted.name)” was removed before it was sent."
            default: "The file “\(noted.name)” can't be read: \(String(cString: strerror(code)))."
            }
        return TransferError(
            .bodyFailed, explanation, delivery: .maybeSent,
            underlying: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}
