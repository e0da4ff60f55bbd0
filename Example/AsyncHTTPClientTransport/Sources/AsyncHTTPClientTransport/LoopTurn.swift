import NIOCore

/// Tells of all exchanges that end in one turn of an event loop together, once
/// everything that was read in that turn has been dealt with.
///
/// An end wakes whoever awaits it, on another thread, and makes room for an
/// exchange that is started on this one. One after the other, each end would
/// find the other thread asleep again.
final class LoopTurn: @unchecked Sendable {
    let loop: any EventLoop
    private let starts: StartOrder
    // Touched on `loop` only.
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
