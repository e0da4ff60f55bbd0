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

    /// Exchanges that are cancelled, or released, while they are started.
    @Suite("The start of exchanges", .serialized, .limited)
    struct ExchangeStartConcurrencyTests {
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

        private func start(
            _ path: String, body: TransportBody? = nil, over transport: URLSessionTransport? = nil
        ) throws -> (recorder: EventRecorder, exchange: any TransportExchange) {
            let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
            let request = TransportRequest(
                method: body == nil ? "GET" : "POST",
                target: TargetURL(base: base, path: try URLPath(path), queryItems: []),
                headerFields: HeaderFields(), body: body, idleTimeout: .seconds(60))
            let recorder = EventRecorder()
            let exchange = (transport ?? self.transport).start(request) { recorder.receive($0) }
            return (recorder, exchange)
        }

        /// A body of the app that ends when it is told to.
        private struct LateBody {
            private let parts = AsyncStream<Data>.makeStream()

            var body: TransportBody {
                let stream = parts.stream
                return TransportBody(BodySequence(length: nil, isRepeatable: true) { stream })
            }

            func end() {
                parts.continuation.yield(Data("late".utf8))
                parts.continuation.finish()
            }
        }

        @Test("An exchange that is cancelled before its task exists is never sent, and ends once")
        func cancelledBefore() async throws {
            defer { server.stop() }
            answers.open()
            let bodies = (0..<4).map { _ in LateBody() }
            var others: [EventRecorder] = []
            for (number, body) in bodies.enumerated() {
                let (recorder, exchange) = try start("/\(number)", body: body.body)
                others.append(recorder)
                if number.isMultiple(of: 2) { for _ in 0..<3 { recorder.cancel(exchange) } }
            }
            for body in bodies { body.end() }
            #expect(await eventually { others.allSatisfy { $0.terminals == 1 } })
            #expect(others.allSatisfy { $0.violations == [] })
            #expect(others.map { $0.kinds.last } == [.failed, .finished, .failed, .finished])
            #expect(others.map { $0.failure?.delivery } == [.notSent, nil, .notSent, nil])
            #expect(Set(server.requests.map(\.path)) == ["/1", "/3"])
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

        @Test("A cancellation during a start waits for its end")
        func middle() async throws {
            defer { server.stop() }
            let delegate = ExchangeDelegate()
            let session = InterruptedSession(
                configuration: .ephemeral, delegate: delegate, delegateQueue: delegate.queue)
            defer { session.finishTasksAndInvalidate() }
            let recorder = EventRecorder()
            let exchange = DataTaskExchange(delegate) { recorder.receive($0) }
            let url = try #require(URL(string: "http://\(server.host):\(server.port)/hang"))
            session.interruption = {
                recorder.cancel(exchange)
                let isHandled = DispatchSemaphore(value: 0)
                delegate.queue.addOperation { isHandled.signal() }
                #expect(isHandled.wait(timeout: .now() + 250) == .success)
            }
            delegate.start(exchange, URLRequest(url: url), in: session)
            #expect(await eventually { recorder.kinds.last == .failed })
            #expect(recorder.violations == [])
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

        @Test("An exchange whose body is still written is sent although the transport has been released")
        func outlives() async throws {
            defer { server.stop() }
            var transport: URLSessionTransport? = URLSessionTransport()
            weak let remains = transport
            answers.open()
            let bodies = (0..<3).map { _ in LateBody() }
            let recorders = try bodies.enumerated().map { number, body in
                try start("/\(number)", body: body.body, over: transport).recorder
            }
            transport = nil
            #expect(remains != nil)
            for body in bodies { body.end() }
            #expect(await eventually { recorders.allSatisfy { $0.kinds.last == .finished } })
            #expect(await eventually { remains == nil })
        }
    }
#endif
