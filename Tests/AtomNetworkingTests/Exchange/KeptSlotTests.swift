import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Slots that a response frees", .limited)
struct LearnedSlotTests {
    @Test("Slots that a response frees are granted after the session knows of a rejected token")
    func rejected() async throws {
        let session = try SessionFixture(exchangesPerOrigin: 1)
        let calls = (0..<3).map { session.call("/\($0)") }
        // Over HTTP/2: the others need not wait any more.
        let head = TransportResponse(statusCode: 401, exchangesPerOrigin: 100)
        session.sent[0].send(.response(head))
        session.sent[0].send(.finished)
        await session.refresh().grant(1)
        for index in 1...3 { await session.transport.exchange(index + 1).answer() }
        for call in calls { #expect(await call.status() == 200) }
        #expect(session.sent.map(\.token) == ["A0", "A1", "A1", "A1"])
    }
}

@Suite("A slot that a request keeps while it asks the session", .limited)
struct KeptSlotTests {
    /// Stops the thread that has created it once, in `now`, as soon as a condition holds.
    private final class StoppingClock: TimeSource {
        private let clock: ManualClock
        private let thread = ObjectIdentifier(Thread.current)
        private let stop = Locked<(() -> Bool)?>(nil)
        private let goOn = DispatchSemaphore(value: 0)

        init(_ clock: ManualClock) { self.clock = clock }

        var now: MonotonicInstant {
            if ObjectIdentifier(Thread.current) == thread, let condition = stop.value, condition() {
                stop.set(nil)
                #expect(goOn.wait(timeout: .now() + 240) == .success)
            }
            return clock.now
        }

        var date: Date { clock.date }

        func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { clock.makeAlarm(ring: ring) }

        func stop(when condition: @escaping () -> Bool) { stop.set(condition) }

        func release() { goOn.signal() }
    }

    private struct Hearing: RequestObserver {
        func observe(_ event: RequestEvent) {}
    }

    @Test("A kept slot is given back where it was taken, even if the request has left that origin")
    func redirectedMeanwhile() async throws {
        let time = ManualClock()
        let clock = StoppingClock(time)
        let session = try SessionFixture(
            lifetime: -1, time: time,
            script: { exchange in
                switch exchange.request.target.host {
                case "auth.example.com": exchange.grant(1)
                case "api.example.com": exchange.redirect(to: "https://other.example.com/y")
                default: clock.release()
                }
            },
            change: { $0.observers = [Hearing()] })
        let atom = Atom(session.configuration, time: clock)
        let guarded = try #require(atom.manager.session?.gate)
        // The session has queued the request, and the exchange hasn't heard of that.
        clock.stop { guarded.with { !$0.waiters.isEmpty } }
        let call = Call()
        call.keep(atom.enqueue(PathEndpoint()).resume { call.heard($0) })
        await session.transport.exchange(2).answer()
        #expect(await call.outcome().response?.statusCode == 200)
        #expect(await eventually { atom.manager.slots.counts == (0, 0) })
    }
}
