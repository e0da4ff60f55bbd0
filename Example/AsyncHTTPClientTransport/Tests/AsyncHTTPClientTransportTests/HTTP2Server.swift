import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A server for HTTP/2 over TLS, with a self-made certificate for `localhost`.
///
/// `/echo` sends the body back, `/reset` resets the stream, `/hang` does nothing.
final class HTTP2Server: Sendable {
    struct Request: Sendable {
        let path: String
        let version: String
        let connection: Int
    }

    struct SetupError: Error {}

    let certificate: NIOSSLCertificate
    let port: Int

    private let listener: any Channel
    private let log: Log

    init() throws {
        let (certificate, key) = try Self.makeCertificate()
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let log = Log()
        listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let connection = log.accept()
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
                        mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                            try stream.pipeline.syncOperations.addHandler(Handler(log, connection: connection))
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        self.certificate = certificate
        port = listener.localAddress?.port ?? 0
        self.log = log
    }

    var requests: [Request] { log.requests }
    var connections: Int { log.connections }

    func stop() { listener.close(promise: nil) }

    private static func makeCertificate() throws -> (NIOSSLCertificate, NIOSSLPrivateKey) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = folder.appendingPathComponent("key.pem").path
        let certificate = folder.appendingPathComponent("certificate.pem").path
        guard let path = OpenSSL.path else { throw SetupError() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
            "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard let made = try NIOSSLCertificate.fromPEMFile(certificate).first else { throw SetupError() }
        return (made, try NIOSSLPrivateKey(file: key, format: .pem))
    }
}

extension HTTP2Server {
    /// The events so far.
    private final class Log: @unchecked Sendable {
        // Accessed only under `lock`.
        private let lock = NSLock()
        private var received: [Request] = []
        private var accepted = 0

        var requests: [Request] { lock.withLock { received } }
        var connections: Int { lock.withLock { accepted } }

        func accept() -> Int {
            lock.withLock {
                defer { accepted += 1 }
                return accepted
            }
        }

        func note(_ request: Request) {
            lock.withLock { received.append(request) }
        }
    }

    /// Answers one stream.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let log: Log
        private let connection: Int
        private var path = ""
        private var body = ByteBuffer()

        init(_ log: Log, connection: Int) {
            self.log = log
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                path = head.uri
                log.note(Request(path: path, version: head.version.description, connection: connection))
            case .body(var part):
                body.writeBuffer(&part)
            case .end:
                answer(context)
            }
        }

        private func answer(_ context: ChannelHandlerContext) {
            switch path {
            case "/hang": break
            case "/reset":
                // Closing a stream before its end resets it.
                context.close(promise: nil)
            default:
                let head = HTTPResponseHead(version: .http2, status: .ok)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                // NIOHTTP2 loses the end of a stream after an empty part.
                if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
