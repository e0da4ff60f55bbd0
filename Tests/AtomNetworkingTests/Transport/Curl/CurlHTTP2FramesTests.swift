#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// What a server of HTTP/2 says by its frames (RFC 9113 §6.8, §8.7).
    @Suite(
        .enabled(if: OpenSSL.path != nil && Python.path != nil, "openssl or python3 is not installed"),
        .enabled(if: CurlLibrary.speaksHTTP2, "libcurl has no HTTP/2, or an old one"), .limited)
    struct CurlHTTP2FramesTests {
        /// Answers with the number of the connection and how many streams it has refused.
        ///
        /// `WAY` names what the first connection does with its first stream, or its second one if it ends in `2`.
        private static let program = """
            import itertools, socket, ssl, threading

            WAY, LIMIT = "", 0
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("server.pem", "server.key")
            context.set_alpn_protocols(["h2", "http/1.1"])
            listener = socket.create_server(("127.0.0.1", 0))
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
            REFUSED, FREE, REACHED = [], threading.Event(), threading.Event()
            NUMBERS = itertools.count(1)

            def serve(plain):
                if plain.recv(1, socket.MSG_PEEK) != b"\\x16":
                    path = plain.recv(65536)
                    if b"/free" in path: FREE.set()
                    if b"/reached" in path: REACHED.wait()
                    return plain.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
                number = next(NUMBERS)
                line = context.wrap_socket(plain, server_side=True)
                plain = line
                def frame(kind, flags, stream, body=b""):
                    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body
                def read(count):
                    part = b""
                    while len(part) < count:
                        more = line.recv(count - len(part))
                        if not more: raise EOFError
                        part += more
                    return part
                def answer(stream):
                    return frame(1, 4, stream, b"\\x88") + frame(0, 1, stream, b"%d %d" % (number, len(REFUSED)))
                if line.selected_alpn_protocol() != "h2":
                    line.recv(65536)
                    line.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\n1.1")
                    return read(1)
                read(24)
                line.sendall(frame(4, 0, 0, b"\\x00\\x03" + LIMIT.to_bytes(4, "big") if LIMIT else b""))
                open, wanted = [], 3 if WAY.endswith("2") else 1
                while True:
                    head = read(9)
                    size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
                    stream = int.from_bytes(head[5:], "big")
                    read(size)
                    if kind == 4 and not flags & 1: line.sendall(frame(4, 1, 0))
                    if kind == 1:
                        open.append(stream)
                        if LIMIT and len(open) > LIMIT:
                            open.remove(stream)
                            REFUSED.append(stream)
                            line.sendall(frame(3, 0, stream, (7).to_bytes(4, "big")))
                            continue
                    if kind > 1 or not flags & 1 or stream not in open: continue
                    way = WAY.rstrip("2") if number == 1 and stream == wanted else ""
                    open.remove(stream)
                    if way in ("refuse", "require"):
                        REFUSED.append(stream)
                        line.sendall(frame(3, 0, stream, (7 if way == "refuse" else 13).to_bytes(4, "big")))
                    elif way in ("goaway", "goaway-end"):
                        goodbye = frame(7, 0, 0, (stream - 2 if stream > 1 else 0).to_bytes(4, "big") + bytes(4))
                        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
                        line.sendall(goodbye)
                        if way == "goaway-end": plain.shutdown(socket.SHUT_WR)
                        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
                    elif way in ("window", "priority"):
                        flood = frame(8, 0, 0, b"\\0\\0\\0\\1") if way == "window" else frame(2, 0, 99, bytes(5))
                        try:
                            for count in range(1 << 40):
                                line.sendall(flood * 20000)
                                if count == 20: REACHED.set()
                        # Some libcurls end such a connection before that.
                        finally: REACHED.set()
                    elif way == "cut":
                        line.sendall(frame(1, 4, stream, b"\\x88\\x0f\\x0d\\x0210") + frame(0, 0, stream, b"first"))
                        FREE.wait()
                        line.sendall(frame(3, 0, stream, (13).to_bytes(4, "big")))
                    else:
                        if way == "hold":
                            REACHED.set()
                            FREE.wait()
                        after = b""
                        if way == "leave": after = frame(7, 0, 0, stream.to_bytes(4, "big") + bytes(4))
                        if way == "next":
                            after = frame(1, 4, stream + 2, b"\\x88") + frame(0, 1, stream + 2, b"EVIL")
                        # All of it comes at once.
                        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
                        line.sendall(answer(stream) + after)
                        if way == "alert":
                            plain.setblocking(False)
                            try: line.unwrap()
                            except ssl.SSLWantReadError: pass
                        if way == "end": plain.shutdown(socket.SHUT_WR)
                        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
                        if way == "alert": return threading.Event().wait()

            while True:
                plain, _ = listener.accept()
                threading.Thread(target=serve, args=(plain,), daemon=True).start()
            """

        private func server(_ way: String, limit: Int = 0) async throws -> TLSServer {
            try await TLSServer(
                program: Self.program.replacingOccurrences(
                    of: "WAY, LIMIT = \"\", 0", with: "WAY, LIMIT = \"\(way)\", \(limit)"))
        }

        private func atom(of server: TLSServer) throws -> Atom {
            Atom(.forTest(over: try CurlTransport(configuration: server.configuration), time: SystemTimeSource()))
        }

        private func post(to server: TLSServer) -> WireEndpoint {
            WireEndpoint(
                scheme: .https, host: "127.0.0.1", port: server.port, rawPath: "/x", method: .post(Data("body".utf8)))
        }

        /// Without TLS the server can be asked about what it does, and be told to go on.
        private func ask(_ path: String, of server: TLSServer, with atom: Atom? = nil) async throws -> String? {
            let endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: path)
            let atom = try atom ?? Atom(.forTest(over: try CurlTransport()))
            return await atom.outcome(of: endpoint).text
        }

        @Test(
            "What the server has not processed is sent again at once, whatever its method",
            .enabled(if: (try? CurlLibrary.loaded.get())?.tellsOfRefusals == true, "libcurl doesn't tell"),
            arguments: ["refuse", "refuse2", "goaway", "goaway2", "goaway-end", "goaway-end2"])
        func unprocessed(way: String) async throws {
            // Before 7.88 it doesn't tell if no other stream is left.
            let number = try CurlLibrary.loaded.get().number
            if way.hasPrefix("goaway"), number < 0x07_58_00 { return }
            // 8.3 never does.
            if (0x08_03_00..<0x08_04_00).contains(number) { return }
            let server = try await server(way)
            let atom = try atom(of: server)
            let endpoint = post(to: server)
            let first = await atom.outcome(of: endpoint)
            #expect(first.text?.hasPrefix("1 ") == way.hasSuffix("2"), "\(first)")
            let second = await atom.outcome(of: endpoint)
            // 8.23 looks at another connection first.
            #expect(second.text?.hasPrefix("1 ") == false, "\(second)")
            await server.end()
        }

        @Test("A burst is sent as the server allows, over new connections, too", arguments: [1, 10, 40])
        func burst(limit: Int) async throws {
            let server = try await server("", limit: limit)
            let atom = try atom(of: server)
            let endpoint = post(to: server)
            let texts = await withTaskGroup(of: Result<AtomResponse, AtomError>.self) { group in
                for _ in 0..<100 { group.addTask { await atom.outcome(of: endpoint) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // The number of a connection, and that none was refused.
            #expect(texts.allSatisfy { $0.text?.hasSuffix(" 0") == true }, "\(texts.map { $0.text ?? "\($0)" })")
            await server.end()
        }

        @Test("What waits until a connection has room says that the silence isn't the server's")
        func waitsForRoom() async throws {
            let server = try await server("hold2", limit: 1)
            var configuration = try server.configuration
            configuration.connectionsPerOrigin = 1
            let transport = try CurlTransport(configuration: configuration)
            let request = try TransportRequest(
                base: BaseURL(scheme: .https, host: "127.0.0.1", port: server.port), path: .empty)
            #expect(await transport.run(request).text == "1 0")
            let held = transport.begin(request)
            _ = try await ask("/reached", of: server)
            let waiting = transport.begin(request)
            let looked = Signal()
            waiting.exchange.catchUp { looked.raise() }
            await looked.wait()
            #expect(waiting.recorder.kinds == [.sent] && held.recorder.kinds == [])
            _ = try await ask("/free", of: server)
            #expect(await held.end().text == "1 0")
            #expect(await waiting.end().text == "1 0")
            await server.end()
        }

        @Test("A body that is cut is no success because the server wants HTTP/1.1")
        func cut() async throws {
            let server = try await server("cut")
            let exchange = try CurlTransport(configuration: server.configuration).begin(
                try TransportRequest(base: BaseURL(scheme: .https, host: "127.0.0.1", port: server.port), path: .empty))
            #expect(await eventually { exchange.recorder.body.count == 5 })
            _ = try await ask("/free", of: server)
            let failure = await exchange.end().failure
            #expect(failure?.delivery == .answered && failure?.isUnprocessed == false, "\(String(describing: failure))")
            await server.end()
        }

        @Test("A server that sends without end holds up no other request", arguments: ["window", "priority"])
        func flood(way: String) async throws {
            let server = try await server(way)
            let atom = try atom(of: server)
            let endpoint = post(to: server)
            async let flooded = atom.outcome(of: endpoint)
            #expect(try await ask("/reached", of: server) == "")
            #expect(try await ask("/other", of: server, with: atom) == "")
            guard case .failure(let error) = await flooded else { throw Unexpected("the flood was a response") }
            #expect(error.delivery == .maybeSent, "\(error)")
            await server.end()
        }

        @Test("A server that wants HTTP/1.1 has not said that it has processed nothing")
        func required() async throws {
            let server = try await server("require")
            let outcome = await (try atom(of: server)).outcome(of: post(to: server))
            guard case .failure(let error) = outcome else { throw Unexpected("\(outcome)") }
            #expect(error.delivery == .maybeSent, "\(error)")
            await server.end()
        }

        @Test(
            "A connection that the server has ended, or sent something over, is not used again",
            arguments: ["alert", "end", "leave", "next"])
        func kept(way: String) async throws {
            let server = try await server(way)
            let atom = try atom(of: server)
            let endpoint = post(to: server)
            // From 8.14 to 8.21 a frame of a stream that nobody has opened also ends what came before it.
            let number = try CurlLibrary.loaded.get().number
            let mayFail = way == "next" && (0x08_0E_00..<0x08_16_00).contains(number)
            let first = await atom.outcome(of: endpoint).text
            #expect(first == "1 0" || mayFail && first == nil)
            for _ in 0..<3 {
                let outcome = await atom.outcome(of: endpoint)
                // 8.23 offers it again for a second, and then each request has another one.
                #expect(outcome.text == "2 0" || mayFail && outcome.text == nil, "\(outcome)")
            }
            await server.end()
        }
    }
#endif
