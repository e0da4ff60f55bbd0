import NIOCore

/// Reports the ends of all exchanges of one event loop turn together, after
/// everything that was read in that turn has been processed.
///
/// An end wakes its awaiting caller on another thread, and makes room for an exchange that is started on this one. If
/// each end were reported separately, the other thread would be asleep again each time.
final class LoopTurn: @unchecked Sendable {
    let loop: any EventLoop
    private let starts: StartOrder
    // Accessed only on `loop`.
    private var ended: [ClientExchange] = []

    init(_ loop: any EventLoop, starts: StartOrder) {
        self.loop = loop
        self.starts = starts
    }

    /// Called on the loop.
    func end(_ exchange: ClientExchange) {
        ended.append(exchange)
        if ended.count == 1 { loop.execute { [self] in tell() } }
    }

    private func tell() {
        let ended = self.ended
        self.ended = []
        starts.holdBack(on: loop) {
            for exchange in ended { exchange.tellEnd() }
        }
    }
}
