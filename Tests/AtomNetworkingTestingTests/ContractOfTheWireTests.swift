import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// What `Transport` demands, asked of the wire itself.
@Suite(.limited)
struct ContractOfTheWireTests {
    /// Notes the events of an exchange, and whether two came at the same time.
    final class Events: @unchecked Sendable {
        private let lock = NSLock()
        private var texts: [String] = []
        private var isInside = false
        private var overlaps = 0
        private var callsInside = 0
        private var continuation: CheckedContinuation<Void, Never>?

        func receive(_ event: TransportEvent) {
            lock.withLock {
                if isInside { overlaps += 1 }
                isInside = true
                if Thread.current === busyThread { callsInside += 1 }
            }
            let waiting = lock.withLock { () -> CheckedContinuation<Void, Never>? in
                texts.append("\(event)")
                isInside = false
                return isOver ? continuation : nil
            }
            waiting?.resume()
        }

        private var busyThread: Thread?
        private var isOver: Bool { texts.last.map { $0 == "finished" || $0.hasPrefix("failed") } ?? false }

        func cancel(_ exchange: any TransportExchange) { watching { exchange.cancel() } }

        /// Counts events inside the call.
        func watching<T>(_ body: () -> T) -> T {
            lock.withLock { busyThread = Thread.current }
            defer { lock.withLock { busyThread = nil } }
            return body()
        }

        var all: [String] { lock.withLock { texts } }
        var violations: Int { lock.withLock { overlaps + callsInside } }

        func end() async {
            await withCheckedContinuation { continuation in
                let hasEnded = lock.withLock {
                    self.continuation = continuation
                    return isOver
                }
                if hasEnded { continuation.resume() }
            }
        }
    }

    private func request() throws -> TransportRequest {
        try TransportRequest(base: BaseURL(host: "api.example.com"), path: URLPath("/x"))
    }

    @Test func nothingHappensInsideStart() async throws {
        let wire = ScriptedTransport([.text("a")])
        let events = Events()
        let request = try request()
        _ = events.watching { wire.start(request) { events.receive($0) } }
        await events.end()
        #expect(events.all == ["response 200", "1 bytes received", "finished"])
        #expect(events.violations == 0)
    }

    @Test func aCancelledExchangeHasOneLastEventAndNotInsideCancel() async throws {
        for _ in 0..<300 {
            let wire = ScriptedTransport([.chunks((0..<20).map { Data([$0]) }), .never])
            let (first, second) = (Events(), Events())
            let one = wire.start(try request()) { first.receive($0) }
            let other = wire.start(try request()) { second.receive($0) }
            first.cancel(one)
            second.cancel(other)
            first.cancel(one)
            await first.end()
            await second.end()
            for events in [first, second] {
                #expect(events.all.filter { $0 == "finished" || $0.hasPrefix("failed") }.count == 1)
                #expect(events.violations == 0)
            }
            await wire.idle()
            #expect(wire.isIdle)
            try? wire.verify()
        }
    }

    @Test func immediateEventsDontOverlapWithACancellation() async throws {
        for _ in 0..<300 {
            let answer = ScriptedResponse.chunks((0..<20).map { Data([$0]) })
            let wire = ScriptedTransport([.delayed(.seconds(1), answer)], delivery: .immediate)
            let events = Events()
            let exchange = wire.start(try request()) { events.receive($0) }
            async let cancelled: Void = { events.cancel(exchange) }()
            wire.clock.advance(by: .seconds(1))
            await cancelled
            await events.end()
            #expect(events.all.filter { $0 == "finished" || $0.hasPrefix("failed") }.count == 1)
            #expect(events.violations == 0)
            await wire.idle()
            #expect(wire.isIdle)
        }
    }
}
