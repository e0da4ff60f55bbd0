#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// Streams that stay open use up connections, and no request waits for their end.
    @Suite(
        .enabled(if: OpenSSL.path != nil && Python.path != nil, "openssl or python3 is not installed"),
        .enabled(if: CurlLibrary.speaksHTTP2, "libcurl has no HTTP/2, or an old one"), .limited)
    struct CurlStreamLimitTests {
        /// Speaks HTTP/2 with so many streams at once on a connection; the first one only,
        /// if `once` is set, and then HTTP/1.1.
        ///
        /// The body of the response to a GET is the number of the connection; that to a
        /// POST begins and never ends.
        private static let program = """
            import socket, ssl, struct, threading

            def context(protocol):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain("server.pem", "server.key")
                context.set_alpn_protocols([protocol])
                return context

            H2, H1 = context("h2"), context("http/1.1")
            listener = socket.create_server(("127.0.0.1", 0), backlog=128)
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)

            def frame(kind, flags, stream, payload=b""):
                return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload

            def serve2(line, text):
                read = line.makefile("rb").read
                read(24)
                line.sendall(frame(4, 0, 0, struct.pack(">HI", 3, STREAMS)))
                while True:
                    head = read(9)
                    if len(head) < 9: return
                    payload = read(int.from_bytes(head[:3], "big"))
                    kind, flags, stream = struct.unpack(">BBI", head[3:])
                    if kind == 4 and not flags: line.sendall(frame(4, 1, 0))
                    if kind == 6 and not flags: line.sendall(frame(6, 1, 0, payload))
                    if kind != 1: continue
                    # `:status: 200`; and a POST is the third of HPACK's table.
                    held = b"\\x83" in payload[:6]
                    line.sendall(frame(1, 4, stream, b"\\x88") + frame(0, 0 if held else 1, stream, text))
                    if ONCE: return line.unwrap()

            def serve1(line, text):
                read = line.makefile("rb").readline
                while True:
                    first = line_read = read()
                    if not first: return
                    while line_read.strip(): line_read = read()
                    length = 1000 if first.startswith(b"POST") else len(text)
                    line.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % length + text)

            def serve(plain, number):
                line = (H1 if ONCE and number > 1 else H2).wrap_socket(plain, server_side=True)
                (serve2 if line.selected_alpn_protocol() == "h2" else serve1)(line, b"%d" % number)

            number = 0
            while True:
                plain, _ = listener.accept()
                number += 1
                threading.Thread(target=serve, args=(plain, number), daemon=True).start()
            """

        private struct Fixture {
            let server: TLSServer
            let transport: CurlTransport

            init(streams: Int, once: Bool = false) async throws {
                let numbers = "STREAMS, ONCE = \(streams), \(once ? "True" : "False")\n"
                server = try await TLSServer(program: numbers + CurlStreamLimitTests.program)
                transport = try CurlTransport(configuration: server.configuration)
            }

            func request(_ method: String, isFresh: Bool = false) throws -> TransportRequest {
                let request = try TransportRequest(
                    method: method, base: BaseURL(scheme: .https, host: "127.0.0.1", port: server.port),
                    path: URLPath("/x"))
                return TransportRequest(
                    method: method, target: request.target, headerFields: request.headerFields, body: nil,
                    idleTimeout: request.idleTimeout, needsFreshConnection: isFresh)
            }

            /// The number of the connection that a request got.
            func connection(isFresh: Bool = false) async throws -> Int {
                let text = await transport.run(try request("GET", isFresh: isFresh)).text
                guard let number = Int(text) else { throw Unexpected("it got: \(text)") }
                return number
            }

            /// Opens so many streams at once, and waits until each has begun.
            func open(_ count: Int) async throws -> [StartedExchange] {
                let streams = try (0..<count).map { _ in transport.begin(try request("POST")) }
                #expect(await eventually { streams.allSatisfy { !$0.recorder.body.isEmpty } })
                return streams
            }

            func end(_ streams: [StartedExchange]) async {
                for stream in streams { stream.exchange.cancel() }
                for stream in streams { #expect(await stream.end().violations == []) }
                await server.end()
            }
        }

        @Test("Requests go on beside open streams, whatever a connection carries", arguments: [1, 3])
        func openStreams(each: Int) async throws {
            let fixture = try await Fixture(streams: each)
            #expect(try await fixture.connection() == 1)
            var streams: [StartedExchange] = []
            for _ in 0..<20 {
                streams += try await fixture.open(1)
                #expect(try await fixture.connection() > 0)
            }
            #expect(try await fixture.connection(isFresh: true) > 20 / each)
            await fixture.end(streams)
        }

        @Test("Streams that are opened at once all begin")
        func atOnce() async throws {
            let fixture = try await Fixture(streams: 1)
            #expect(try await fixture.connection() == 1)
            let streams = try await fixture.open(40)
            #expect(try await fixture.connection(isFresh: true) > 1)
            await fixture.end(streams)
        }

        @Test("A burst needs few connections where each carries one stream")
        func burst() async throws {
            let fixture = try await Fixture(streams: 1)
            #expect(try await fixture.connection() == 1)
            let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<150 { group.addTask { try await fixture.connection() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Without a limit each opens one. Who has been answered and hasn't ended counts, so on a slow machine there
            // are more than the twenty that are usual.
            #expect(numbers.count == 150 && numbers.allSatisfy { $0 < 120 }, "\(numbers.max() ?? 0)")
            await fixture.end([])
        }

        @Test("A server that speaks HTTP/2 no more gets a connection for each stream")
        func speaksHTTP1() async throws {
            let fixture = try await Fixture(streams: 100, once: true)
            #expect(try await fixture.connection() == 1)
            // The first connection may not be known to have ended.
            #expect(await eventually { (try? await fixture.connection()) ?? 0 > 1 })
            var streams: [StartedExchange] = []
            for _ in 0..<20 { streams += try await fixture.open(1) }
            #expect(try await fixture.connection() > 20)
            await fixture.end(streams)
        }
    }
#endif
