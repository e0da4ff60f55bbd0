import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// What threads can do to the end of an exchange; the rest of the contract is
/// in `TransportContractReportTests`.
@Suite(.limited(minutes: 10)) struct ExchangeEndConcurrencyTests {
    private func request(_ server: LoopbackServer) throws -> TransportRequest {
        try TransportRequest(
            method: "GET", base: BaseURL(scheme: .http, host: server.host, port: server.port), path: URLPath("/x"))
    }

    private func start(
        _ transport: any Transport, _ request: TransportRequest
    ) -> (recorder: EventRecorder, exchange: any TransportExchange) {
        let recorder = EventRecorder()
        return (recorder, transport.start(request) { recorder.receive($0) })
    }

    @Test("Cancelling after the end does nothing", arguments: TransportUnderTest.all)
    func late(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = transport.make()
        let (recorder, exchange) = start(transport, try request(server))
        #expect(await eventually { recorder.terminals > 0 })
        DispatchQueue.concurrentPerform(iterations: 20) { _ in exchange.cancel() }
        let (second, _) = start(transport, try request(server))
        #expect(await eventually { second.terminals > 0 })
        #expect(recorder.violations == [] && recorder.kinds.last == .finished)
        #expect(second.violations == [] && second.kinds.last == .finished)
    }

    @Test("Cancelling as it ends is one end all the same", arguments: TransportUnderTest.all)
    func race(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = transport.make()
        for _ in 0..<300 {
            let recorder = EventRecorder()
            let handle = Locked<(any TransportExchange)?>(nil)
            let exchange = transport.start(try request(server)) { event in
                recorder.receive(event)
                handle.value?.cancel()
            }
            handle.with { $0 = exchange }
            #expect(await eventually { recorder.terminals > 0 })
            #expect(recorder.violations == [])
        }
    }

    @Test("After the end it lets go of its receiver, which may hold it", arguments: TransportUnderTest.all)
    func receiver(over transport: TransportUnderTest) async throws {
        final class Wrapper: Sendable {
            let exchange = Locked<(any TransportExchange)?>(nil)
        }
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = transport.make()
        for isCancelled in [false, true] {
            let hasEnded = Signal()
            func start() throws -> Wrapper {
                let wrapper = Wrapper()
                let exchange = transport.start(try request(server)) { event in
                    _ = wrapper
                    switch event {
                    case .finished, .failed: hasEnded.raise()
                    default: break
                    }
                }
                wrapper.exchange.with { $0 = exchange }
                if isCancelled { exchange.cancel() }
                return wrapper
            }
            weak let wrapper = try start()
            await hasEnded.wait()
            #expect(await eventually { wrapper == nil })
        }
    }

    @Test("Two events at a time are noticed, and one inside cancel")
    func recorder() {
        final class Canceller: TransportExchange {
            let recorder: EventRecorder
            init(_ recorder: EventRecorder) { self.recorder = recorder }
            func cancel() { recorder.receive(.failed(TransportFailure(URLError(.cancelled)))) }
        }
        let inner = Locked<EventRecorder?>(nil)
        let overlapping = EventRecorder { inner.value?.receive(.data(Data())) }
        inner.with { $0 = overlapping }
        overlapping.receive(.response(TransportResponse(statusCode: 200)))
        inner.with { $0 = nil }
        overlapping.receive(.finished)
        #expect(overlapping.violations == ["two events at a time"])
        let cancelled = EventRecorder()
        cancelled.cancel(Canceller(cancelled))
        #expect(cancelled.violations == ["an event inside cancel"])
    }

    @Test("Two threads that send events at the same time are noticed")
    func overlap() {
        let inner = Locked<EventRecorder?>(nil)
        // While this thread receives an event, another one sends the next.
        let recorder = EventRecorder {
            let hasSent = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                inner.value?.receive(.finished)
                hasSent.signal()
            }
            hasSent.wait()
        }
        inner.with { $0 = recorder }
        recorder.receive(.response(TransportResponse(statusCode: 200)))
        inner.with { $0 = nil }
        #expect(recorder.violations == ["two events at a time"])
    }
}
