import AsyncHTTPClient
import Foundation
import NIOCore

extension HTTPClient.Body {
    /// The size of the parts of a large body: small enough to report progress
    /// within any timeout.
    private static let partSize = 128 << 10

    /// Bytes that are copied part by part, as fast as the connection accepts
    /// them.
    static func data(_ data: Data) -> Self {
        guard data.count > partSize else { return .byteBuffer(ByteBuffer(bytes: data)) }
        return .stream(contentLength: Int64(data.count)) { writer in
            RequestBytes(data, partSize: partSize, writer: writer).writeAll()
        }
    }
}

/// The rest of a body that is being written.
///
/// `rest` is accessed only on the task's event loop, where AsyncHTTPClient
/// requests a body and completes its writes.
private final class RequestBytes: @unchecked Sendable {
    private var rest: Data
    private let partSize: Int
    private let writer: HTTPClient.Body.StreamWriter

    init(_ data: Data, partSize: Int, writer: HTTPClient.Body.StreamWriter) {
        rest = data
        self.partSize = partSize
        self.writer = writer
    }

    func writeAll() -> EventLoopFuture<Void> {
        let written = writePart()
        let done = written.eventLoop.makePromise(of: Void.self)
        proceed(after: written, done)
        return done.futureResult
    }

    private func writePart() -> EventLoopFuture<Void> {
        let part = rest.prefix(partSize)
        rest = rest.dropFirst(partSize)
        return writer.write(.byteBuffer(ByteBuffer(bytes: part)))
    }

    private func proceed(after written: EventLoopFuture<Void>, _ done: EventLoopPromise<Void>) {
        written.whenComplete { [self] result in
            guard case .success = result, !rest.isEmpty else { return done.completeWith(result) }
            // Not inside the previous write: over HTTP/2 writes complete at
            // once, and the stack would grow.
            done.futureResult.eventLoop.execute { [self] in proceed(after: writePart(), done) }
        }
    }
}
