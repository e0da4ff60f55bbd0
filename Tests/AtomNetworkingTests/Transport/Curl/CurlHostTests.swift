#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    /// Hosts as they are found where there is no DNS for them, and a dot at their end.
    @Suite("Unusual hosts over libcurl", .limited) struct CurlHostTests {
        private static let canResolveLocalNames = (try? CurlLibrary.loaded.get().number >= 0x07_55_00) == true

        @Test(
            "A host with an underscore is resolved, connected to, and named",
            .enabled(if: canResolveLocalNames, "libcurl before 7.85 asks the DNS for names below localhost"),
            arguments: ["my_service.localhost", "_dmarc.localhost", "a_.localhost"])
        func underscore(host: String) async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            let base = try BaseURL(scheme: .http, host: host, port: server.port)
            let recorder = try await CurlTransport(configuration: configuration)
                .run(TransportRequest(base: base, path: URLPath("/x")))
            #expect(recorder.text == "here" && recorder.violations == [], "\(recorder.events)")
            #expect(server.requests.map { $0["Host"] } == ["\(host):\(server.port)"])
        }

        /// One handle after the other server's, too: libcurl knows only the server's URL, and gets the rest as text.
        @Test("What follows the host is sent as it is, whatever was sent before it")
        func targets() async throws {
            let servers = [try LoopbackServer { _ in .text("here") }, try LoopbackServer { _ in .text("there") }]
            defer { for server in servers { server.stop() } }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            let transport = try CurlTransport(configuration: configuration)
            let targets = [
                "/", "/?", "/a%2Fb/%2e%2E/c?d=%C3%A9&e=%2f", "/a//b/...", "/*?x=/y?z", "/?q=a+b&c=1,2;3", "/a:b@c'(d)",
                "/" + String(repeating: "long/", count: 2_000), "/",
            ]
            for target in targets {
                for server in servers {
                    let url = try #require(
                        TargetURL.resolving("http://\(server.host):\(server.port)\(target)", against: nil))
                    let request = TransportRequest(
                        method: "GET", target: url, headerFields: HeaderFields(), body: nil, idleTimeout: .seconds(30))
                    let recorder = await transport.run(request)
                    #expect(recorder.violations == [], "\(recorder.events)")
                }
            }
            for server in servers {
                #expect(server.requests.map(\.target) == targets)
                #expect(Set(server.requests.map { $0["Host"] }) == ["\(server.host):\(server.port)"])
            }
        }

        @Test(
            "A proxy gets the host as it is",
            arguments: ["my_service", "redis.", "_a_.prod.svc.cluster.local.", "a.example."])
        func overProxy(host: String) async throws {
            let proxy = try LoopbackServer { _ in .text("proxied") }
            defer { proxy.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(try .init("http://127.0.0.1:\(proxy.port)"))
            let base = try BaseURL(scheme: .http, host: host, port: 8_080)
            let recorder = try await CurlTransport(configuration: configuration)
                .run(TransportRequest(base: base, path: URLPath("/x")))
            #expect(recorder.text == "proxied" && recorder.violations == [])
            #expect(proxy.requests.map(\.target) == ["http://\(host):8080/x"])
            #expect(proxy.requests.map { $0["Host"] } == ["\(host):8080"])
        }

        /// A proxy that is the server as well, and answers with the name that TLS was given, and with `Host`.
        private static let program = """
            import socket, ssl, threading

            names = []
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("elsewhere.pem", "elsewhere.key")
            context.sni_callback = lambda line, name, _: names.append(name)
            listener = socket.create_server(("127.0.0.1", 0))
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)

            def head(line):
                text = b""
                while not text.endswith(b"\\r\\n\\r\\n"):
                    part = line.recv(1)
                    if not part: return []
                    text += part
                return text.decode().split("\\r\\n")

            def serve(plain):
                try:
                    head(plain)
                    plain.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
                    line = context.wrap_socket(plain, server_side=True)
                    fields = [field for field in head(line) if field.lower().startswith("host:")]
                    body = " ".join([names[-1], *fields]).encode()
                    line.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
                except OSError:
                    pass

            while True:
                threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
            """

        @Test(
            "A dot at the end is in Host, but not in the name for TLS, and the certificate is the name's",
            .enabled(if: OpenSSL.path != nil && Python.path != nil, "openssl or python3 is not installed"))
        func lastDot() async throws {
            let server = try await TLSServer(.elsewhere, program: Self.program)
            var configuration = try server.configuration
            configuration.proxy = .server(try .init("http://127.0.0.1:\(server.port)"))
            let transport = try CurlTransport(configuration: configuration)
            for host in ["elsewhere.example", "elsewhere.example."] {
                let request = try TransportRequest(base: BaseURL(host: host), path: .empty)
                let recorder = await transport.run(request)
                #expect(recorder.text == "elsewhere.example Host: \(host)", "\(recorder.events)")
            }
            let other = await transport.run(try TransportRequest(base: BaseURL(host: "other.example."), path: .empty))
            #expect(other.urlError?.code == .serverCertificateUntrusted, "\(other.events)")
            #expect(other.failure?.delivery == .notSent && other.violations == [])
            await server.end()
        }
    }
#endif
