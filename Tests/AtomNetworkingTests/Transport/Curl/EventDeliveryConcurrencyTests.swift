#if os(Linux)
    import AtomNetworkingTesting
    import Dispatch
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// Whoever is slow with the events of one exchange holds up no other one.
    @Suite(.limited) struct EventDeliveryConcurrencyTests {
        @Test("A receiver that doesn't return holds up no other exchange", arguments: [1, 5])
        func stuck(count: Int) async throws {
            let server = try LoopbackServer { _ in .text("hello") }
            defer { server.stop() }
            let transport = try CurlTransport()
            let release = DispatchSemaphore(value: 0)
            let stuck = (0..<count).map { _ in (isStuck: Signal(), hasEnded: Signal(), events: EventRecorder()) }
            for receiver in stuck {
                _ = transport.start(try .to(server)) { event in
                    receiver.events.receive(event)
                    if case .response = event {
                        receiver.isStuck.raise()
                        release.wait()
                    }
                    if case .finished = event { receiver.hasEnded.raise() }
                }
            }
            for receiver in stuck { await receiver.isStuck.wait() }
            for _ in 0..<20 { #expect(await transport.run(try .to(server)).text == "hello") }
            for _ in stuck { release.signal() }
            for receiver in stuck {
                await receiver.hasEnded.wait()
                #expect(receiver.events.violations == [] && receiver.events.text == "hello")
            }
        }

        @Test("Who asks for what has arrived hears of the end of that when all of it has been received")
        func catchingUp() async throws {
            let (writes, hasWritten) = (DispatchSemaphore(value: 0), Signal())
            let server = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
                writes.wait()
                line.write("hello")
                while !line.hasArrived { usleep(100) }
                hasWritten.raise()
                line.drain()
                return .close
            }
            defer { server.stop() }
            let release = DispatchSemaphore(value: 0)
            let (isStuck, isDone, events) = (Signal(), Signal(), EventRecorder())
            let transport = try CurlTransport()
            let base = try BaseURL(scheme: .http, host: "127.0.0.1", port: server.port)
            let running = transport.start(try TransportRequest(base: base, path: URLPath("/x"))) { event in
                events.receive(event)
                guard case .response = event else { return }
                isStuck.raise()
                release.wait()
            }
            await isStuck.wait()
            writes.signal()
            await hasWritten.wait()
            let text = Locked<String?>(nil)
            running.catchUp {
                text.set(events.text)
                isDone.raise()
            }
            #expect(text.value == nil)
            release.signal()
            await isDone.wait()
            #expect(text.value == "hello")
        }

        @Test("A receiver that doesn't return holds up no last event after the transport was let go of")
        func stuckAtTheEnd() async throws {
            let gate = LoopbackServer.Gate()
            let server = try LoopbackServer { request in
                request.path == "/late" ? .text("late").after(gate) : .text("hello")
            }
            defer { server.stop() }
            let release = DispatchSemaphore(value: 0)
            let (isStuck, hasEnded) = (Signal(), Signal())
            let late = EventRecorder()
            do {
                let transport = try CurlTransport()
                _ = transport.start(try .to(server, "/late")) { event in
                    late.receive(event)
                    if case .finished = event { hasEnded.raise() }
                }
                _ = transport.start(try .to(server)) { event in
                    guard case .response = event else { return }
                    isStuck.raise()
                    release.wait()
                }
                await isStuck.wait()
            }
            gate.open()
            await hasEnded.wait()
            #expect(late.text == "late" && late.violations == [])
            release.signal()
        }

        @Test("What an exchange has held is released where others can add events")
        func released() async throws {
            final class Canary: Sendable {
                let released: @Sendable () -> Void
                init(_ released: @escaping @Sendable () -> Void) { self.released = released }
                deinit { released() }
            }
            let loop = try #require(
                CurlLoop(CurlSettings(CurlTransport.Configuration(), library: CurlLibrary.loaded.get())))
            defer { loop.stop() }
            let (delivery, hasEnded) = (EventDelivery(), Signal())
            func item(_ receive: @escaping @Sendable (TransportEvent) -> Void) throws -> EventDelivery.Item {
                let request = try TransportRequest(base: BaseURL(host: "a.example"), path: URLPath("/"))
                return .init(exchange: CurlExchange(request, loop: loop, receive: receive), event: .finished)
            }
            var items: [EventDelivery.Item] = []
            do {
                let canary = Canary {
                    var none: [EventDelivery.Item] = []
                    _ = delivery.add(&none)
                }
                items.append(try item { _ in withExtendedLifetime(canary) {} })
            }
            items.append(try item { _ in })
            items.append(try item { _ in hasEnded.raise() })
            _ = delivery.add(&items)
            await hasEnded.wait()
        }

        @Test("Callers that block all threads of GCD's pool hold up no event")
        func blockedPool() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .text("hello") }
                let transport = try CurlTransport()
                let release = DispatchSemaphore(value: 0)
                let callers = 200
                for _ in 0..<callers { DispatchQueue.global().async { release.wait() } }
                let ended = DispatchSemaphore(value: 0)
                let thread = Thread {
                    let done = DispatchSemaphore(value: 0)
                    let request = try? TransportRequest.to(server)
                    guard let request else { return }
                    _ = transport.start(request) { if case .finished = $0 { done.signal() } }
                    done.wait()
                    ended.signal()
                }
                thread.start()
                // Were the events held up, this would wait for a pool that grows by one
                // thread a second at best, and then until the time limit.
                ended.wait()
                for _ in 0..<callers { release.signal() }
                server.stop()
            }
        }

        @Test("Callers that block all threads of GCD's pool hold up no decoding")
        func blockedPoolOfDecoding() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .json(#"{"count":1}"#) }
                let atom = Atom(
                    .forTest(over: try CurlTransport()) { $0.dispatchQueue = DispatchQueue(label: "completions") })
                let release = DispatchSemaphore(value: 0)
                let callers = 200
                for _ in 0..<callers { DispatchQueue.global(qos: .userInitiated).async { release.wait() } }
                let ended = DispatchSemaphore(value: 0)
                let thread = Thread {
                    atom.enqueue(server.endpoint()).resume(expecting: [String: Int].self) { result in
                        if case .success(["count": 1]) = result { ended.signal() }
                    }
                }
                thread.start()
                ended.wait()
                for _ in 0..<callers { release.signal() }
                server.stop()
            }
        }
    }
#endif
