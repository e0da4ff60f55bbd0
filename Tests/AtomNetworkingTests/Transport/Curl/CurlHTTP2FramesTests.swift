#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// What a server of HTTP/2 says by its frames (RFC 9113 §6.8, §8.7).
    @Suite(
        .enabled(if: OpenSSL.path != nil && Python.path != nil, "openssl or python3 is not installed"),
        .limited)
    struct CurlHTTP2FramesTests {
        /// Answers with the number of the connection and how many streams it has refused.
        ///
        /// `WAY` names what the first connection does with its first stream, or its second one if it ends in `2`.
        private static let program = """
            import socket, ssl, threading

            WAY, LIMIT = "", 0
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("server.pem", "server.key")
            context.set_alpn_protocols(["h2", "http/1.1"])
            listener = socket.create_server(("127.0.0.1", 0))
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
            REFUSED, FREE = [], threading.Event()

            def serve(plain, number):
                if plain.recv(1, socket.MSG_PEEK) != b"\\x16":
                    if b"/free" in plain.recv(65536): FREE.set()
                    return plain.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
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
                open, wanted, last, busy = [], 3 if WAY.endswith("2") else 1, 0, WAY == "crowd"
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
                    if WAY == "never": way = "refuse"
                    open.remove(stream)
                    if way in ("refuse", "require"):
                        REFUSED.append(stream)
                        line.sendall(frame(3, 0, stream, (7 if way == "refuse" else 13).to_bytes(4, "big")))
                    elif way == "goaway":
                        line.sendall(frame(7, 0, 0, (stream - 2 if stream > 1 else 0).to_bytes(4, "big") + bytes(4)))
                    elif way == "cut":
                        line.sendall(frame(1, 4, stream, b"\\x88\\x0f\\x0d\\x0210") + frame(0, 0, stream, b"first"))
                        FREE.wait()
                        line.sendall(frame(3, 0, stream, (13).to_bytes(4, "big")))
                    else:
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

            number = 0
            while True:
                plain, _ = listener.accept()
                number += 1
                threading.Thread(target=serve, args=(plain, number), daemon=True).start()
            """

        private func server(_ way: String, limit: Int = 0) async throws -> TLSServer {
            try await TLSServer(
                program: Self.program.replacingOccurrences(
                    of: "WAY, LIMIT = \"\", 0", with: "WAY, LIMIT = \"\(way)\", \(limit)"))
        }

        private func atom(of server: TLSServer) throws -> Atom {
            var configuration = CurlTransport.Configuration()
            configuration.trust = .only(try server.certificates("authority"))
            configuration.proxy = .none
            return Atom(.forTest(over: try CurlTransport(configuration: configuration), time: SystemTimeSource()))
        }

        private func post(to server: TLSServer) -> WireEndpoint {
            WireEndpoint(
                scheme: .https, host: "127.0.0.1", port: server.port, rawPath: "/x", method: .post(Data("body".utf8)))
        }

        /// Without TLS the server can be told to go on.
        private func ask(_ path: String, of server: TLSServer) async throws -> String? {
            let endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: path)
            return await Atom(.forTest(over: try CurlTransport())).outcome(of: endpoint).text
        }

        @Test(
            "What the server has not processed is sent again at once, whatever its method",
            .enabled(if: (try? CurlLibrary.loaded.get())?.tellsOfRefusals == true, "libcurl doesn't tell"),
            arguments: ["refuse", "refuse2", "goaway", "goaway2"])
        func unprocessed(way: String) async throws {
            // Before 8.1 it doesn't tell if no other stream is left.
            if way.hasPrefix("goaway"), try CurlLibrary.loaded.get().number < 0x08_01_00 { return }
            let server = try await server(way)
            let atom = try atom(of: server)
            let endpoint = post(to: server)
            let first = await atom.outcome(of: endpoint)
            #expect(first.text?.hasPrefix(way.hasSuffix("2") ? "1 " : "2 ") == true, "\(first)")
            let second = await atom.outcome(of: endpoint)
            #expect(second.text?.hasPrefix("2 ") == true, "\(second)")
            await server.end()
        }

        @Test("A burst is sent as the server allows, over new connections, too", arguments: [10, 40])
        func burst(limit: Int) async throws {
            let server = try await server("", limit: limit)
            let atom = try atom(of: server)
            let endpoint = post(to: server)
            let texts = await withTaskGroup(of: Result<AtomResponse, AtomError>.self) { group in
                for _ in 0..<100 { group.addTask { await atom.outcome(of: endpoint) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts.allSatisfy { $0.text != nil }, "\(texts.first { $0.text == nil }.map { "\($0)" } ?? "")")
            await server.end()
        }

        @Test("A body that is cut is no success because the server wants HTTP/1.1")
        func cut() async throws {
            let server = try await server("cut")
            var configuration = CurlTransport.Configuration()
            configuration.trust = .only(try server.certificates("authority"))
            configuration.proxy = .none
            let exchange = try CurlTransport(configuration: configuration).begin(
                try TransportRequest(base: BaseURL(scheme: .https, host: "127.0.0.1", port: server.port), path: .empty))
            #expect(await eventually { exchange.recorder.body.count == 5 })
            _ = try await ask("/free", of: server)
            let failure = await exchange.end().failure
            #expect(failure?.delivery == .answered && failure?.isUnprocessed == false, "\(String(describing: failure))")
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
            #expect(await atom.outcome(of: endpoint).text == "1 0")
            for _ in 0..<3 {
                let outcome = await atom.outcome(of: endpoint)
                #expect(outcome.text == "2 0", "\(outcome)")
            }
            await server.end()
        }
    }
#endif
