import Foundation
import NIOCore

/// Passes exchanges to AsyncHTTPClient in the order in which they were started.
///
/// If an event loop starts an exchange while it reports ends, the exchange waits until all ends have been reported.
/// Exchanges that are started in the meantime, on any thread, wait behind it.
final class StartOrder: @unchecked Sendable {
    // All properties are accessed only under `lock`. While exchanges wait, a loop is reporting ends or starting them.
    private let lock = NSLock()
    private var waiting: [ClientExchange] = []
    /// The loops that are reporting ends.
    private var telling: [any EventLoop] = []
    /// Whether a loop is starting the waiting exchanges.
    ///
    /// Others leave this to it; otherwise two exchanges could change places.
    private var isDraining = false

    func start(_ exchange: ClientExchange) {
        let waits = lock.withLock {
            guard isDraining || !waiting.isEmpty || telling.contains(where: \.inEventLoop) else { return false }
            waiting.append(exchange)
            return true
        }
        if !waits { exchange.start() }
    }

    /// Runs the body on its event loop, and then starts the exchanges that the body added.
    func holdBack(on loop: any EventLoop, _ body: () -> Void) {
        lock.withLock { telling.append(loop) }
        body()
        let drains = lock.withLock {
            telling.removeAll { $0 === loop }
            guard !isDraining, !waiting.isEmpty else { return false }
            isDraining = true
            return true
        }
        if drains { drain(on: loop) }
    }

    private func drain(on loop: any EventLoop) {
        let batch = lock.withLock {
            defer { waiting = [] }
            return waiting
        }
        for exchange in batch { exchange.start() }
        let goesOn = lock.withLock {
            // Other threads may keep adding: a reporting loop takes over, or the loop first serves its connections.
            isDraining = telling.isEmpty && !waiting.isEmpty
            return isDraining
        }
        if goesOn { loop.execute { [self] in drain(on: loop) } }
    }
}
