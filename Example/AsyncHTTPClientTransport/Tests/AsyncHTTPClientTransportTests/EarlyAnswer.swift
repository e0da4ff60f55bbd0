import NIOCore
import NIOPosix

/// A server that responds as soon as the first bytes of a request have arrived,
/// and then continues or stops reading.
///
/// Bodies must consist of zeros.
struct EarlyAnswer {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let wire: String
        private let readsOn: Bool

        init(_ wire: String, readsOn: Bool) {
            self.wire = wire
            self.readsOn = readsOn
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            guard bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) != 0 else { return }
            if !readsOn { context.channel.setOption(.autoRead, value: false).whenFailure { _ in } }
            context.writeAndFlush(NIOAny(ByteBuffer(string: wire)), promise: nil)
        }
    }

    private let channel: any Channel

    init(_ wire: String, readsOn: Bool = true) throws {
        channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(wire, readsOn: readsOn))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    func close() { channel.close(promise: nil) }
}
