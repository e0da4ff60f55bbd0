import NIOCore
import NIOPosix

/// A server that answers as soon as the first bytes have come, and goes on reading.
struct EarlyAnswer {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let wire: String
        private var hasAnswered = false

        init(_ wire: String) {
            self.wire = wire
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasAnswered else { return }
            hasAnswered = true
            context.writeAndFlush(NIOAny(ByteBuffer(string: wire)), promise: nil)
        }
    }

    private let channel: any Channel

    init(_ wire: String) throws {
        channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(wire))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    func close() { channel.close(promise: nil) }
}
