import FlyingSocks
import Foundation

/// Disables Nagle's algorithm on every socket of FlyingFox.
///
/// FlyingFox writes the head and the body of a response separately and has no
/// option for this. With the algorithm, each response on a kept-alive
/// connection waits for the client's delayed acknowledgement, about 40 ms. The
/// listening socket is set before any connection is accepted, and accepted
/// sockets inherit the option on Linux.
struct NoDelaySocketPool: AsyncSocketPool {
    let base: any AsyncSocketPool

    func prepare() async throws {
        try await base.prepare()
    }

    func run() async throws {
        try await base.run()
    }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
