#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// What TLS has decrypted, and libcurl has not taken, is in no socket any more.
    @Suite(
        .enabled(if: OpenSSL.path != nil && Python.path != nil, "openssl or python3 is not installed"),
        .limited)
    struct CurlTLSSurplusTests {
        /// Answers with the number of the connection.
        ///
        /// The path names the records of an answer. CONNECT is followed by TLS within
        /// TLS, whose records then come in one of the outer ones.
        private static let program = """
            import socket, ssl, threading

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("server.pem", "server.key")
            listener = socket.create_server(("127.0.0.1", 0))
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
            HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n"
            EVIL = HEAD % 4 + b"EVIL"
            RECORDS = {
                b"with": [HEAD % 5, b"first" + EVIL],
                b"alert": [HEAD % 5, b"first"],
                b"after": [HEAD % 5, b"first", EVIL],
                b"two": [HEAD.replace(b"1.1", b"2") % 5, b"first"],
                b"hint": [b"HTTP/2 103 Early Hints\\r\\n\\r\\n", HEAD % 5, b"first"],
                b"chunk": [HEAD.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked"),
                           b"5\\r\\nfirst\\r\\n0\\r\\n\\r\\n", EVIL],
            }

            ALERTED = []
            MUTE = SPLIT = False
            LEAVES = None
            ANSWERED = []
            CROWD, FREE = threading.Barrier(6), threading.Event()

            class Within:
                def __init__(self, outer):
                    self.outer, self.read, self.written = outer, ssl.MemoryBIO(), ssl.MemoryBIO()
                    self.tls = context.wrap_bio(self.read, self.written, server_side=True)
                    self.until_done(self.tls.do_handshake)
                def until_done(self, step):
                    while True:
                        try:
                            return step()
                        except ssl.SSLWantReadError:
                            if self.written.pending: self.outer.sendall(self.written.read())
                            part = self.outer.recv(65536)
                            if part: self.read.write(part)
                            else: self.read.write_eof()
                def recv(self, count): return self.until_done(lambda: self.tls.read(count))
                def sendall(self, part): self.tls.write(part)

            def serve(plain, number):
                wire = line = context.wrap_socket(plain, server_side=True)
                if SPLIT and number == 1: context.set_alpn_protocols(["h2"])
                if line.selected_alpn_protocol() == "h2": return serve_frames(line, number)
                while True:
                    head = b""
                    while b"\\r\\n\\r\\n" not in head:
                        part = line.recv(65536)
                        if not part: return
                        head += part
                    method, target = head.split(b" ")[:2]
                    if method == b"CONNECT":
                        line.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
                        line = Within(line)
                        continue
                    if b"/crowd" in target: CROWD.wait()
                    if b"/free" in target: FREE.set()
                    if b"/held" in target: FREE.wait()
                    if b"/mixed" in target: context.set_alpn_protocols(["h2"])
                    text = target.split(b"?")[-1] if b"?" in target else b"%d" % number
                    # All records come at once, and the alert that ends TLS, but not TCP.
                    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
                    for record in RECORDS.get(target.split(b"/")[-1], [HEAD % len(text) + text]): line.sendall(record)
                    if target.endswith(b"alert"):
                        wire.setblocking(False)
                        try: wire.unwrap()
                        except ssl.SSLWantReadError: pass
                        ALERTED.append(wire)
                    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
                    if b"/held" not in target: ANSWERED.append(number)
                    if len(ANSWERED) >= 21: FREE.set()
                    if wire in ALERTED: return

            # Each request over HTTP/2 gets the number of its connection, whatever it asks for.
            def serve_frames(line, number):
                def frame(kind, flags, stream, body=b""):
                    line.sendall(len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body)
                def read(count):
                    part = b""
                    while len(part) < count:
                        more = line.recv(count - len(part))
                        if not more: raise EOFError
                        part += more
                    return part
                read(24)
                frame(4, 0, 0)
                while True:
                    head = read(9)
                    read(int.from_bytes(head[:3], "big"))
                    stream = int.from_bytes(head[5:], "big")
                    if LEAVES and number == 1 and stream > 1:
                        line.settimeout(0.2)
                        if LEAVES == "goaway": frame(7, 0, 0, (1).to_bytes(4, "big") + bytes(4))
                        if LEAVES == "alert":
                            try: line.unwrap()
                            except OSError: pass
                        return line.close()
                    if MUTE and number == 1 and stream > 1:
                        if head[3] != 1 or stream != 5: continue
                        FREE.wait()
                        stream = 3
                    if head[3] == 1:
                        frame(1, 4, stream, b"\\x88")
                        frame(0, 1, stream, b"%d" % number)
                        ANSWERED.append(number)
                        if len(ANSWERED) >= 21 or stream == 5 and not SPLIT or MUTE and number == 4: FREE.set()

            number = 0
            while True:
                plain, _ = listener.accept()
                number += 1
                threading.Thread(target=serve, args=(plain, number), daemon=True).start()
            """

        private func begin(
            _ path: String, of server: TLSServer, over transport: CurlTransport
        ) throws -> StartedExchange {
            let base = try BaseURL(scheme: .https, host: "127.0.0.1", port: server.port)
            return transport.begin(try TransportRequest(base: base, path: URLPath(path)))
        }

        private func run(
            _ paths: [String], _ scheme: BaseURLScheme = .https, overProxy: Bool = false, crowd: Bool = false
        ) async throws -> [String] {
            let server = try await TLSServer(program: Self.program)
            var configuration = try server.configuration
            if overProxy { configuration.proxy = .server(try .init("https://127.0.0.1:\(server.port)")) }
            let transport = try CurlTransport(configuration: configuration)
            let base = try BaseURL(scheme: scheme, host: "127.0.0.1", port: server.port)
            var texts: [String] = []
            for path in paths {
                let recorder = await transport.run(try TransportRequest(base: base, path: URLPath(path)))
                #expect(recorder.violations == [])
                texts.append(recorder.failure.map { "\($0)" } ?? recorder.text)
            }
            // The server answers when all of them have come, which needs a connection each.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<(crowd ? 6 : 0) {
                    group.addTask {
                        let item = QueryItem(name: "id", value: "\(number)")
                        let recorder = await transport.run(
                            try TransportRequest(base: base, path: URLPath("/crowd"), queryItems: [item]))
                        #expect(recorder.text == "id=\(number)", "\(recorder.events)")
                    }
                }
                try await group.waitForAll()
            }
            await server.end()
            return texts
        }

        @Test(
            "What follows a response within TLS is nobody's response",
            arguments: ["/with", "/after", "/chunk", "/alert"])
        func surplus(path: String) async throws {
            #expect(try await run([path, "/next", "/last"]) == ["first", "2", "2"])
        }

        @Test("Good responses come over one connection, also beside the tickets of TLS 1.3")
        func kept() async throws {
            #expect(try await run(Array(repeating: "/good", count: 20)) == Array(repeating: "1", count: 20))
        }

        @Test(
            "A status line of HTTP/2 makes no connection of HTTP/1.1 carry several requests",
            arguments: ["two", "hint"])
        func pretended(path: String) async throws {
            let texts = try await run(["/good", "/\(path)", "/next", "/last"], crowd: true)
            #expect(texts.map(\.count) == [1, texts[1].count, 1, 1])
            #expect(texts[1] != "first" && texts[2] != "1" && texts[3] == texts[2], "\(texts)")
        }

        @Test(
            "Beside a connection of HTTP/2 one of HTTP/1.1 carries one request at a time",
            .enabled(if: CurlLibrary.speaksHTTP2, "libcurl has no HTTP/2, or an old one"))
        func mixed() async throws {
            let server = try await TLSServer(program: Self.program)
            let transport = try CurlTransport(configuration: server.configuration)
            func begin(_ path: String) throws -> StartedExchange { try self.begin(path, of: server, over: transport) }
            // From here on new connections are of HTTP/2.
            #expect(try await begin("/mixed").end().text == "1")
            let held = try begin("/held")
            #expect(try await begin("/a").end().text == "2")
            let others = try CurlLibrary.loaded.get().confusesProtocols ? "3" : "2"
            for path in ["/b", "/free"] { #expect(try await begin(path).end().text == others) }
            #expect(await held.end().text == "1")
            await server.end()
        }

        @Test("Those that wait for the first connection don't wait for its response", arguments: [false, true])
        func burst(othersMultiplex: Bool) async throws {
            let program =
                othersMultiplex
                ? Self.program.replacingOccurrences(
                    of: "MUTE = SPLIT = False", with: "MUTE, SPLIT = False, True") : Self.program
            let server = try await TLSServer(program: program)
            let transport = try CurlTransport(configuration: server.configuration)
            func begin(_ path: String) throws -> StartedExchange { try self.begin(path, of: server, over: transport) }
            let held = try begin("/held")
            for other in try (0..<20).map({ _ in try begin("/other") }) {
                let text = await other.end().text
                #expect(!text.isEmpty && text != "1")
            }
            _ = try await begin("/free").end()
            #expect(await held.end().text == "1")
            await server.end()
        }

        @Test(
            "A connection of HTTP/2 that has gone silent is not used again",
            .enabled(if: CurlLibrary.speaksHTTP2, "libcurl has no HTTP/2, or an old one"), arguments: [false, true])
        func silent(isInUse: Bool) async throws {
            let program = Self.program.replacingOccurrences(
                of: "MUTE = SPLIT = False",
                with: "MUTE, SPLIT = True, False; context.set_alpn_protocols(['h2'])")
            let server = try await TLSServer(program: program)
            let atom = Atom(
                .forTest(
                    over: try CurlTransport(configuration: server.configuration), time: SystemTimeSource()))
            func endpoint(_ path: String, seconds: Double = 120) -> WireEndpoint {
                var endpoint = WireEndpoint(scheme: .https, host: "127.0.0.1", port: server.port, rawPath: path)
                endpoint.timeout = ServiceTimeout(request: seconds, resource: 240)
                return endpoint
            }
            #expect(await atom.outcome(of: endpoint("/first")).text == "1")
            // Another exchange stays on the connection, or none does.
            let (answer, answered) = (Locked<String?>(nil), Signal())
            let held = isInUse ? atom.enqueue(endpoint("/held")) : nil
            held?.resume { result in
                answer.with { $0 = result.text }
                answered.raise()
            }
            #expect(await atom.outcome(of: endpoint("/lost", seconds: 1)).urlError?.code == .timedOut)
            var texts: [String] = []
            // On a busy machine another one may be lost. If the connection were used again, all of them would be.
            for _ in 0..<20 where texts.count < 3 {
                if let text = await atom.outcome(of: endpoint("/next", seconds: 1)).text { texts.append(text) }
            }
            #expect(texts.count == 3 && !texts.contains("1"))
            if isInUse {
                await answered.wait()
                #expect(answer.value == "1", "nobody's exchange ends with another one")
            }
            await server.end()
        }

        @Test(
            "A GET that comes as the server ends a kept connection of HTTP/2 is sent once more, over another",
            .enabled(if: CurlLibrary.speaksHTTP2, "libcurl has no HTTP/2, or an old one"),
            arguments: ["goaway", "alert", "close"])
        func ended(way: String) async throws {
            let program = Self.program.replacingOccurrences(
                of: "LEAVES = None", with: "LEAVES = '\(way)'; context.set_alpn_protocols(['h2'])")
            let server = try await TLSServer(program: program)
            let atom = Atom(.forTest(over: try CurlTransport(configuration: server.configuration)))
            let endpoint = WireEndpoint(scheme: .https, host: "127.0.0.1", port: server.port, rawPath: "/x")
            #expect(await atom.outcome(of: endpoint).text == "1")
            // 8.23 looks at another connection first.
            #expect(await ["2", "3"].contains(atom.outcome(of: endpoint).text))
            await server.end()
        }

        @Test(
            "Nothing is left of a connection over a proxy that is reached over TLS",
            arguments: [BaseURLScheme.http, .https], ["/with", "/after"])
        func overProxy(scheme: BaseURLScheme, path: String) async throws {
            #expect(try await run([path, "/next", "/last"], scheme, overProxy: true) == ["first", "2", "3"])
        }
    }
#endif
