import Foundation
import LoopbackServer
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    /// Exchanges that are started while others are on the wire.
    @Suite("Where exchanges are started", .serialized)
    struct StartQueueConcurrencyTests {
        private let transport = URLSessionTransport()
        private let server: LoopbackServer
        private let answers = Gate()

        init() throws {
            server = try LoopbackServer { [answers] in .text($0.path).after(answers) }
        }

        private func start(_ path: String) throws -> (recorder: EventRecorder, exchange: any TransportExchange) {
            let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
            let recorder = EventRecorder()
            let exchange = transport.start(try TransportRequest(base: base, path: URLPath(path))) {
                recorder.receive($0)
            }
            return (recorder, exchange)
        }

        /// Nothing that is put off is started until the block has run.
        private func withStartsHeld(_ body: () throws -> Void) rethrows {
            let goOn = DispatchSemaphore(value: 0)
            StartQueue.add { goOn.wait() }
            defer { goOn.signal() }
            try body()
        }

        @Test("Whoever is cancelled before the start was never sent, and ends once")
        func cancelledBefore() async throws {
            defer { server.stop() }
            let first = try start("/first").recorder
            #expect(await server.waitForRequests(1))
            var others: [EventRecorder] = []
            try withStartsHeld {
                for number in 0..<4 {
                    let (recorder, exchange) = try start("/\(number)")
                    others.append(recorder)
                    if number.isMultiple(of: 2) { for _ in 0..<3 { recorder.cancel(exchange) } }
                }
                #expect(others.allSatisfy { $0.events.isEmpty })
            }
            answers.open()
            let all = [first] + others
            #expect(await eventually { all.allSatisfy { $0.terminals == 1 } })
            #expect(all.allSatisfy { $0.violations == [] })
            #expect(others.map { $0.kinds.last } == [.failed, .finished, .failed, .finished])
            #expect(others.map { $0.failure?.delivery } == [.notSent, nil, .notSent, nil])
            #expect(Set(server.requests.map(\.path)) == ["/first", "/1", "/3"])
            #expect(await eventually { transport.delegate.count == 0 })
        }

        @Test("Cancelling as it is started is one end all the same")
        func cancelledAmidst() async throws {
            defer { server.stop() }
            answers.open()
            for round in 0..<300 {
                let started = try (0..<4).map { try start("/\(round)/\($0)") }
                for (recorder, exchange) in started { recorder.cancel(exchange) }
                #expect(await eventually { started.allSatisfy { $0.recorder.terminals == 1 } })
                #expect(started.allSatisfy { $0.recorder.violations == [] })
            }
            #expect(transport.delegate.count == 0)
            let last = try start("/last").recorder
            #expect(await eventually { last.kinds.last == .finished })
        }

        @Test("What was put off is sent though nobody holds the transport any more")
        func outlives() async throws {
            defer { server.stop() }
            var transport: URLSessionTransport? = URLSessionTransport()
            weak let remains = transport
            let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
            let recorders = (0..<3).map { _ in EventRecorder() }
            try withStartsHeld {
                for (number, recorder) in recorders.enumerated() {
                    _ = transport?.start(try TransportRequest(base: base, path: URLPath("/\(number)"))) {
                        recorder.receive($0)
                    }
                }
                transport = nil
                #expect(remains != nil)
            }
            answers.open()
            #expect(await eventually { recorders.allSatisfy { $0.kinds.last == .finished } })
            #expect(await eventually { remains == nil })
        }
    }
#endif
