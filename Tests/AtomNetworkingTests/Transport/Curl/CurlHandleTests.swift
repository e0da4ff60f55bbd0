#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// A handle of libcurl's that is used for one exchange after the other.
    @Suite("A handle that is used again", .limited) struct CurlHandleTests {
        /// What a request sets beside its target and its fields, if anything, or what its response leads to.
        enum Kind: String, CaseIterable {
            case plain, otherTarget, withFields, long, head, post, put, deleted, fresh, patient, measured
            case closed, refused, cut

            func request(at server: LoopbackServer) throws -> TransportRequest {
                let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
                let fields = HeaderFields([.init(name: "X-Kind", value: rawValue), .init(name: "Accept", value: "a/b")])
                let body: Data? = [.post, .put].contains(self) ? Data(rawValue.utf8) : nil
                let methods: [Kind: String] = [.head: "HEAD", .post: "POST", .put: "PUT", .deleted: "DELETE"]
                let path = self == .long ? "/" + String(repeating: "x", count: 9_000) : "/\(rawValue)"
                return try TransportRequest(
                    method: methods[self] ?? "GET", base: base, path: URLPath(path),
                    queryItems: self == .otherTarget ? [QueryItem(name: "a", value: "b")] : [],
                    headerFields: self == .withFields || self == .post ? fields : HeaderFields(), body: body,
                    idleTimeout: self == .patient ? .seconds(1_000) : .seconds(30),
                    needsFreshConnection: self == .fresh,
                    wantsMetrics: self == .measured)
            }

            func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
                switch self {
                case .closed: .text("closed").closingSilently()
                case .refused: .text("refused", status: 500)
                case .cut: .reset
                default: .text("here")
                }
            }
        }

        private func run(_ kinds: [Kind]) async throws -> (heads: [String], texts: [String]) {
            let server = try LoopbackServer { request in
                (Kind.allCases.first { request.path == "/\($0)" } ?? .long).answer(request)
            }
            defer { server.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            let transport = try CurlTransport(configuration: configuration)
            var texts: [String] = []
            for kind in kinds {
                let recorder = await transport.run(try kind.request(at: server))
                #expect(recorder.violations == [], "\(kind): \(recorder.events)")
                texts.append("\(recorder.text), failed: \(recorder.failure != nil)")
            }
            let heads = server.requests.map { request in
                let lines = request.headers.map { "\($0.name): \($0.value)" }
                return (["\(request.method) \(request.target) \(request.version)"] + lines).joined(separator: "\n")
                    .replacingOccurrences(of: ":\(server.port)", with: "")
            }
            return (heads, texts)
        }

        @Test("sends what a new one sends, whatever it was used for before", arguments: Kind.allCases)
        func order(kind: Kind) async throws {
            for before in Kind.allCases {
                let alone = try await run([kind])
                // Twice: what the first leaves is what the second begins with.
                let after = try await run([.plain, before, kind, kind])
                #expect(Array(after.heads.suffix(2)) == alone.heads + alone.heads, "after \(before)")
                #expect(Array(after.texts.suffix(2)) == alone.texts + alone.texts, "after \(before)")
            }
        }

        /// Answers with the head that it has got; `/ending` has a body that only the end of the connection ends.
        private static let program = """
            import socket, ssl, threading

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("server.pem", "server.key")
            listener = socket.create_server(("127.0.0.1", 0))
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)

            def serve(plain):
                try:
                    line = context.wrap_socket(plain, server_side=True)
                    file = line.makefile("rb")
                    while True:
                        head = b""
                        while not head.endswith(b"\\r\\n\\r\\n"):
                            part = file.readline()
                            if not part: return
                            head += part
                        if b"POST" in head: file.read(4)
                        isEnding = b"/ending" in head
                        line.sendall(b"HTTP/1.1 200 OK\\r\\n")
                        if not isEnding: line.sendall(b"Content-Length: %d\\r\\n" % len(head))
                        line.sendall(b"\\r\\n" + head)
                        if isEnding:
                            line.unwrap()
                            return
                except OSError:
                    pass

            while True:
                threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
            """

        @Test(
            "sends over TLS what a new one sends",
            .enabled(if: OpenSSL.path != nil && Python.path != nil, "needs openssl and Python"))
        func overTLS() async throws {
            let server = try await TLSServer(program: Self.program)
            let stranger = try await TLSServer(.expired)
            let configuration = try server.configuration
            func request(_ kind: String, at port: Int? = nil) throws -> TransportRequest {
                try TransportRequest(
                    method: kind == "post" ? "POST" : "GET",
                    base: BaseURL(host: "127.0.0.1", port: port ?? server.port), path: URLPath("/\(kind)"),
                    body: kind == "post" ? Data("body".utf8) : nil, needsFreshConnection: kind == "fresh")
            }
            let kinds = ["plain", "ending", "post", "fresh"]
            for kind in kinds {
                let alone = await (try CurlTransport(configuration: configuration)).run(try request(kind)).text
                #expect(alone.hasPrefix("\(kind == "post" ? "POST" : "GET") /\(kind) HTTP/1.1"))
                for before in kinds + ["stranger"] {
                    let transport = try CurlTransport(configuration: configuration)
                    for name in ["plain", before] {
                        let port = name == "stranger" ? stranger.port : server.port
                        let recorder = await transport.run(try request(name, at: port))
                        #expect((recorder.failure == nil) == (name != "stranger"))
                    }
                    for _ in 0..<2 {
                        let recorder = await transport.run(try request(kind))
                        #expect(recorder.text == alone, "\(kind) after \(before): \(recorder.events)")
                    }
                }
            }
            await server.end()
            await stranger.end()
        }
    }
#endif
