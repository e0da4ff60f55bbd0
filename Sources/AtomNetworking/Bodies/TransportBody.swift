import Foundation

/// The body of a request for a transport.
public enum TransportBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// Bytes that are read while they are sent.
    case stream(TransportBodyStream)

    /// The number of bytes; `nil` if it isn't known before the end.
    public var length: Int64? {
        switch self {
        case .data(let data): Int64(data.count)
        case .stream(let stream): stream.length
        }
    }

    /// The bytes, if they are in memory.
    public var data: Data? { if case .data(let data) = self { data } else { nil } }
}

extension TransportBody {
    /// Whether the body has been read and can't be read again.
    var isSpent: Bool { if case .stream(let stream) = self { stream.isSpent } else { false } }

    /// Whether it is read while it is sent.
    var isStream: Bool { if case .stream = self { true } else { false } }

    /// The whole body, if no file and no stream has to be read for it.
    package var bytesInMemory: Data? {
        switch self {
        case .data(let data): return data
        case .stream(let stream):
            guard case .segments(let body) = stream.source else { return nil }
            var bytes = Data()
            for segment in body.segments {
                guard case .data(let data) = segment else { return nil }
                bytes += data
            }
            return bytes
        }
    }
}

extension TransportBody: CustomStringConvertible, CustomReflectable {
    /// Shows the size; never the content.
    public var description: String { length.map { "\($0) bytes" } ?? "a stream" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

/// A body that is read while it is sent: a file, a form with files, or a stream
/// of the app.
///
/// Read it no faster than it is sent, so that a body of any size takes little
/// memory. A transport that can't do that writes it to a file first.
public struct TransportBodyStream: Sendable {
    enum Source: Sendable {
        case segments(BodySegments)
        case sequence(BodySequence)
    }

    let source: Source

    /// The number of bytes; `nil` if it isn't known before the end.
    ///
    /// A reader gives exactly so many bytes, or fails.
    public let length: Int64?

    /// The file whose content is the whole body, for a transport that sends
    /// files itself; `nil` for any other body.
    public let fileURL: URL?

    init(_ segments: BodySegments, fileURL: URL? = nil) {
        source = .segments(segments)
        length = segments.length
        self.fileURL = fileURL
    }

    init(_ sequence: BodySequence) {
        source = .sequence(sequence)
        length = sequence.length
        fileURL = nil
    }

    var isSpent: Bool { if case .sequence(let sequence) = source { sequence.isSpent } else { false } }

    /// Opens the body for one exchange.
    ///
    /// Each reader gives the same bytes from the beginning. A stream that can be
    /// read only once fails in its second reader.
    public func makeReader() -> TransportBodyReader {
        switch source {
        case .segments(let segments): TransportBodyReader(.segments(segments.makeReader()))
        case .sequence(let sequence): TransportBodyReader(.sequence(sequence.makeReader()))
        }
    }
}

/// Reads a body while a transport sends it.
///
/// One thread at a time uses a reader. It is closed when it is released.
public final class TransportBodyReader: @unchecked Sendable {
    enum Source {
        case segments(SegmentReader)
        case sequence(BodySequenceReader)
    }

    /// The result of one reading.
    public enum Part: Sendable, Hashable {
        /// So many bytes are in the buffer, at least one.
        case bytes(Int)
        /// Nothing can be read yet; ``TransportBodyReader/whenReadable(_:)``
        /// tells when.
        case later
        /// The body is complete.
        case end
    }

    // Used by one thread at a time, as the contract demands.
    private let source: Source

    init(_ source: Source) { self.source = source }

    deinit { close() }

    /// Reads the next bytes into a buffer that isn't empty, and never waits for more.
    ///
    /// - Throws: ``AtomError/transfer(_:)``. End the exchange with this error, in
    ///   a ``TransportFailure``.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(AtomError) -> Part {
        switch source {
        case .segments(let reader):
            let count = try reader.read(into: buffer)
            return count > 0 ? .bytes(count) : .end
        case .sequence(let reader):
            return try reader.read(into: buffer)
        }
    }

    /// Calls the closure once, on any thread, as soon as ``read(into:)`` returns
    /// something else than ``Part/later``; also inside this call.
    public func whenReadable(_ proceed: @escaping @Sendable () -> Void) {
        switch source {
        case .segments: proceed()
        case .sequence(let reader): reader.whenReadable(proceed)
        }
    }

    /// Cancels the task of a stream, so that the thread that reads it ends soon.
    ///
    /// Any thread may call it.
    func interrupt() {
        if case .sequence(let reader) = source { reader.close() }
    }

    /// Closes files, and cancels the task of a stream.
    ///
    /// It may be called several times.
    public func close() {
        switch source {
        case .segments(let reader): reader.close()
        case .sequence(let reader): reader.close()
        }
    }
}
