import AsyncHTTPClient
import AtomNetworking
import Foundation
import NIOCore

/// Writes a body part by part, each when the connection has taken the last one.
///
/// AsyncHTTPClient asks for the body once for each connection that it tries.
final class RequestStream: @unchecked Sendable {
    /// The largest part: small enough to report progress within any timeout.
    private static let partSize = 128 << 10

    private let body: TransportBody
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var reader: TransportBodyReader?
    private var isClosed = false

    /// `nil` for bytes in memory that are one part.
    init?(_ body: TransportBody) {
        if let data = body.data, data.count <= Self.partSize { return nil }
        self.body = body
    }

    /// The body in AsyncHTTPClient's form.
    var clientBody: HTTPClient.Body {
        .stream(contentLength: body.length) { [self] writer in write(to: writer) }
    }

    /// Ends the reading, also of a stream that waits for its next part.
    ///
    /// It is called on the event loop of the exchange, like everything that reads.
    func close() {
        let reader = lock.withLock {
            isClosed = true
            defer { self.reader = nil }
            return self.reader
        }
        reader?.close()
    }

    private func write(to writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
        let reader = body.makeReader()
        let isClosed = lock.withLock {
            self.reader = reader
            return self.isClosed
        }
        if isClosed { reader.close() }
        // An empty part tells the loop, and what comes next is not inside this call.
        let written = writer.write(.byteBuffer(ByteBuffer()))
        let done = written.eventLoop.makePromise(of: Void.self)
        proceed(after: written, reader, writer, done)
        return done.futureResult
    }

    private func proceed(
        after written: EventLoopFuture<Void>, _ reader: TransportBodyReader, _ writer: HTTPClient.Body.StreamWriter,
        _ done: EventLoopPromise<Void>
    ) {
        written.whenComplete { [self] result in
            guard case .success = result else { return done.completeWith(result) }
            // Not inside the previous write: where writes complete at once, the stack would grow.
            written.eventLoop.execute { [self] in writePart(reader, writer, done) }
        }
    }

    private func writePart(
        _ reader: TransportBodyReader, _ writer: HTTPClient.Body.StreamWriter, _ done: EventLoopPromise<Void>
    ) {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.partSize)
        do {
            var count: Int?
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.partSize) { bytes in
                count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(Self.partSize)))
                return count ?? 0
            }
            switch count {
            case nil:
                done.succeed()
            case 0:
                let loop = done.futureResult.eventLoop
                reader.whenReadable { loop.execute { [self] in writePart(reader, writer, done) } }
            default:
                proceed(after: writer.write(.byteBuffer(buffer)), reader, writer, done)
            }
        } catch {
            done.fail(error)
        }
    }
}
