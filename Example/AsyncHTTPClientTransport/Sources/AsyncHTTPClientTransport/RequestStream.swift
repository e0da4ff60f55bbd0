import AsyncHTTPClient
import AtomNetworking
import NIOCore

extension HTTPClient.Body {
    /// The body in AsyncHTTPClient's form.
    init(_ body: TransportBody) {
        switch body {
        case .data(let data):
            self = .data(data)
        case .stream(let stream):
            self = .stream(contentLength: stream.length) { writer in
                RequestStream(stream, to: writer).start()
            }
        }
    }
}

/// Writes a body part by part, each when the connection has taken the last one.
private final class RequestStream: Sendable {
    /// The largest part.
    private static let partSize = 128 << 10

    private let reader: TransportBodyReader
    private let writer: HTTPClient.Body.StreamWriter

    init(_ body: TransportBodyStream, to writer: HTTPClient.Body.StreamWriter) {
        reader = body.makeReader()
        self.writer = writer
    }

    /// Called on the event loop of the exchange.
    func start() -> EventLoopFuture<Void> {
        // Every write returns a future of the loop, so the first one is empty.
        writer.write(.byteBuffer(ByteBuffer())).flatMapWithEventLoop { _, loop in self.proceed(on: loop) }
            .always { [reader] _ in reader.close() }
    }

    private func proceed(on loop: any EventLoop) -> EventLoopFuture<Void> {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.partSize)
        do {
            var part = TransportBodyReader.Part.end
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.partSize) { bytes in
                part = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(Self.partSize)))
                if case .bytes(let count) = part { return count }
                return 0
            }
            switch part {
            case .end:
                return loop.makeSucceededVoidFuture()
            case .bytes:
                return writer.write(.byteBuffer(buffer)).flatMap { self.proceed(on: loop) }
            case .later:
                let promise = loop.makePromise(of: Void.self)
                reader.whenReadable { promise.succeed() }
                return promise.futureResult.flatMap { self.proceed(on: loop) }
            }
        } catch {
            return loop.makeFailedFuture(error)
        }
    }
}
