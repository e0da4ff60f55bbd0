import Foundation

/// The body of a request for a transport: bytes in memory, a file, a form with files, or a stream of the app.
///
/// What isn't in memory is read while it is sent. Read it no faster, so that a body of any size takes little memory. A
/// transport that can't do that writes it to a file first.
public struct TransportBody: Sendable {
    enum Source: Sendable {
        case data(Data)
        case segments(BodySegments)
        case sequence(BodySequence)
    }

    let source: Source

    /// The file whose content is the whole body, for a transport that sends files itself; `nil` for any other body.
    public let fileURL: URL?

    private init(source: Source, fileURL: URL? = nil) {
        self.source = source
        self.fileURL = fileURL
    }

    init(_ segments: BodySegments, fileURL: URL? = nil) { self.init(source: .segments(segments), fileURL: fileURL) }

    init(_ sequence: BodySequence) { self.init(source: .sequence(sequence)) }

    static func data(_ bytes: Data) -> TransportBody { TransportBody(source: .data(bytes)) }

    /// The number of bytes; `nil` if it isn't known before the end.
    ///
    /// A reader gives exactly so many bytes, or fails.
    public var length: Int64? {
        switch source {
        case .data(let data): Int64(data.count)
        case .segments(let segments): segments.length
        case .sequence(let sequence): sequence.length
        }
    }

    /// The bytes, if they are in memory; `nil` for a body that is read while it is sent.
    public var data: Data? { if case .data(let data) = source { data } else { nil } }

    /// Opens the body for one exchange.
    ///
    /// Each reader gives the same bytes from the beginning. A stream that can be
    /// read only once fails in its second reader.
    public func makeReader() -> TransportBodyReader {
        switch source {
        case .data(let data): TransportBodyReader(.segments(SegmentReader([.data(data)])))
        case .segments(let segments): TransportBodyReader(.segments(segments.makeReader()))
        case .sequence(let sequence): TransportBodyReader(.sequence(sequence.makeReader()))
        }
    }
}

extension TransportBody {
    /// Whether the body has been read and can't be read again.
    var isSpent: Bool { if case .sequence(let sequence) = source { sequence.isSpent } else { false } }

    /// Whether it is read while it is sent.
    var isStream: Bool { if case .data = source { false } else { true } }

    /// The whole body, if no file and no stream has to be read for it.
    package var bytesInMemory: Data? {
        switch source {
        case .data(let data): return data
        case .sequence: return nil
        case .segments(let body):
            var bytes = Data()
            for segment in body.segments {
                guard case .data(let data) = segment else { return nil }
                bytes += data
            }
            return bytes
        }
    }
}

extension TransportBody: Redacted {
    /// Shows the size; never the content.
    public var description: String { length.map { "\($0) bytes" } ?? "a stream" }
}

/// Reads a body while a transport sends it.
///
/// One thread at a time uses a reader. It is closed when it is released.
public final class TransportBodyReader: @unchecked Sendable {
    enum Source {
        case segments(SegmentReader)
        case sequence(BodySequenceReader)
    }

    // Used by one thread at a time, as the contract demands.
    private let source: Source

    init(_ source: Source) { self.source = source }

    deinit { close() }

    /// Reads the next bytes into a buffer that isn't empty, and never waits for more.
    ///
    /// - Returns: How many bytes are in the buffer. With 0 nothing can be read yet,
    ///   and ``whenReadable(_:)`` tells when; `nil` is the end of the body.
    /// - Throws: ``AtomError/transfer(_:)``. End the exchange with this error, in a ``TransportFailure``.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(AtomError) -> Int? {
        switch source {
        case .segments(let reader):
            let count = try reader.read(into: buffer)
            return count > 0 ? count : nil
        case .sequence(let reader):
            return try reader.read(into: buffer)
        }
    }

    /// Calls the closure once, on any thread, as soon as ``read(into:)`` returns anything but 0; also inside this call.
    public func whenReadable(_ proceed: @escaping @Sendable () -> Void) {
        switch source {
        case .segments: proceed()
        case .sequence(let reader): reader.whenReadable(proceed)
        }
    }

    /// Cancels the task of a stream, from any thread, so that the one that reads it ends soon.
    func interrupt() { if case .sequence(let reader) = source { reader.close() } }

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
