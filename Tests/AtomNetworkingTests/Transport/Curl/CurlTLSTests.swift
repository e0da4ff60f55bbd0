#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    @Suite(.enabled(if: OpenSSL.path != nil, "openssl is not installed"), .limited)
    struct CurlTLSTests {
        /// Sends one request with the settings.
        private func run(
            _ server: TLSServer, _ change: (inout CurlTransport.Configuration) throws -> Void = { _ in }
        ) async throws -> EventRecorder {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            try change(&configuration)
            let base = try BaseURL(scheme: .https, host: "127.0.0.1", port: server.port)
            let recorder = try await CurlTransport(configuration: configuration)
                .run(TransportRequest(base: base, path: .empty))
            #expect(recorder.violations == [])
            return recorder
        }

        private func expect(
            _ recorder: EventRecorder, _ code: URLError.Code, _ words: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(recorder.urlError?.code == code, "\(recorder.events)", sourceLocation: sourceLocation)
            #expect(recorder.failure?.delivery == .notSent, sourceLocation: sourceLocation)
            let text = recorder.urlError?.localizedDescription ?? ""
            #expect(text.contains(words), "\(text)", sourceLocation: sourceLocation)
        }

        @Test("Whose certificate is trusted is a setting")
        func trust() async throws {
            let server = try await TLSServer()
            #expect(try await run(server) { $0.trust = .only(try server.certificates("authority")) }.status == 200)
            #expect(try await run(server) { $0.trust = .systemAnd(try server.certificates("authority")) }.status == 200)
            expect(try await run(server), .serverCertificateUntrusted, "certificate")
            expect(
                try await run(server) { $0.trust = .only(try server.certificates("other")) },
                .serverCertificateUntrusted, "certificate")
            expect(
                try await run(server) { $0.trust = .systemAnd(try server.certificates("other")) },
                .serverCertificateUntrusted, "certificate")
            await server.end()
        }

        @Test("A proxy that is reached over TLS shows a certificate of the same authorities")
        func proxyTrust() async throws {
            let server = try await TLSServer()
            func overProxy(_ trust: CurlTransport.Trust, _ scheme: BaseURLScheme) async throws -> EventRecorder {
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .server(try .init("https://127.0.0.1:\(server.port)"))
                configuration.trust = trust
                let base = try BaseURL(scheme: scheme, host: "origin.example")
                return try await CurlTransport(configuration: configuration)
                    .run(TransportRequest(base: base, path: .empty))
            }
            let (authority, other) = (try server.certificates("authority"), try server.certificates("other"))
            for trust in [CurlTransport.Trust.only(authority), .systemAnd(authority)] {
                #expect(try await overProxy(trust, .http).status == 200)
            }
            for trust in [CurlTransport.Trust.system, .only(other), .systemAnd(other)] {
                for scheme in [BaseURLScheme.http, .https] {
                    let recorder = try await overProxy(trust, scheme)
                    #expect(recorder.failure?.delivery == .notSent, "\(recorder.events)")
                    #expect(recorder.urlError?.localizedDescription.contains("certificate") == true)
                }
            }
            await server.end()
        }

        @Test("A transport whose protection libcurl refuses isn't made, and its exchanges would fail")
        func refusedOption() async throws {
            let server = try await TLSServer()
            // libcurl accepts no text of more than eight megabytes.
            let long = String(repeating: "x", count: 8_100_000)
            var configuration = CurlTransport.Configuration()
            configuration.clientCertificate = try .init(
                chain: server.certificates("client"), privateKey: server.text("client.key"), passphrase: long)
            do throws(AtomError) {
                _ = try CurlTransport(configuration: configuration)
                Issue.record("it was made")
            } catch {
                #expect("\(error)".contains("passphrase") && !"\(error)".contains("xxxx"))
            }
            let settings = try CurlSettings(configuration, library: try CurlLibrary.loaded.get())
            let loop = try #require(CurlLoop(settings))
            let request = try TransportRequest(
                base: BaseURL(scheme: .https, host: "127.0.0.1", port: server.port), path: .empty)
            let recorder = EventRecorder()
            loop.start(CurlExchange(request, loop: loop) { recorder.receive($0) })
            #expect(await eventually { recorder.failure != nil })
            loop.stop()
            #expect(recorder.failure?.delivery == .notSent && recorder.violations == [])
            await server.end()
        }

        @Test("Without an option that protects nothing is sent", arguments: [true, false])
        func missingOption(isProxied: Bool) async throws {
            let server = try await TLSServer()
            var configuration = CurlTransport.Configuration()
            configuration.trust = .only(try server.certificates("authority"))
            configuration.publicKeyPins = [try server.pin("server")]
            configuration.clientCertificate = try .init(
                chain: server.certificates("client"), privateKey: server.text("encrypted.key"),
                passphrase: "open-sesame")
            configuration.proxy =
                isProxied ? .server(try .init("https://127.0.0.1:9", username: "u", password: "p")) : .none
            let options = [
                "SSLVERSION": 32, "CAINFO": 10_065, "CAPATH": 10_097, "SSLCERT": 10_025, "SSLKEY": 10_087,
                "KEYPASSWD": 10_026, "PINNEDPUBLICKEY": 10_230,
            ]
            let proxyOptions = [
                "PROXY": 10_004, "NOPROXY": 10_177, "PROXYUSERNAME": 10_175, "PROXYPASSWORD": 10_176,
                "PROXY_SSLVERSION": 250, "PROXY_CAINFO": 10_246, "PROXY_CAPATH": 10_247,
            ]
            for (name, option) in Array(options) + (isProxied ? Array(proxyOptions) : []) {
                configuration.missingOption = option
                #expect(throws: AtomError.self, "\(name)") { try CurlTransport(configuration: configuration) }
            }
            configuration.missingOption = nil
            #expect(throws: Never.self) { try CurlTransport(configuration: configuration) }
            await server.end()
        }

        @Test("A connection that must be new isn't an old one", arguments: [74, 75])
        func missingFreshness(option: Int) async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.missingOption = option
            let transport = try CurlTransport(configuration: configuration)
            #expect(await transport.run(try .to(server)).text == "here")
            let recorder = await transport.run(try .to(server, "/x", needsFreshConnection: true))
            #expect(recorder.failure?.delivery == .notSent && recorder.violations == [])
            #expect(server.requestCount == 1)
        }

        @Test("A proxy of the environment is not used behind the app's back")
        func missingNoProxy() async {
            await #expect(processExitsWith: .success) {
                setenv("all_proxy", "http://127.0.0.1:9", 1)
                let server = try LoopbackServer { _ in .text("here") }
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .none
                configuration.missingOption = 10_177
                let refused = await (try CurlTransport(configuration: configuration)).run(try .to(server))
                #expect(refused.failure?.delivery == .notSent)
                configuration.missingOption = nil
                #expect(await (try CurlTransport(configuration: configuration)).run(try .to(server)).text == "here")
                server.stop()
            }
        }

        @Test("A certificate for another name is refused, and the error says whose it is")
        func name() async throws {
            let server = try await TLSServer(.elsewhere)
            let recorder = try await run(server) { $0.trust = .only(try server.certificates("authority")) }
            for words in ["name", "its certificate is that of"] { expect(recorder, .serverCertificateUntrusted, words) }
            await server.end()
        }

        @Test("An expired certificate is refused")
        func expired() async throws {
            let server = try await TLSServer(.expired)
            expect(
                try await run(server) { $0.trust = .only(try server.certificates("authority")) },
                .serverCertificateHasBadDate, "expired")
            await server.end()
        }

        @Test("A server that only speaks TLS 1.1 is refused")
        func oldVersion() async throws {
            let server = try await TLSServer(.server, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
            let recorder = try await run(server) { $0.trust = .only(try server.certificates("authority")) }
            #expect(recorder.urlError?.code == .secureConnectionFailed)
            #expect(recorder.failure?.delivery == .notSent)
            await server.end()
        }

        @Test("TLS 1.2 and 1.3 are spoken", arguments: ["-tls1_2", "-tls1_3"])
        func version(option: String) async throws {
            let server = try await TLSServer(.server, [option])
            #expect(try await run(server) { $0.trust = .only(try server.certificates("authority")) }.status == 200)
            await server.end()
        }

        @Test("A server must have one of the pinned keys, and a valid certificate")
        func pins() async throws {
            let server = try await TLSServer()
            let authority = try server.certificates("authority")
            let (right, wrong) = (try server.pin("server"), try server.pin("client"))
            for pins in [[right], [wrong, right], [right, wrong]] {
                let recorder = try await run(server) {
                    $0.trust = .only(authority)
                    $0.publicKeyPins = pins
                }
                #expect(recorder.status == 200, "\(recorder.events)")
            }
            expect(
                try await run(server) {
                    $0.trust = .only(authority)
                    $0.publicKeyPins = [wrong]
                }, .serverCertificateUntrusted, "pinned")
            expect(try await run(server) { $0.publicKeyPins = [right] }, .serverCertificateUntrusted, "certificate")
            await server.end()
        }

        @Test("A client shows its certificate to a server that asks for it", arguments: ["-tls1_2", "-tls1_3"])
        func clientCertificate(option: String) async throws {
            let server = try await TLSServer(
                .server, [option, "-Verify", "1", "-CAfile", "authority.pem", "-verify_return_error"])
            let authority = try server.certificates("authority")
            let chain = try server.certificates("client")
            let clear = try CurlTransport.ClientCertificate(chain: chain, privateKey: server.text("client.key"))
            let encrypted = try CurlTransport.ClientCertificate(
                chain: chain, privateKey: server.text("encrypted.key"), passphrase: "open-sesame")
            for certificate in [clear, encrypted] {
                let recorder = try await run(server) {
                    $0.trust = .only(authority)
                    $0.clientCertificate = certificate
                }
                #expect(recorder.status == 200, "\(recorder.events)")
            }
            let missing = try await run(server) { $0.trust = .only(authority) }
            let codes: [URLError.Code] = [.clientCertificateRequired, .secureConnectionFailed]
            #expect(missing.urlError.map { codes.contains($0.code) } == true, "\(missing.events)")
            #expect(missing.failure?.delivery != .answered)
            await server.end()
        }

        @Test("A client certificate that can't be used fails before anything is sent")
        func unusableClientCertificate() async throws {
            let server = try await TLSServer()
            let authority = try server.certificates("authority")
            let chain = try server.certificates("client")
            let unusable = [
                try CurlTransport.ClientCertificate(
                    chain: chain, privateKey: server.text("encrypted.key"), passphrase: "wrong"),
                try CurlTransport.ClientCertificate(chain: chain, privateKey: server.text("encrypted.key")),
                try CurlTransport.ClientCertificate(chain: chain, privateKey: server.text("server.key")),
                try CurlTransport.ClientCertificate(chain: chain, privateKey: TestPEM.key),
            ]
            for certificate in unusable {
                let recorder = try await run(server) {
                    $0.trust = .only(authority)
                    $0.clientCertificate = certificate
                }
                #expect(recorder.urlError?.code == .clientCertificateRejected, "\(recorder.events)")
                #expect(recorder.failure?.delivery == .notSent)
                #expect(recorder.urlError.map { "\($0)\($0.userInfo)" }?.contains("open-sesame") == false)
            }
            await server.end()
        }

        @Test("A connection that is cut in the handshake has sent nothing", arguments: [false, true], [0, 1, 7])
        func cut(withReset: Bool, bytes: Int) async throws {
            let server = try ByteServer { line in
                _ = line.read()
                line.write(Data([0x16, 3, 3, 0, 80, 2, 0].prefix(bytes)))
                return withReset ? .reset : .close
            }
            defer { server.stop() }
            let base = try BaseURL(scheme: .https, host: "127.0.0.1", port: server.port)
            let recorder = try await CurlTransport().run(TransportRequest(base: base, path: .empty))
            #expect(recorder.violations == [])
            #expect(recorder.failure?.delivery == .notSent)
            let codes: [URLError.Code] = [.secureConnectionFailed, .networkConnectionLost]
            #expect(recorder.urlError.map { codes.contains($0.code) } == true, "\(recorder.events)")
        }

        /// Answers as the path says, and ends the connection, with TLS's own end before it or without.
        private static let endings = """
            import socket, ssl

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("server.pem", "server.key")
            listener = socket.create_server(("127.0.0.1", 0))
            print("ACCEPT 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
            ANSWERS = {
                b"open": b"\\r\\nhalf", b"empty": b"\\r\\n", b"large": b"\\r\\n" + b"x" * 3000000,
                b"length": b"Content-Length: 4\\r\\n\\r\\nhalf",
                b"chunked": b"Transfer-Encoding: chunked\\r\\n\\r\\n4\\r\\nhalf\\r\\n0\\r\\n\\r\\n",
            }
            while True:
                plain, _ = listener.accept()
                line = context.wrap_socket(plain, server_side=True)
                head = b""
                while not head.endswith(b"x" if head.startswith(b"POST") else b"\\r\\n\\r\\n"):
                    head += line.recv(65536)
                _, way, status, answer = head.split(b" ")[1].split(b"/")
                line.sendall(b"HTTP/1.1 " + status + b" X\\r\\n" + ANSWERS[answer])
                try:
                    if way == b"end": plain = line.unwrap()
                except OSError: pass
                line.close()
                plain.close()
            """

        @Test(
            "A body that only the end of the connection ends is whole if TLS has ended too",
            .enabled(if: Python.path != nil, "python3 is not installed"))
        func openEnd() async throws {
            let server = try await TLSServer(program: Self.endings)
            let base = try BaseURL(scheme: .https, host: "127.0.0.1", port: server.port)
            let transport = try CurlTransport(configuration: server.configuration)
            for (path, method, isWhole, count) in [
                ("/end/200/open", "GET", true, 4), ("/cut/200/open", "GET", false, 4),
                ("/end/200/empty", "GET", true, 0), ("/cut/200/empty", "GET", false, 0),
                ("/end/500/large", "GET", true, 3_000_000), ("/cut/500/large", "GET", false, 3_000_000),
                ("/cut/200/length", "GET", true, 4), ("/cut/200/chunked", "GET", true, 4),
                ("/cut/200/empty", "HEAD", true, 0), ("/cut/204/empty", "GET", true, 0),
                ("/cut/304/empty", "GET", true, 0), ("/end/200/open", "POST", true, 4),
                ("/cut/200/open", "POST", false, 4),
            ] {
                let recorder = await transport.run(
                    try TransportRequest(
                        method: method, base: base, path: URLPath(path), body: method == "POST" ? Data("x".utf8) : nil))
                #expect(recorder.violations == [] && recorder.body.count == count, "\(path)")
                #expect((recorder.failure == nil) == isWhole, "\(method) \(path): \(recorder.events.suffix(1))")
                guard !isWhole else { continue }
                #expect(recorder.urlError?.code == .networkConnectionLost && recorder.failure?.delivery == .answered)
                #expect(recorder.urlError?.localizedDescription.contains("before the whole body") == true)
            }
            await server.end()
        }

        @Test("Nothing is left of a server that a test starts")
        func leftovers() async throws {
            var server: TLSServer? = try await TLSServer()
            let folder = try #require(server?.folder)
            server = nil
            #expect(await eventually { !FileManager.default.fileExists(atPath: folder.path) })
        }
    }
#endif
