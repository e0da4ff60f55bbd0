import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A response goes to a disk, or to an observer, that doesn't take it.
@Suite(.limited) struct StalledDiskTests {
    private let gate = Gate()
    private let isAsked = Signal()
    private let time = ManualClock()

    private func server() throws -> LoopbackServer {
        try LoopbackServer { $0.path == "/file" ? .text(String(repeating: "x", count: 100_000)) : .text("") }
    }

    /// Takes each part when the gate opens.
    private final class Disk: ResponseDestination {
        private let gate: Gate
        private let isAsked: Signal

        init(_ gate: Gate, _ isAsked: Signal) { (self.gate, self.isAsked) = (gate, isAsked) }

        func willSend(_ attempt: Attempt, by pass: Pass, cookie: String?) -> [HeaderItem]? { [] }
        func takes(_ statusCode: Int, isAcceptable: Bool) -> Bool { isAcceptable }
        var asksAgain: Bool { false }
        func revoke() -> Bool { false }
        func sink(for head: AtomResponse, of attempt: AttemptOnWire) -> any ResponseSink {
            Sink(gate: gate, isAsked: isAsked)
        }

        private struct Sink: ResponseSink {
            let gate: Gate
            let isAsked: Signal

            func receive(_ part: Data) {
                isAsked.raise()
                gate.wait()
            }

            func finish() -> Data { Data() }
            func abandon() {}
        }
    }

    @Test(
        "A disk that stalls for 40 seconds times out neither its own response nor a hundred beside it",
        arguments: TransportUnderTest.all)
    func noTimeout(over transport: TransportUnderTest) async throws {
        let server = try server()
        defer {
            server.stop()
            gate.open()
        }
        let atom = Atom.forTest(over: transport, request: 10, time: time)
        let download = Call()
        let exchange = atom.manager.run(
            try atom.manager.prepare(server.endpoint("/file")), listener: .completion({ download.heard($0) }),
            destination: Disk(gate, isAsked))
        await isAsked.wait()
        for _ in 0..<8 {
            let calls = (0..<13).map { _ in atom.call(server.endpoint()) }
            for call in calls { #expect(await call.status() == 200) }
            time.advance(by: .seconds(5))
        }
        gate.open()
        #expect(await download.status() == 200)
        #expect(exchange.delivery == .answered)
    }

    /// Holds up the response of one path when its head has come.
    private struct SlowObserver: RequestObserver {
        let gate: Gate
        let isAsked: Signal

        func observe(_ event: RequestEvent) {
            guard case .answered = event.kind, event.request?.url.hasSuffix("/file") == true else { return }
            isAsked.raise()
            gate.wait()
        }
    }

    @Test(
        "An observer that takes 40 seconds times out neither its own response nor others",
        arguments: TransportUnderTest.all)
    func slowObserver(over transport: TransportUnderTest) async throws {
        let server = try server()
        defer {
            server.stop()
            gate.open()
        }
        let atom = Atom.forTest(over: transport, request: 10, time: time) {
            $0.observers = [SlowObserver(gate: gate, isAsked: isAsked)]
        }
        let slow = atom.call(server.endpoint("/file"))
        await isAsked.wait()
        for _ in 0..<8 {
            #expect(await atom.call(server.endpoint()).status() == 200)
            time.advance(by: .seconds(5))
        }
        gate.open()
        #expect(await slow.status() == 200)
    }
}
