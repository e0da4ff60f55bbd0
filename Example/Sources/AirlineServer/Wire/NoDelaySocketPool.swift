import FlyingSocks
import Foundation

/// Switches Nagle's algorithm off on every socket that FlyingFox waits for.
///
/// FlyingFox writes an answer's head and body separately and has no option
/// for it; with the algorithm on, each answer on a kept connection waits for
/// the client's delayed acknowledgement, about 40 ms. The listening socket
/// waits before any connection is accepted, and accepted sockets inherit the
/// option from it on Linux.
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
