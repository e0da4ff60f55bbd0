import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking

    /// A session with a hook between creating a task and resuming it.
    private final class InterruptedSession: URLSession, @unchecked Sendable {
        // Set before the only start for which it is used.
        var interruption: () -> Void = {}

        override func dataTask(with request: URLRequest) -> URLSessionDataTask {
            let task = super.dataTask(with: request)
            interruption()
            return task
        }
    }

    /// Exchanges that are started while others are on the wire.
    @Suite("Where exchanges are started", .serialized, .timeLimit(.minutes(5)))
    struct StartQueueConcurrencyTests {
        private let transport = URLSessionTransport()
        private let server: LoopbackServer
        private let answers = Gate()

        init() throws {
            server = try LoopbackServer { [answers] request in
                switch request.path {
                case "/hang": .hang
                case "/challenge": .challenge(#"Basic realm="x""#)
                default: .text(request.path).after(answers)
                }
            }
        }

        private func start(_ path: String) throws -> (recorder: EventRecorder, exchange: any TransportExchange) {
            let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
            let recorder = EventRecorder()
            let exchange = transport.start(try TransportRequest(base: base, path: URLPath(path))) {
                recorder.receive($0)
            }
            return (recorder, exchange)
        }

        /// No deferred exchange starts before the block has run.
        private func withStartsHeld(_ body: () throws -> Void) rethrows {
            let goOn = DispatchSemaphore(value: 0)
            StartQueue.add { goOn.wait() }
            defer { goOn.signal() }
            try body()
        }

        @Test("An exchange that is cancelled before the start is never sent, and ends once")
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

        @Test("Cancelling as it is started is one end all the same", arguments: ["/answered", "/hang"])
        func cancelledAmidst(path: String) async throws {
            defer { server.stop() }
            answers.open()
            for _ in 0..<(TestExtent.isWhole ? 150 : 30) {
                let started = try (0..<4).map { _ in try start(path) }
                for (recorder, exchange) in started { recorder.cancel(exchange) }
                // A hanging request ends only if its cancellation isn't lost.
                try #require(await eventually { started.allSatisfy { $0.recorder.terminals == 1 } })
                #expect(started.allSatisfy { $0.recorder.violations == [] })
            }
            #expect(await eventually { transport.delegate.count == 0 })
            let last = try start("/last").recorder
            #expect(await eventually { last.kinds.last == .finished })
        }

        @Test("No exchange overtakes a deferred one, even if nothing is on the wire")
        func order() async throws {
            defer { server.stop() }
            let first = try start("/first").recorder
            #expect(await server.waitForRequests(1))
            let goOn = DispatchSemaphore(value: 0)
            StartQueue.add { goOn.wait() }
            let second = try start("/second")
            answers.open()
            #expect(await eventually { first.kinds.last == .finished })
            let third = try start("/third")
            goOn.signal()
            #expect(await eventually { second.recorder.terminals == 1 && third.recorder.terminals == 1 })
            // After the block in which the last exchange was started.
            await withCheckedContinuation { continuation in StartQueue.add { continuation.resume() } }
            // A session numbers its tasks in the order of creation.
            let numbers = [second, third].map { ($0.exchange as? DataTaskExchange)?.task?.taskIdentifier ?? 0 }
            #expect(numbers[0] < numbers[1], "\(numbers)")
        }

        @Test("During a start new exchanges are deferred, and a cancellation waits for its end")
        func middle() async throws {
            defer { server.stop() }
            let delegate = ExchangeDelegate()
            let session = InterruptedSession(
                configuration: .ephemeral, delegate: delegate, delegateQueue: delegate.queue)
            defer { session.finishTasksAndInvalidate() }
            func exchange() -> (recorder: EventRecorder, exchange: DataTaskExchange) {
                let recorder = EventRecorder()
                return (recorder, DataTaskExchange(delegate) { recorder.receive($0) })
            }
            func request(_ path: String) throws -> URLRequest {
                URLRequest(url: try #require(URL(string: "http://\(server.host):\(server.port)\(path)")))
            }
            let first = exchange()
            delegate.start(first.exchange, try request("/first"), in: session)
            #expect(delegate.putsOffStart())
            answers.open()
            #expect(await eventually { first.recorder.terminals == 1 })

            let second = exchange()
            session.interruption = {
                #expect(delegate.count == 1, "one is about to be on the wire")
                second.recorder.cancel(second.exchange)
                let isHandled = DispatchSemaphore(value: 0)
                delegate.queue.addOperation { isHandled.signal() }
                #expect(isHandled.wait(timeout: .now() + 250) == .success)
            }
            delegate.startLater(second.exchange, try request("/hang"), in: session)
            #expect(await eventually { second.recorder.kinds.last == .failed })
            #expect(second.recorder.violations == [])
            #expect(await eventually { delegate.count == 0 })
        }

        @Test("A cancellation after a challenge has ended it changes nothing")
        func cancelledAfterAChallenge() async throws {
            defer { server.stop() }
            for _ in 0..<5 {
                let (recorder, exchange) = try start("/challenge")
                // Asking the recorder would order the two, and hide a race from
                // the thread sanitizer.
                try await Task.sleep(for: .milliseconds(50))
                exchange.cancel()
                #expect(await eventually { recorder.terminals == 1 })
                #expect(recorder.violations == [])
            }
            #expect(await eventually { transport.delegate.count == 0 })
        }

        @Test("A deferred exchange is sent although the transport has been released")
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
