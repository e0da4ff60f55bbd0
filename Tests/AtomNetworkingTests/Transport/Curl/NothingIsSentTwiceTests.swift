#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    /// A kept connection may turn out to be closed when a request has been
    /// sent over it.
    @Suite(.limited) struct NothingIsSentTwiceTests {
        /// How a kept connection ends.
        enum End: CaseIterable {
            case close, reset

            var response: LoopbackServer.Response { self == .close ? .closeImmediately : .reset }
        }

        struct Sending: Sendable, CustomTestStringConvertible {
            let method: String
            let size: Int?

            var testDescription: String { "\(method), \(size.map { "\($0) bytes" } ?? "no body")" }

            var body: Data? { size.map { Data(repeating: 0x61, count: $0) } }

            static let once: [Sending] =
                ["POST", "PATCH", "LOCK", "PURGE"].flatMap { method in
                    [nil, 0, 1, 200_000].map { Sending(method: method, size: $0) }
                } + ["PUT", "DELETE", "GET"].map { Sending(method: $0, size: 10) }

            static let repeatable: [Sending] =
                ["GET", "HEAD", "OPTIONS", "DELETE", "PUT", "TRACE"].map { Sending(method: $0, size: nil) }
        }

        /// A server that answers the first request of each connection and
        /// closes it in the middle of the second.
        private func server(
            _ end: End, keeps warming: LoopbackServer.Response = .text("warm"), sees: Gate? = nil
        ) throws -> LoopbackServer {
            let seen = Locked<Set<Int>>([])
            return try LoopbackServer { request in
                let isFirst = seen.with { $0.insert(request.connection).inserted }
                if request.path == "/warm" { return sees.map { warming.after($0) } ?? warming }
                return isFirst ? .text("fresh") : end.response
            }
        }

        @Test("A request is unsent only if libcurl counts what it sends, and TLS can't have sent a part of it")
        func unsent() {
            let large: Int64 = 15 << 10
            #expect(CurlTransfer.isUnsent(counted: 0, isSecure: false, size: 1 << 20))
            #expect(CurlTransfer.isUnsent(counted: 0, isSecure: true, size: large - 1))
            #expect(!CurlTransfer.isUnsent(counted: 0, isSecure: true, size: large))
            #expect(!CurlTransfer.isUnsent(counted: 1, isSecure: false, size: 0))
            #expect(!CurlTransfer.isUnsent(counted: nil, isSecure: false, size: 0))
        }

        @Test("A request that may be sent only once is sent once", arguments: Sending.once, End.allCases)
        func once(sending: Sending, end: End) async throws {
            let server = try server(end)
            defer { server.stop() }
            let transport = try CurlTransport()
            #expect(await transport.run(try .to(server, "/warm")).text == "warm")
            let recorder = await transport.run(
                try .to(server, "/once", method: sending.method, body: sending.body))
            #expect(recorder.violations == [])
            #expect(recorder.urlError?.code == .networkConnectionLost, "\(recorder.events)")
            #expect(recorder.failure?.delivery == .maybeSent)
            #expect(server.requests.count { $0.path == "/once" } == 1)
            #expect(server.incompleteRequests == 0 && server.malformedRequests == 0)
            #expect(await transport.run(try .to(server, "/next")).text == "fresh")
        }

        /// The transport sends nothing again: who counts attempts does it.
        @Test("A request that may be repeated is sent again by the SDK", arguments: Sending.repeatable, End.allCases)
        func repeated(sending: Sending, end: End) async throws {
            let server = try server(end)
            defer { server.stop() }
            let transport = try CurlTransport()
            #expect(await transport.run(try .to(server, "/warm")).text == "warm")
            let recorder = await transport.run(try .to(server, "/again", method: sending.method))
            #expect(recorder.violations == [])
            #expect(recorder.failure?.isOfKeptConnection == true && recorder.failure?.delivery == .maybeSent)
            #expect(server.requests.count { $0.path == "/again" } == 1)
        }

        @Test("A kept connection that is closed costs an attempt that observers hear of", arguments: End.allCases)
        func counted(end: End) async throws {
            let server = try server(end)
            defer { server.stop() }
            let observer = RecordingObserver()
            let atom = Atom(.forTest(over: try CurlTransport()) { $0.observers = [observer] })
            #expect(await atom.outcome(of: server.endpoint("/warm")).text == "warm")
            #expect(await atom.outcome(of: server.endpoint("/again")).text == "fresh")
            #expect(server.requests.count { $0.path == "/again" } == 2)
            #expect(observer.summaries.map(\.attempts) == [1, 2], "\(observer.story())")
        }

        @Test("An upload is sent again, whether writing or reading has failed")
        func uploadIsRepeated() async throws {
            let (size, lines) = (1_000, Locked(0))
            let server = try ByteServer { line in
                let isFirst = lines.with { lines in
                    lines += 1
                    return lines == 1
                }
                _ = line.readHead()
                guard !isFirst else {
                    line.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwarm")
                    _ = line.readHead()
                    return .close
                }
                var count = 0
                while count < size {
                    let part = line.read()
                    guard !part.isEmpty else { return .close }
                    count += part.count
                }
                line.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole")
                return .close
            }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            var endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/warm")
            #expect(await atom.outcome(of: endpoint).text == "warm")
            endpoint.method = .put
            endpoint.body = .stream(length: Int64(size)) {
                AsyncStream<Data> { continuation in
                    continuation.yield(Data(count: size))
                    continuation.finish()
                }
            }
            #expect(await atom.outcome(of: endpoint).text == "whole")
            #expect(lines.value == 2)
        }

        @Test("A request that may not be repeated isn't sent again by the SDK either", arguments: End.allCases)
        func notRepeated(end: End) async throws {
            let server = try server(end)
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            #expect(await atom.outcome(of: server.endpoint("/warm")).text == "warm")
            var endpoint = server.endpoint("/once")
            endpoint.method = .post(Data("x".utf8))
            #expect(await atom.outcome(of: endpoint).error?.delivery == .maybeSent)
            #expect(server.requests.count { $0.path == "/once" } == 1)
        }

        enum Unasked: CaseIterable { case response, responseAndEnd, end }

        @Test("What has arrived on a kept connection is nobody's response", arguments: Unasked.allCases)
        func spoiled(_ unasked: Unasked) async throws {
            let gate = Gate()
            let server = try LoopbackServer { request in
                guard request.path == "/warm" else { return .text("own") }
                return .script(
                    [
                        .write(text: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwarm"), .wait(gate),
                        .write(
                            text: unasked == .end
                                ? "" : "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"),
                    ] + (unasked == .response ? [] : [.close]))
            }
            defer { server.stop() }
            let transport = try CurlTransport()
            #expect(await transport.run(try .to(server, "/warm")).text == "warm")
            gate.open()
            #expect(await eventually { server.requestsInProgress == 0 })
            // Also one that may be sent only once.
            let recorder = await transport.run(try .to(server, "/next", method: "POST", body: Data("x".utf8)))
            #expect(recorder.text == "own" && recorder.status == 200, "\(recorder.events)")
            #expect(server.requests.count { $0.path == "/next" } == 1)
        }

        @Test("What follows the response to a HEAD is nobody's response")
        func surplusAfterHead() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
            let server = try LoopbackServer { request in
                request.method == "HEAD" ? .raw(head + head + "EVIL") : .text("own")
            }
            defer { server.stop() }
            let transport = try CurlTransport()
            for _ in 0..<5 {
                #expect(await transport.run(try .to(server, method: "HEAD")).status == 200)
                #expect(await transport.run(try .to(server)).text == "own")
            }
        }

        @Test("Small requests share connections beside many that are in use")
        func besideOpenStreams() async throws {
            let gate = Gate()
            let server = try LoopbackServer { $0.path == "/held" ? .text("held").after(gate) : .text("small") }
            defer { server.stop() }
            let transport = try CurlTransport()
            let held = try (0..<100).map { _ in transport.begin(try .to(server, "/held")) }
            #expect(await server.waitForRequestsInProgress(100))
            for _ in 0..<50 { #expect(await transport.run(try .to(server)).text == "small") }
            #expect(Set(server.requests.map(\.connection)).count <= 103)
            gate.open()
            for started in held { #expect(await started.end().text == "held") }
        }

        @Test("Kept connections that the server has closed are let go of without another request")
        func closedWhileIdle() async {
            // In a process of its own: nothing else opens descriptors there.
            await #expect(processExitsWith: .success) {
                let gate = Gate()
                let server = try LoopbackServer { request in
                    let warm = LoopbackServer.Response.script([
                        .write(text: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwarm"), .close,
                    ])
                    return request.path == "/gate" ? warm.after(gate) : warm
                }
                let transport = try CurlTransport()
                #expect(await transport.run(try .to(server)).text == "warm")
                let before = ThisProcess.descriptorCount
                let warming = try (0..<10).map { _ in transport.begin(try .to(server, "/gate")) }
                #expect(await server.waitForRequestsInProgress(10))
                gate.open()
                for started in warming { #expect(await started.end().text == "warm") }
                #expect(await eventually { ThisProcess.descriptorCount <= before })
                server.stop()
            }
        }

        @Test(
            "A request whose answer has begun is not repeated",
            // For libcurl an answer begins with its first whole line.
            arguments: [("GET", "HTTP/1.1 200 OK\r\nX: y"), ("POST", "H"), ("POST", "HTTP/1.1 200 OK\r\nX: y")])
        func begun(method: String, start: String) async throws {
            let server = try LoopbackServer { $0.path == "/warm" ? .text("warm") : .raw(start) }
            defer { server.stop() }
            let transport = try CurlTransport()
            #expect(await transport.run(try .to(server, "/warm")).text == "warm")
            let recorder = await transport.run(try .to(server, "/again", method: method))
            // The status has come, or only a letter of it.
            #expect(recorder.violations == [] && recorder.failure?.delivery == (start == "H" ? .maybeSent : .answered))
            #expect(server.requests.count { $0.path == "/again" } == 1)
        }

        @Test("On a new connection nothing is repeated", arguments: Sending.repeatable, End.allCases)
        func fresh(sending: Sending, end: End) async throws {
            let server = try LoopbackServer { _ in end.response }
            defer { server.stop() }
            let recorder = try await CurlTransport().run(.to(server, method: sending.method))
            #expect(recorder.urlError?.code == .networkConnectionLost && recorder.failure?.delivery == .maybeSent)
            #expect(server.requestCount == 1)
        }

        @Test("A request with a connection of its own never uses a kept one, nor leaves one", arguments: End.allCases)
        func ownConnection(end: End) async throws {
            let server = try server(end)
            defer { server.stop() }
            let transport = try CurlTransport()
            for round in 0..<5 {
                #expect(await transport.run(try .to(server, "/warm")).text == "warm")
                let recorder = await transport.run(
                    try .to(server, "/token", method: "POST", body: Data("x".utf8), needsFreshConnection: true))
                #expect(recorder.text == "fresh", "round \(round)")
            }
            let connections = server.requests.filter { $0.path == "/token" }.map(\.connection)
            #expect(Set(connections).count == 5)
            #expect(server.requests.filter { $0.path == "/warm" }.allSatisfy { !connections.contains($0.connection) })
        }

        @Test("A refused connection has sent nothing", arguments: Sending.once + Sending.repeatable)
        func refused(sending: Sending) async throws {
            let port = try RefusingPort()
            defer { withExtendedLifetime(port) {} }
            let request = try TransportRequest(
                method: sending.method, base: BaseURL(scheme: .http, host: "127.0.0.1", port: port.number),
                path: URLPath("/x"), body: sending.body)
            let recorder = try await CurlTransport().run(request)
            #expect(recorder.urlError?.code == .cannotConnectToHost)
            #expect(recorder.failure?.delivery == .notSent && recorder.sent == 0)
            #expect(recorder.curlError?.code == 7)
        }
    }
#endif
