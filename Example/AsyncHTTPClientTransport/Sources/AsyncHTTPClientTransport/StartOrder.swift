import Foundation
import NIOCore

/// Hands exchanges to AsyncHTTPClient in the order in which they were started.
///
/// What an event loop starts while it tells of ends waits until it has told of
/// all of them. What is started meanwhile, on any thread, waits behind it.
final class StartOrder: @unchecked Sendable {
    // All of it is touched under `lock` only. While something waits, a loop is telling or one is draining.
    private let lock = NSLock()
    private var waiting: [ClientExchange] = []
    /// The loops that are telling of ends.
    private var telling: [any EventLoop] = []
    /// Whether a loop is handing over what waits; everyone else leaves it to
    /// that loop, or two exchanges could change places.
    private var isDraining = false

    func start(_ exchange: ClientExchange) {
        let waits = lock.withLock {
            guard isDraining || !waiting.isEmpty || telling.contains(where: \.inEventLoop) else { return false }
            waiting.append(exchange)
            return true
        }
        if !waits { exchange.start() }
    }

    /// Runs the body on its event loop, and then starts what the body started.
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
            // Others may keep adding: whoever is telling takes over, or the loop sees to its connections first.
            isDraining = telling.isEmpty && !waiting.isEmpty
            return isDraining
        }
        if goesOn { loop.execute { [self] in drain(on: loop) } }
    }
}
